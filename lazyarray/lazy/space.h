// Axes: the iteration space that fused instructions share, and whether two operands walk it alike.
#pragma once
#include <algorithm>

#include "lazy/instr.h"

namespace lazyarray {

constexpr int kAxes = 8;     // of a fused pass, one of which is the planner's to add
constexpr int kPassOps = 4;  // operands of an instruction in a pass

// Lengths of the axes, slowest first, none of them one. Two instructions whose axes are different
// cuts of one line of elements share their common refinement: (6000) and (60, 100) share (60, 100).
struct Axes {
  int n = 0;
  npy_intp shape[kAxes];

  npy_intp size() const;
  // How many leading axes hold `count` elements; -1 if no cut lies there.
  int level(npy_intp count) const;
  // The steps of elements that lie one after the other.
  void lie_in_a_row(npy_intp item, npy_intp* steps) const;
  // Where the element `at`, in C order, lies.
  void index_of(npy_intp at, npy_intp* index) const;
  // The beginning of the next row, or of a later one before the last axis but one ends.
  void next_row(npy_intp* index, npy_intp rows = 1) const;
};

// The common refinement of the first `level` axes of `a` and of another cut of as many elements.
// False (and `a` as it was) if the cuts don't nest or there are too many.
bool refine(Axes& a, int level, int n, const npy_intp* shape);

// The strides of an operand over the first `level` axes of `a`, a refinement of its own.
void spread(const Axes& a, int level, int n, const npy_intp* shape, const npy_intp* strides,
            npy_intp* out);

inline Span span_of(Instr& in, int op) {
  return {in.ndim, in.shape(), in.strides(op), in.ops[op].offset, info(in.kernel->dtypes[op]).size};
}

// Whether two operands on one chunk have each element of the shared space at the same address. The
// one of a smaller space (a reduction's result) has each of its elements for a run of the other's.
bool same_walk(Span a, Span b);

// Whether two of an operand's elements share memory (windows of as_strided do).
bool meets_twice(Instr& in, int op);

// The bytes of an operand's distinct elements: an axis without a step holds one.
int64_t reach(Instr& in, int k);

}  // namespace lazyarray
