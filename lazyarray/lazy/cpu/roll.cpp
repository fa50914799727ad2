// roll: elements moved along axes, those that leave at one end entering at the other.
#include "lazy/cpu/roll.h"

#include <algorithm>
#include <cstring>

namespace lazyarray {

// A line of fewer elements takes no longer than the call of a loop for it.
static constexpr npy_intp kShortLine = 32;

// Calls line(source, target, elements) for all that lie in one line in both.
template <class Line>
static void each_line(Instr& in, const char* from, char* to, npy_intp begin, npy_intp count, Line line) {
  const npy_intp size = info(in.kernel->dtypes[0]).size;
  const int last = in.ndim - 1;
  const npy_intp *strides = in.strides(0), *by = in.core;
  Axes axes{in.ndim, {}};
  std::copy_n(in.shape(), in.ndim, axes.shape);
  const npy_intp* shape = axes.shape;
  npy_intp index[kAxes];
  axes.index_of(begin, index);
  while (count > 0) {
    const char* row = from;
    for (int a = 0; a < last; ++a) row += (index[a] - by[a] + (index[a] < by[a] ? shape[a] : 0)) * strides[a];
    for (npy_intp left = std::min(count, shape[last] - index[last]); left > 0;) {
      const npy_intp at = index[last] - by[last] + (index[last] < by[last] ? shape[last] : 0);
      const npy_intp n = std::min(left, shape[last] - at);
      line(row + at * strides[last], to, n);
      to += n * size;
      index[last] += n;
      left -= n;
      count -= n;
    }
    axes.next_row(index);
  }
}

void roll(Instr& in, const char* from, char* to, npy_intp begin, npy_intp count) {
  const Kernel& kernel = *in.kernel;
  const int size = info(kernel.dtypes[0]).size;
  const npy_intp step = in.strides(0)[in.ndim - 1];
  if (in.last() >= kShortLine)
    return each_line(in, from, to, begin, count, [&](const char* source, char* target, npy_intp n) {
      char* args[] = {const_cast<char*>(source), target};
      const npy_intp steps[] = {step, size};
      kernel.fn(args, &n, steps, kernel.data);
    });
  of_size(size, [&](auto item) {
    each_line(in, from, to, begin, count, [&](const char* source, char* target, npy_intp n) {
      for (npy_intp i = 0; i < n; ++i) std::memcpy(target + i * sizeof item, source + i * step, sizeof item);
    });
  });
}

bool find_turn(Instr& in, const Axes& axes, Turn& to) {
  npy_intp outer = 1;  // elements of the axes up to this one
  for (int a = 0; a < in.ndim; ++a) {
    to.axis[a] = -1;
    const npy_intp length = in.shape()[a];
    outer *= length;
    if (in.core[a] == 0) continue;
    int begin = axes.level(outer / length);
    if (begin < 0 || axes.level(outer) < 0) return false;
    while (axes.shape[begin] == 1) begin++;  // as the first one may be
    to.axis[a] = begin;
    to.unit[a] = length / axes.shape[begin];
    if (in.core[a] % to.unit[a] != 0) return false;
  }
  return true;
}

}  // namespace lazyarray
