// rows: adds several rows to one at a time, where NumPy's loop adds one after the other.
#pragma once
#include <type_traits>

#include "lazy/loop.h"

namespace lazyarray {

constexpr npy_intp kRowsAtOnce = 8;

// The loop for a dtype, or null.
RowsLoop rows_loop(int dtype);

// Several rows of From at once, added up as Some, which holds the sum of that many, or one after the other as T.
template <int rows, class T, class From, class Some>
[[gnu::always_inline]] inline void add_rows_at_once(T* to, const char* row, npy_intp step, npy_intp n) {
  // Apart from each other: the one that is added to is the result's.
#pragma clang loop vectorize(assume_safety)
#pragma GCC ivdep
  for (npy_intp i = 0; i < n; ++i) {
    Some sum = std::is_same_v<Some, T> ? Some(to[i]) : Some();
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) sum += static_cast<Some>(reinterpret_cast<const From*>(row + r * step)[i]);
    to[i] = std::is_same_v<Some, T> ? T(sum) : T(to[i] + static_cast<T>(sum));
  }
}

// Adds `count` rows of n elements of From, which are `step` bytes apart, to one of n elements of T.
template <class T, class From = T, class Some = T>
[[gnu::always_inline]] inline void add_all_rows(char* to, const char* row, npy_intp step, npy_intp count, npy_intp n) {
  T* const sums = reinterpret_cast<T*>(to);
  npy_intp i = 0;
  for (; count - i >= kRowsAtOnce; i += kRowsAtOnce)
    add_rows_at_once<kRowsAtOnce, T, From, Some>(sums, row + i * step, step, n);
  for (; count - i >= 2; i += 2) add_rows_at_once<2, T, From, Some>(sums, row + i * step, step, n);
  if (i < count) add_rows_at_once<1, T, From, Some>(sums, row + i * step, step, n);
}

}  // namespace lazyarray
