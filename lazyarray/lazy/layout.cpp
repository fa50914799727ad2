// Layout: shape, strides and offset of a view, and the orders and overlaps of several.
#include "lazy/layout.h"

namespace lazyarray {

bool Layout::reshape(int n, const npy_intp* lengths, npy_intp itemsize, npy_intp* steps) const {
  npy_intp old[kMaxDims], by[kMaxDims];  // the axes that step
  int axes = 0;
  for (int i = 0; i < ndim; ++i) {
    if (shape()[i] == 1) continue;
    old[axes] = shape()[i];
    by[axes++] = strides()[i];
  }
  // Runs of axes, old and new, that have as many elements: those of an old run must follow each other.
  int from = 0, to = 0;
  while (from < axes && to < n) {
    npy_intp have = old[from], want = lengths[to];
    int end = from + 1, stop = to + 1;
    while (have != want)
      if (want < have)
        want *= lengths[stop++];
      else
        have *= old[end++];
    for (int k = from + 1; k < end; ++k)
      if (by[k - 1] != old[k] * by[k]) return false;
    steps[stop - 1] = by[end - 1];
    for (int k = stop - 1; k > to; --k) steps[k - 1] = steps[k] * lengths[k];
    from = end;
    to = stop;
  }
  const npy_intp last = to ? steps[to - 1] : itemsize;
  for (; to < n; ++to) steps[to] = last;  // of length one
  return true;
}

// Whether two spans are boxes of one grid that share none of its cells: as a column of a matrix and those right of it do.
//
// The distance of an address from `origin` is written as a number whose digits count the steps of both, the largest
// first. Where all that the smaller steps reach is less than a step, each address is written so in one way, and the
// digits of a span's elements are all those between two, at each place. Two spans with a place that has none in common
// share no byte.
static bool lie_apart(const Span& a, const Span& b, npy_intp origin) {
  constexpr int kMost = 12;
  npy_intp steps[kMost];
  int n = 0;
  for (const Span* s : {&a, &b})
    for (int i = 0; i < s->ndim; ++i) {
      const npy_intp step = std::abs(s->strides[i]);
      if (s->shape[i] == 1 || !step) continue;
      int at = 0;
      while (at < n && steps[at] > step) ++at;
      if (at < n && steps[at] == step) continue;
      if (n == kMost) return false;
      for (int k = n++; k > at; --k) steps[k] = steps[k - 1];
      steps[at] = step;
    }
  const Span* const spans[] = {&a, &b};
  npy_intp low[2][kMost], high[2][kMost], rest[2], reached[2];
  for (int k = 0; k < 2; ++k) {
    npy_intp last;
    spans[k]->extent(rest[k], last);
    rest[k] -= origin;
    if (rest[k] < 0) return false;  // in memory of others, of which each span may be a chunk of its own
    for (int j = 0; j < n; ++j) {
      low[k][j] = high[k][j] = rest[k] / steps[j];
      rest[k] %= steps[j];
      for (int i = 0; i < spans[k]->ndim; ++i)
        if (std::abs(spans[k]->strides[i]) == steps[j]) high[k][j] += spans[k]->shape[i] - 1;
    }
    reached[k] = rest[k] + spans[k]->itemsize;
  }
  bool apart = reached[0] <= rest[1] || reached[1] <= rest[0];
  for (int j = n - 1; j >= 0; --j) {
    if (std::max(reached[0], reached[1]) > steps[j]) return false;
    apart |= high[0][j] < low[1][j] || high[1][j] < low[0][j];
    for (int k = 0; k < 2; ++k) reached[k] += high[k][j] * steps[j];
  }
  return apart;
}

bool may_overlap(const Span& a, const Span& b) {
  npy_intp alow, ahigh, blow, bhigh;
  a.extent(alow, ahigh);
  b.extent(blow, bhigh);
  if (alow >= bhigh || blow >= ahigh) return false;
  // Every address of `a` is alow plus a multiple of g; likewise `b`.
  npy_intp g = 0;
  auto gcd = [](npy_intp x, npy_intp y) {
    while (y) {
      const npy_intp t = x % y;
      x = y;
      y = t;
    }
    return x;
  };
  for (const Span* s : {&a, &b})
    for (int i = 0; i < s->ndim; ++i)
      if (s->shape[i] > 1) g = gcd(g, std::abs(s->strides[i]));
  if (g == 0) return true;
  const npy_intp d = ((blow - alow) % g + g) % g;  // where b's elements start within a's period
  if (d >= a.itemsize && d + b.itemsize <= g) return false;
  // The chunk often begins where the grid does.
  return !lie_apart(a, b, 0) && !lie_apart(a, b, std::min(alow, blow));
}

bool nests(const Span& a) {
  int order[kMaxDims], n = 0;  // the axes that step, by the size of their steps
  for (int i = 0; i < a.ndim; ++i) {
    if (a.shape[i] == 0) return true;
    if (a.shape[i] == 1 || a.strides[i] == 0) continue;
    int at = n++;
    for (; at > 0 && std::abs(a.strides[order[at - 1]]) > std::abs(a.strides[i]); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  npy_intp reached = a.itemsize;
  for (int k = 0; k < n; ++k) {
    const npy_intp step = std::abs(a.strides[order[k]]);
    if (step < reached) return false;
    reached += step * (a.shape[order[k]] - 1);
  }
  return true;
}

void k_order(int ndim, int nop, npy_intp const* const* strides, int* order) {
  for (int i = 0; i < ndim; ++i) order[i] = ndim - 1 - i;
  for (int i = 1; i < ndim; ++i) {
    const int axis = order[i];
    int place = i;
    for (int j = i - 1; j >= 0; --j) {
      bool ambiguous = true, swap = false;
      for (int k = 0; k < nop; ++k) {
        const npy_intp s0 = strides[k][axis], s1 = strides[k][order[j]];
        if (s0 == 0 || s1 == 0) continue;
        if (std::abs(s1) <= std::abs(s0)) swap = false;
        else if (ambiguous) swap = true;
        ambiguous = false;
      }
      if (ambiguous) continue;
      if (!swap) break;
      place = j;
    }
    for (int j = i; j > place; --j) order[j] = order[j - 1];
    order[place] = axis;
  }
}

}  // namespace lazyarray
