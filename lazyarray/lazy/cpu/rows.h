// rows: adds several rows to one at a time, where NumPy's loop adds one after the other.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

constexpr npy_intp kRowsAtOnce = 8;

// The loop for a dtype, or null.
RowsLoop rows_loop(int dtype);

}  // namespace lazyarray
