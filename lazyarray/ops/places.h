// Elements of memory by integers, and by steps.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "lazy/cpu/gather.h"
#include "lazy/cpu/turn.h"
#include "lazy/loop.h"

namespace lazyarray {

// Which elements of an array: an index along each axis, which is one number or a vector's.
struct Places {
  static constexpr int kListed = 64;  // integers in lists
  const char* indices[kMaxDims];  // null: one number, in `at`
  npy_intp steps[kMaxDims];       // from index to index, in bytes
  npy_intp at[kMaxDims];
  npy_intp n;
  npy_intp listed[kListed];

  bool within(int axis, npy_intp count, npy_intp length) const {
    const char* const k = indices[axis];
    if (!k) return in_bounds(reinterpret_cast<const char*>(&at[axis]), 1, length);
    if (steps[axis] == sizeof(npy_intp)) return in_bounds(k, count, length);
    return bounded(k, count, length, steps[axis]);
  }

  // How far from the first element those from `first` on lie, in bytes.
  void offsets(const Layout& l, npy_intp first, npy_intp m, npy_intp* to) const {
    npy_intp fixed = 0;
    for (int a = 0; a < l.ndim; ++a)
      if (!indices[a]) fixed += upward(at[a], l.shape()[a]) * l.strides()[a];
    std::fill_n(to, m, fixed);
    for (int a = 0; a < l.ndim; ++a) {
      if (!indices[a]) continue;
      const npy_intp length = l.shape()[a], step = l.strides()[a], each = steps[a];
      const char* const k = indices[a] + first * each;
      for (npy_intp i = 0; i < m; ++i) to[i] += upward(index(k + i * each), length) * step;
    }
  }

