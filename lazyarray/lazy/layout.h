// Layout: shape, strides and offset of a view, and the orders and overlaps of several.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "lazy/numpy.h"

namespace lazyarray {

constexpr int kMaxDims = 64;  // NumPy's
constexpr int kMaxOperands = 8;

// Shape and strides (bytes) of one view; most arrays have few dimensions and need no heap.
class Layout {
 public:
  int ndim = 0;
  npy_intp offset = 0;  // bytes from the chunk's start to element [0, ..., 0]

  Layout() = default;
  explicit Layout(int n) { resize(n); }
  Layout(const Layout& o) { *this = o; }
  Layout(Layout&& o) noexcept { *this = static_cast<Layout&&>(o); }
  ~Layout() { std::free(heap_); }
  Layout& operator=(const Layout& o) {
    if (this == &o) return *this;
    resize(o.ndim);
    offset = o.offset;
    std::memcpy(dims(), o.dims(), 2 * ndim * sizeof(npy_intp));
    return *this;
  }
  Layout& operator=(Layout&& o) noexcept {
    if (this == &o) return *this;
    std::free(heap_);
    std::memcpy(static_cast<void*>(this), &o, sizeof(Layout));
    o.heap_ = nullptr;
    o.ndim = 0;
    return *this;
  }
  void resize(int n) {
    if (n > kInline && n > ndim) {
      auto* more = static_cast<npy_intp*>(std::malloc(2 * n * sizeof(npy_intp)));
      if (!more) throw std::bad_alloc();
      std::free(heap_);
      heap_ = more;
    } else if (n <= kInline) {
      std::free(heap_);
      heap_ = nullptr;
    }
    ndim = n;
  }
  npy_intp* dims() { return heap_ ? heap_ : inline_; }
  const npy_intp* dims() const { return heap_ ? heap_ : inline_; }
  npy_intp* shape() { return dims(); }
  const npy_intp* shape() const { return dims(); }
  npy_intp* strides() { return dims() + ndim; }
  const npy_intp* strides() const { return dims() + ndim; }

  npy_intp size() const {
    npy_intp n = 1;
    for (int i = 0; i < ndim; ++i) n *= shape()[i];
    return n;
  }
  bool same_shape(const Layout& o) const {
    return ndim == o.ndim && std::equal(shape(), shape() + ndim, o.shape());
  }
  bool same_view(const Layout& o) const {
    return same_shape(o) && offset == o.offset && std::equal(strides(), strides() + ndim, o.strides());
  }
  void set_c_order(npy_intp itemsize) {
    npy_intp step = itemsize;
    for (int i = ndim - 1; i >= 0; --i) {
      strides()[i] = step;
      step *= std::max<npy_intp>(shape()[i], 1);
    }
  }
  bool c_contiguous(npy_intp itemsize) const { return contiguous(itemsize, ndim - 1, -1, -1); }
  bool f_contiguous(npy_intp itemsize) const { return contiguous(itemsize, 0, ndim, 1); }
  // The steps of a view of the elements, of which there is one at least, with n axes of these lengths
  // in C order; whether there is such a view. (NumPy's, axes of length one included.)
  bool reshape(int n, const npy_intp* lengths, npy_intp itemsize, npy_intp* steps) const;
  // The byte range [low, high) that it touches, from the chunk's start.
  void extent(npy_intp itemsize, npy_intp& low, npy_intp& high) const;
  // Where the lengths and steps would be of a layout that has none: see View.
  char* inline_bytes() { return reinterpret_cast<char*>(inline_); }

 private:
  static constexpr int kInline = 4;
  // ... with the axes from `first` on the fastest ones.
  bool contiguous(npy_intp step, int first, int end, int way) const {
    for (int i = first; i != end; i += way) {
      if (shape()[i] == 0) return true;
      if (shape()[i] == 1) continue;
      if (strides()[i] != step) return size() == 0;  // an array of nothing is in every order
      step *= shape()[i];
    }
    return true;
  }
  npy_intp* heap_ = nullptr;
  npy_intp inline_[2 * kInline];

 public:
  static constexpr size_t kInlineBytes = sizeof inline_;
  static size_t inline_at() { return offsetof(Layout, inline_); }
};

// Where the elements of an operand lie in its chunk: at the offset plus, for each axis, an index
// times a stride (bytes). Axes slowest first; what it points to is somebody else's.
struct Span {
  int ndim;
  const npy_intp* shape;
  const npy_intp* strides;
  npy_intp offset, itemsize;

  // The byte range [low, high) that it touches; empty if it has no elements.
  void extent(npy_intp& low, npy_intp& high) const {
    low = offset;
    high = offset + itemsize;
    for (int i = 0; i < ndim; ++i) {
      if (shape[i] == 0) {
        high = low;
        return;
      }
      const npy_intp span = (shape[i] - 1) * strides[i];
      (span < 0 ? low : high) += span;
    }
  }
  npy_intp size() const {
    npy_intp n = 1;
    for (int i = 0; i < ndim; ++i) n *= shape[i];
    return n;
  }
};

// Whether two spans of one chunk may share a byte: by their ranges, by the period of steps that interleave (x[::2] and
// x[1::2]), and as boxes of one grid (x[1:, 0] and x[1:, 1:]).
bool may_overlap(const Span& a, const Span& b);

// Whether each axis steps beyond all that those with smaller steps reach, so that no two indices along
// those that step name the same byte. The axes of windows (as_strided, sliding_window_view) don't.
bool nests(const Span& a);

inline void Layout::extent(npy_intp itemsize, npy_intp& low, npy_intp& high) const {
  Span{ndim, shape(), strides(), offset, itemsize}.extent(low, high);
}

inline bool nests(const Layout& a, npy_intp itemsize) {
  return nests(Span{a.ndim, a.shape(), a.strides(), a.offset, itemsize});
}

// Whether two different indices of the view may name the same byte (a broadcast axis).
inline bool self_overlaps(const Layout& a) {
  bool found = false;
  for (int i = 0; i < a.ndim; ++i) {
    if (a.shape()[i] == 0) return false;
    found |= a.shape()[i] > 1 && a.strides()[i] == 0;
  }
  return found;
}

// The order in which NumPy's iterator with order 'K' nests the axes of several operands of one
// shape, fastest first: npyiter_find_best_axis_ordering in nditer_constr.c, whose rules decide
// the memory layout of outputs. `strides` are per operand, broadcast axes zero.
void k_order(int ndim, int nop, npy_intp const* const* strides, int* order);

}  // namespace lazyarray
