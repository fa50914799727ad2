// pick, place and fill: elements chosen by an array of booleans; NumPy has no loops for them.
#pragma once
#include "lazy/instr.h"

namespace lazyarray {

npy_intp count_true(const char* mask, npy_intp n);
// Where they are; there is room for all.
void places_of_true(const char* mask, npy_intp n, npy_intp* to);
Loop pick_of_size(int size);
Loop place_of_size(int size);
Loop fill_of_size(int size);
// Kernel::check of a place: the error of too few or too many values, or null.
Error* misfit(const Instr& in, const Block& b);

}  // namespace lazyarray
