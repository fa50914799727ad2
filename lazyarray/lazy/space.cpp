// Axes: the iteration space that fused instructions share, and whether two operands walk it alike.
#include "lazy/space.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace lazyarray {

npy_intp Axes::size() const {
  npy_intp s = 1;
  for (int i = 0; i < n; ++i) s *= shape[i];
  return s;
}

void Axes::lie_in_a_row(npy_intp item, npy_intp* steps) const {
  for (int a = n - 1; a >= 0; item *= shape[a--]) steps[a] = item;
}

void Axes::index_of(npy_intp at, npy_intp* index) const {
  for (int a = n - 1; a >= 0; at /= shape[a--]) index[a] = at % shape[a];
}

void Axes::next_row(npy_intp* index, npy_intp rows) const {
  index[n - 1] = 0;
  if (n > 1) index[n - 2] += rows;
  for (int a = n - 2; a > 0 && index[a] == shape[a]; --a) {
    index[a] = 0;
    ++index[a - 1];
  }
}

int Axes::level(npy_intp count) const {
  npy_intp s = 1;
  for (int i = 0; i <= n; ++i) {
    if (s == count) return i;
    if (i < n) s *= shape[i];
  }
  return -1;
}

bool refine(Axes& a, int level, int n, const npy_intp* shape) {
  npy_intp out[kAxes];  // fastest first
  int count = 0, i = level - 1, j = n - 1;
  npy_intp x = 1, y = 1;
  for (;;) {
    while (x == 1 && i >= 0) x = a.shape[i--];
    while (y == 1 && j >= 0) y = shape[j--];
    if (x == 1 && y == 1) break;
    const npy_intp m = std::min(x, y);
    if (m == 1 || x % m || y % m || count == kAxes - 1) return false;
    out[count++] = m;
    x /= m;
    y /= m;
  }
  if (count + a.n - level > kAxes - 1) return false;
  std::copy_backward(a.shape + level, a.shape + a.n, a.shape + count + a.n - level);
  std::reverse_copy(out, out + count, a.shape);
  a.n += count - level;
  return true;
}

void spread(const Axes& a, int level, int n, const npy_intp* shape, const npy_intp* strides,
            npy_intp* out) {
  int j = n - 1;
  npy_intp left = 1, step = 0;
  for (int i = level - 1; i >= 0; --i) {
    while (left == 1 && j >= 0) {
      left = shape[j];
      step = strides[j];
      --j;
    }
    out[i] = step;
    step *= a.shape[i];
    left /= a.shape[i];
  }
}

bool same_walk(Span a, Span b) {
  if (a.offset != b.offset || a.itemsize != b.itemsize) return false;
  npy_intp na = a.size(), nb = b.size();
  if (na > nb) {
    std::swap(a, b);
    std::swap(na, nb);
  }
  if (na == 0 || nb % na) return false;
  npy_intp run = nb / na;  // of `b` for one element of `a`: there it must not step
  int i = a.ndim - 1, j = b.ndim - 1;
  npy_intp x = 1, y = 1, sx = 0, sy = 0;
  for (;;) {
    while (y == 1 && j >= 0) {
      y = b.shape[j];
      sy = b.strides[j];
      --j;
    }
    if (run > 1) {
      const npy_intp m = std::min(run, y);
      if (m == 1 || run % m || y % m || sy != 0) return false;
      run /= m;
      y /= m;
      continue;
    }
    while (x == 1 && i >= 0) {
      x = a.shape[i];
      sx = a.strides[i];
      --i;
    }
    if (x == 1 || y == 1) return x == y;
    const npy_intp m = std::min(x, y);
    if (x % m || y % m || sx != sy) return false;
    x /= m;
    y /= m;
    sx *= m;
    sy *= m;
  }
}

bool meets_twice(Instr& in, int op) {
  const Span span = span_of(in, op);
  if (span.size() == 0) return false;
  if (nests(span)) {
    for (int a = 0; a < in.ndim; ++a)
      if (span.shape[a] > 1 && span.strides[a] == 0) return true;
    return false;
  }
  const npy_intp item = info(in.kernel->dtypes[op]).size;
  std::vector<npy_intp> places{0};
  for (int a = 0; a < in.ndim; ++a) {
    const size_t before = places.size();
    for (npy_intp i = 1; i < in.shape()[a]; ++i)
      for (size_t p = 0; p < before; ++p) places.push_back(places[p] + i * in.strides(op)[a]);
  }
  std::sort(places.begin(), places.end());
  for (size_t p = 1; p < places.size(); ++p)
    if (places[p] - places[p - 1] < item) return true;
  return false;
}

int64_t reach(Instr& in, int k) {
  int64_t bytes = info(in.kernel->dtypes[k]).size;
  for (int a = 0; a < in.ndim; ++a)
    if (in.strides(k)[a]) bytes *= in.shape()[a];
  return bytes;
}

}  // namespace lazyarray
