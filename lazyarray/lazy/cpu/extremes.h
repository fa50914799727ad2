// extremes: the largest or smallest number of a long line of floats, of which threads go through parts.
#pragma once
#include "lazy/runtime.h"

namespace lazyarray {

// Reduces a line by a kernel that gives one of its elements; false if the order of elements would be seen (which zero
// it is depends on it, and which NaN), there is no memory, or it is not worth it: then nothing of it counts.
bool extreme_in_parts(const Instr& in, const Block& b, const Crew& crew);

// Whether the largest or smallest number is equal to no element but those with its bits: neither a zero nor a NaN. Of
// doubles and floats; others are never known to be.
bool is_unique(const char* x, int dtype);

}  // namespace lazyarray
