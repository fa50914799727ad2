// Transposed copies. NumPy's copy loop reads or writes one element of each cache line at a time; here blocks of elements
// are turned in registers, so that lines are used whole: 80 x 80 to 500 x 500 doubles take 0.3 to 0.5 of its time,
// 512 x 512, whose columns share their places in the cache, 0.2.
#pragma once
#include "lazy/numpy.h"

namespace lazyarray {

// From fewer rows on either side there is nothing to turn.
constexpr npy_intp kTurned = 4;

// Copies rows x columns elements of `size` bytes. Those of a row lie together at `to`, where rows are `to_step` bytes
// apart; those of a column at `from`, where columns are `from_step` apart. False, and nothing is done, for sizes that
// have no loop, and for few rows or columns. The two don't overlap.
bool turn(int size, char* to, npy_intp to_step, const char* from, npy_intp from_step, npy_intp rows,
          npy_intp columns);

}  // namespace lazyarray
