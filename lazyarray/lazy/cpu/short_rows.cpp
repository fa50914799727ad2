// Reductions of many short rows, or of long ones of few columns, by few calls of a loop.
#include "lazy/cpu/short_rows.h"

#include <cmath>

#include "lazy/cpu/extremes.h"
#include "lazy/cpu/run.h"

namespace lazyarray {

namespace {

// More places than these, and a vector loop along the row is as fast. Fewer rows, and the calls are as many.
constexpr npy_intp kFewPlaces = 12, kManyRows = 8;
constexpr npy_intp kFewColumns = 7;
constexpr npy_intp kRowsInCache = 256;  // at a time: all places of them stay in the first-level cache

// Whether one of the elements is -0.0 or a NaN.
template <class T>
bool is_special(const char* from, npy_intp step, npy_intp n) {
  for (npy_intp i = 0; i < n; ++i, from += step) {
    T x;
    std::memcpy(&x, from, sizeof x);
    if ((x == 0 && std::signbit(x)) || x != x) return true;
  }
  return false;
}
bool is_special(int dtype, const char* from, npy_intp step, npy_intp n) {
  return dtype == f8 ? is_special<double>(from, step, n) : is_special<float>(from, step, n);
}
// Whether the order in which elements came may be seen in the largest or the smallest of them.
bool shows_order(const Kernel& kernel, const char* result, const char* from, npy_intp step, npy_intp n) {
  const int dtype = kernel.dtypes[1];
  return kernel.of_plus_zeros && !is_unique(result, dtype) && is_special(dtype, from, step, n);
}

}  // namespace

bool goes_side_by_side(const Kernel& kernel, npy_intp run, npy_intp rows) {
  return kernel.any_order && run <= kFewPlaces && rows >= kManyRows;
}

void reduce_short_rows(const Kernel& kernel, char* from, npy_intp si, npy_intp step, npy_intp run, char* to, npy_intp so,
                       npy_intp rows) {
  const npy_intp steps[] = {so, si, so};
  for (npy_intp n; rows > 0; rows -= n, from += n * si, to += n * so) {
    n = std::min(rows, kRowsInCache);
    start_results(kernel, from, si, to, so, n);
    for (npy_intp place = kernel.starts_with_first; place < run; ++place) {
      char* args[] = {to, from + place * step, to};
      kernel.fn(args, &n, steps, kernel.data);
    }
    if (!kernel.of_plus_zeros) continue;
    for (npy_intp r = 0; r < n; ++r) {
      char *const row = from + r * si, *const result = to + r * so;
      if (!shows_order(kernel, result, row, step, run)) continue;
      const npy_intp along[] = {0, step, 0}, rest = run - 1;
      char* args[] = {result, row + step, result};
      start_result(kernel, row, result);
      if (rest) kernel.fn(args, &rest, along, kernel.data);
    }
  }
}

bool goes_by_columns(const Kernel& kernel, npy_intp columns, npy_intp rows) {
  return kernel.any_order && columns <= kFewColumns && rows >= kManyRows;
}

void reduce_few_columns(const Kernel& kernel, char* from, npy_intp step, npy_intp rows, char* to, npy_intp si, npy_intp so,
                        npy_intp columns, bool first) {
  if (first) start_results(kernel, from, si, to, so, columns);
  if (first && kernel.starts_with_first) {
    from += step;
    --rows;
  }
  const npy_intp size = info(kernel.dtypes[1]).size, along[] = {0, step, 0};
  alignas(16) char before[kFewColumns][32];
  bool again = false;
  for (npy_intp c = 0; c < columns; ++c) {
    char *const result = to + c * so, *const column = from + c * si;
    std::memcpy(before[c], result, size);
    char* args[] = {result, column, result};
    kernel.fn(args, &rows, along, kernel.data);
    again |= shows_order(kernel, result, column, step, rows) || shows_order(kernel, result, before[c], 0, 1);
  }
  if (!again) return;
  for (npy_intp c = 0; c < columns; ++c) std::memcpy(to + c * so, before[c], size);
  const npy_intp across[] = {so, si, so};
  for (npy_intp r = 0; r < rows; ++r, from += step) {
    char* args[] = {to, from, to};
    kernel.fn(args, &columns, across, kernel.data);
  }
}

}  // namespace lazyarray