  static npy_intp index(const char* p) { return *reinterpret_cast<const npy_intp*>(p); }
  static npy_intp upward(npy_intp k, npy_intp length) { return k + ((k >> 63) & length); }
};

// Calls move(first, m, offsets) for all elements, some at a time.
template <class Move>
void by_blocks(const Places& p, const Layout& l, const Move& move) {
  npy_intp offsets[256];
  for (npy_intp i = 0; i < p.n; i += 256) {
    const npy_intp m = std::min<npy_intp>(256, p.n - i);
    p.offsets(l, i, m, offsets);
    move(i, m, offsets);
  }
}

template <class T>
void pick_as(char* out, const char* base, const Places& p, const Layout& l) {
  T* to = reinterpret_cast<T*>(out);
  if (l.ndim == 1 && l.strides()[0] == sizeof(T)) {
    const npy_intp length = l.shape()[0], step = p.steps[0];
    const char* k = p.indices[0];
    for (npy_intp i = 0; i < p.n; ++i, k += step)
      to[i] = reinterpret_cast<const T*>(base)[Places::upward(Places::index(k), length)];
    return;
  }
  by_blocks(p, l, [&](npy_intp first, npy_intp m, const npy_intp* offsets) {
    for (npy_intp i = 0; i < m; ++i) to[first + i] = *reinterpret_cast<const T*>(base + offsets[i]);
  });
}
inline void pick_places(npy_intp size, char* out, const char* base, const Places& p, const Layout& l) {
  of_size(static_cast<int>(size), [&](auto item) { pick_as<decltype(item)>(out, base, p, l); });
}

// In order: of several values for one place the last one stays. `each`: from value to value, 0: one for all.
template <class T>
void store_as(char* base, const char* values, npy_intp each, const Places& p, const Layout& l) {
  if (l.ndim == 1 && l.strides()[0] == sizeof(T)) {
    const npy_intp length = l.shape()[0], step = p.steps[0];
    const char* k = p.indices[0];
    for (npy_intp i = 0; i < p.n; ++i, k += step, values += each)
      reinterpret_cast<T*>(base)[Places::upward(Places::index(k), length)] = *reinterpret_cast<const T*>(values);
    return;
  }
  by_blocks(p, l, [&](npy_intp first, npy_intp m, const npy_intp* offsets) {
    for (npy_intp i = 0; i < m; ++i)
      *reinterpret_cast<T*>(base + offsets[i]) = *reinterpret_cast<const T*>(values + (first + i) * each);
  });
}
inline void store_places(npy_intp size, char* base, const char* values, npy_intp each, const Places& p,
                         const Layout& l) {
  of_size(static_cast<int>(size), [&](auto item) { store_as<decltype(item)>(base, values, each, p, l); });
}

// In order, `op` of each element and its value; what was there before goes to `before`.
template <class T, class Op>
void combine_places(char* base, const char* values, npy_intp each, const Places& p, const Layout& l, T* before, Op op) {
  const auto put = [&](T* to, npy_intp i) {
    before[i] = *to;
    *to = op(before[i], *reinterpret_cast<const T*>(values + i * each));
  };
  if (l.ndim == 1 && l.strides()[0] == sizeof(T)) {
    const npy_intp length = l.shape()[0], step = p.steps[0];
    const char* k = p.indices[0];
    for (npy_intp i = 0; i < p.n; ++i, k += step)
      put(reinterpret_cast<T*>(base) + Places::upward(Places::index(k), length), i);
    return;
  }
  by_blocks(p, l, [&](npy_intp first, npy_intp m, const npy_intp* offsets) {
    for (npy_intp i = 0; i < m; ++i) put(reinterpret_cast<T*>(base + offsets[i]), first + i);
  });
}
template <class T>
void add_places(char* base, const char* values, npy_intp each, const Places& p, const Layout& l, bool less, T* before) {
  if (less) return combine_places(base, values, each, p, l, before, [](T a, T b) { return a - b; });
  combine_places(base, values, each, p, l, before, [](T a, T b) { return a + b; });
}
// The last ones first: of those that a place had one after another the first one stays.
template <class T>
void restore_places(char* base, const Places& p, const Layout& l, const T* before) {
  npy_intp at;
  for (npy_intp i = p.n; i-- > 0;) {
    p.offsets(l, i, 1, &at);
    *reinterpret_cast<T*>(base + at) = before[i];
  }
}

// The place `within` its row of `length` of each of these, which are neither negative nor more than 2^51; the row's number
// stays of the place itself. (A product of doubles is off by one at most, and takes less time than a quotient.)
inline void split_any(int64_t* places, npy_intp n, int64_t length, int64_t* within) {
  const double part = 1.0 / static_cast<double>(length);
  for (npy_intp i = 0; i < n; ++i) {
    const int64_t row = static_cast<int64_t>(static_cast<double>(places[i]) * part), rest = places[i] - row * length;
    const int64_t off = (rest >= length) - (rest < 0);
    places[i] = row + off;
    within[i] = rest - off * length;
  }
}

template <class T>
void copy_of(char* to, const npy_intp* to_steps, const char* from, const npy_intp* steps,
                    const npy_intp* shape, int ndim) {
  if (!ndim) {
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
    return;
  }
  const npy_intp n = shape[0], ours = to_steps[0], theirs = steps[0];
  if (ndim == 2 && turned_row(sizeof(T), steps, to_steps) == 1 && turns(sizeof(T), n, shape[1]) &&
      lies_apart(sizeof(T), to_steps, shape))
    return turn(sizeof(T), to, ours, from, steps[1], n, shape[1]);
  if (ndim == 1 && ours == sizeof(T) && theirs == ours) {
    std::memcpy(to, from, n * sizeof(T));
  } else if (ndim == 1 && ours == sizeof(T) && !theirs) {
    std::fill_n(reinterpret_cast<T*>(to), n, *reinterpret_cast<const T*>(from));
  } else if (ndim == 1) {
    for (npy_intp i = 0; i < n; ++i)
      *reinterpret_cast<T*>(to + i * ours) = *reinterpret_cast<const T*>(from + i * theirs);
  } else {
    for (npy_intp i = 0; i < n; ++i)
      copy_of<T>(to + i * ours, to_steps + 1, from + i * theirs, steps + 1, shape + 1, ndim - 1);
  }
}
// How many elements aren't zero. Counters as wide as the elements add up what one vector holds; they are emptied before
// they overflow.
template <class T>
npy_intp count_set(const T* p, npy_intp n) {
  using Count = std::conditional_t<sizeof(T) == 1, uint8_t,
                                   std::conditional_t<sizeof(T) == 2, uint16_t,
                                                      std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  constexpr npy_intp lanes = 64 / sizeof(T), rounds = 255;
  npy_intp count = 0;
  while (n >= lanes) {
    Count each[lanes] = {};
    const npy_intp times = std::min(rounds, n / lanes);
    for (npy_intp i = 0; i < times; ++i, p += lanes)
      for (npy_intp k = 0; k < lanes; ++k) each[k] = static_cast<Count>(each[k] + (p[k] != T{}));
    for (Count c : each) count += static_cast<npy_intp>(c);
    n -= times * lanes;
  }
  for (npy_intp i = 0; i < n; ++i) count += p[i] != T{};
  return count;
}
// Elements of so many bytes, as they are: along the target's axes by their steps, those that skip nothing joined.
inline void copy_steps(int size, char* to, const npy_intp* to_steps, const char* from, const npy_intp* steps,
                       const npy_intp* shape, int ndim) {
  npy_intp n[kMaxDims], ours[kMaxDims], theirs[kMaxDims];
  int axes[kMaxDims], count = 0, last = -1;
  for (int i = 0; i < ndim; ++i) {
    if (!shape[i]) return;  // however many rows of nothing there are
    if (shape[i] == 1) continue;
    int j = count++;
    for (; j && std::abs(to_steps[axes[j - 1]]) < std::abs(to_steps[i]); --j) axes[j] = axes[j - 1];
    axes[j] = i;
  }
  for (int i = 0; i < count; ++i) {
    const int a = axes[i];
    npy_intp mine = to_steps[a], its = steps[a];
    if (mine < 0) {  // upwards, as NumPy
      to += (shape[a] - 1) * mine;
      from += (shape[a] - 1) * its;
      mine = -mine;
      its = -its;
    }
    if (last < 0 || ours[last] != mine * shape[a] || theirs[last] != its * shape[a]) n[++last] = 1;
    n[last] *= shape[a];
    ours[last] = mine;
    theirs[last] = its;
  }
  if (last == 0 && ours[0] == size && theirs[0] == size) {
    std::memcpy(to, from, n[0] * size);
    return;
  }
  of_size(size, [&](auto item) { copy_of<decltype(item)>(to, ours, from, theirs, n, last + 1); });
}

}  // namespace lazyarray
