// bins: how many elements, or what weights, lie in bins of one width, or between any edges:
// numpy/lib/_histograms_impl.py's formulas.
#pragma once
#include <vector>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lazy/numpy.h"

namespace lazyarray {

// The bin of an element in [first, last]; -1 for any other. As NumPy, by its share of the range first, which may be
// off by one.
template <class E>
inline npy_intp bin_of(E v, const E* edges, npy_intp bins, E width) {
  if (!(v >= edges[0] && v <= edges[bins])) return -1;
  npy_intp at = static_cast<npy_intp>((v - edges[0]) / width * static_cast<E>(bins));
  if (at == bins) at--;
  if (v < edges[at]) at--;
  if (at != bins - 1 && v >= edges[at + 1]) at++;
  return at;
}

// Whether the formulas hold: with other edges NumPy's results are its own affair.
template <class E>
inline bool have_width(const E* edges, npy_intp bins) {
  const E width = edges[bins] - edges[0];
  for (npy_intp i = 0; i < bins; ++i)
    if (!(edges[i] < edges[i + 1])) return false;
  return std::isfinite(width) && std::isfinite(1 / width) && bins < (npy_intp(1) << (sizeof(E) == 4 ? 20 : 40));
}

// Elements of T lie together, and are compared as E, which the edges are.
template <class T, class E>
bool count_bins(const char* data, npy_intp n, const char* limits, npy_intp bins, npy_intp* counts) {
  const T* x = reinterpret_cast<const T*>(data);
  const E* edges = reinterpret_cast<const E*>(limits);
  if (!have_width(edges, bins)) return false;
  const E width = edges[bins] - edges[0];
  for (npy_intp i = 0; i < n; ++i) {
    const npy_intp at = bin_of(static_cast<E>(x[i]), edges, bins, width);
    if (at >= 0) counts[at]++;
  }
  return true;
}

// How often each of `range` integers from `low` on is among those given; others, which another thread may have written
// since somebody looked, are left out. Of few, each of four in turn has a count of its own: an equal one before would
// have to be stored first.
inline void count_integers(const int64_t* x, npy_intp n, int64_t low, npy_intp range, npy_intp* counts) {
  constexpr npy_intp kFew = 2048;
  const auto put = [&](npy_intp i, npy_intp* to) {
    const uint64_t at = static_cast<uint64_t>(x[i]) - static_cast<uint64_t>(low);
    if (at < static_cast<uint64_t>(range)) to[at]++;
  };
  npy_intp i = 0;
  if (range <= kFew && n >= 4 * range) {
    std::vector<npy_intp> more(3 * range);
    for (; i + 4 <= n; i += 4) {
      put(i, counts);
      put(i + 1, more.data());
      put(i + 2, more.data() + range);
      put(i + 3, more.data() + 2 * range);
    }
    for (npy_intp k = 0; k < range; ++k) counts[k] += more[k] + more[range + k] + more[2 * range + k];
  }
  for (; i < n; ++i) put(i, counts);
}

// Where the last of `n` numbers in order is that is not above v, or the first if all are. (Without a branch that would
// be guessed wrong half of the time.)
template <class E>
inline npy_intp last_not_above(const E* numbers, npy_intp n, E v) {
  const E* low = numbers;
  for (npy_intp left = n; left > 1;) {
    const npy_intp half = left / 2;
    low = low[half] <= v ? low + half : low;
    left -= half;
  }
  return low - numbers;
}

// The same between any edges in order, of which some may be equal; NumPy sorts the elements, and looks up the edges.
template <class T, class E>
bool count_between(const char* data, npy_intp n, const char* limits, npy_intp bins, npy_intp* counts) {
  const T* x = reinterpret_cast<const T*>(data);
  const E* edges = reinterpret_cast<const E*>(limits);
  for (npy_intp i = 0; i < bins; ++i)
    if (!(edges[i] <= edges[i + 1])) return false;
  for (npy_intp i = 0; i < n; ++i) {
    const E v = static_cast<E>(x[i]);
    if (!(v >= edges[0] && v <= edges[bins])) continue;
    counts[std::min<npy_intp>(last_not_above(edges, bins + 1, v), bins - 1)]++;
  }
  return true;
}

// NumPy adds up the weights of each 65,536 elements, and then these sums. `block`: room for as many.
template <class T, class E>
bool weigh_bins(const char* data, npy_intp n, const char* limits, npy_intp bins, const double* weights, double* sums,
                double* block) {
  constexpr npy_intp kBlock = 65536;
  const T* x = reinterpret_cast<const T*>(data);
  const E* edges = reinterpret_cast<const E*>(limits);
  if (!have_width(edges, bins)) return false;
  const E width = edges[bins] - edges[0];
  for (npy_intp begin = 0; begin < n; begin += kBlock) {
    std::fill(block, block + bins, 0.0);
    for (npy_intp i = begin, end = std::min(n, begin + kBlock); i < end; ++i) {
      const npy_intp at = bin_of(static_cast<E>(x[i]), edges, bins, width);
      if (at >= 0) block[at] += weights[i];
    }
    for (npy_intp b = 0; b < bins; ++b) sums[b] += block[b];
  }
  return true;
}

// The smallest and the largest of at least one number.
inline void least_and_most(const int64_t* x, npy_intp n, int64_t* least, int64_t* most) {
  int64_t low = x[0], high = x[0];
  for (npy_intp i = 1; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  *least = low;
  *most = high;
}

// As numpy.bincount adds up; what is no place of `length`, which another thread may have written, is left out.
inline void weigh_integers(const int64_t* x, npy_intp n, const double* weights, npy_intp length, double* sums) {
  for (npy_intp i = 0; i < n; ++i)
    if (static_cast<uint64_t>(x[i]) < static_cast<uint64_t>(length)) sums[x[i]] += weights[i];
}

}  // namespace lazyarray
