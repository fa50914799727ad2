// Transposed copies. NumPy's copy loop reads or writes one element of each cache line at a time; here blocks of elements
// are turned in registers, so that lines are used whole: 80 x 80 to 500 x 500 doubles take 0.3 to 0.5 of its time,
// 512 x 512, whose columns share their places in the cache, 0.2.
#pragma once
#include <algorithm>
#include <cstdlib>

#include "lazy/numpy.h"

namespace lazyarray {

// Which of two axes, by the steps of source and target: along it the target's elements lie together, along the other one
// the source's. -1 if the copy isn't transposed.
inline int turned_row(npy_intp item, const npy_intp* from, const npy_intp* to) {
  const int row = to[1] == item;
  return to[row] == item && from[1 - row] == item && from[row] != item ? row : -1;
}

// Whether there is a loop for elements of the size, and enough of them to turn.
inline bool turns(int size, npy_intp rows, npy_intp columns) {
  return (size == 4 || size == 8 || size == 16) && rows >= 4 && columns >= 4;
}

// Whether a target's elements along two axes are apart. Windows of as_strided are not: of what is written to one place the
// last stays, so the order counts.
inline bool lies_apart(int size, const npy_intp* to, const npy_intp* shape) {
  const npy_intp across = std::abs(to[0]), along = std::abs(to[1]);
  return (across >= along * shape[1] || along >= across * shape[0]) && std::min(across, along) >= size;
}

// Copies rows x columns elements, of which that holds. Those of a row lie together at `to`, where rows are `to_step`
// bytes apart; those of a column at `from`, where columns are `from_step` apart. The two don't overlap.
void turn(int size, char* to, npy_intp to_step, const char* from, npy_intp from_step, npy_intp rows, npy_intp columns);

}  // namespace lazyarray
