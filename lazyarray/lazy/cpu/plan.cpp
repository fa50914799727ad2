// Plan: how a fused pass goes over its tiles.
#include "lazy/cpu/plan.h"

#include "lazy/words.h"

namespace lazyarray {

template <int N>
void NestOf<N>::set(const Axes& axes, int from, int to, int nop, npy_intp const (*steps)[kAxes]) {
  n = 0;
  for (int a = from; a < to; ++a) {
    if (a == from && axes.shape[a] == 1 && to > from + 1) continue;
    if (n == 0) head = a == from ? 1 : axes.shape[a];
    bool merge = n > 0;
    for (int k = 0; merge && k < nop; ++k)
      merge = strides[k][n - 1] == steps[k][a] * axes.shape[a];
    if (merge) {
      shape[n - 1] *= axes.shape[a];
      if (n == 1) head *= axes.shape[a];
    } else {
      shape[n++] = axes.shape[a];
    }
    for (int k = 0; k < nop; ++k) strides[k][n - 1] = steps[k][a];
  }
}

template <int N>
void NestOf<N>::append(npy_intp length, int axis, int nop, npy_intp const (*steps)[kAxes]) {
  shape[n] = length;
  for (int k = 0; k < nop; ++k) strides[k][n] = steps[k][axis];
  n++;
}

template <int N>
void NestOf<N>::lengthen(int nop, npy_intp length, npy_intp few) {
  int longest = n - 1;
  for (int i = 0; i < n - 1; ++i)
    if (count(i, length) > count(longest, length)) longest = i;
  if (longest == n - 1 || count(n - 1, length) >= few) return;
  std::swap(shape[longest], shape[n - 1]);
  for (int k = 0; k < nop; ++k) std::swap(strides[k][longest], strides[k][n - 1]);
  if (cut == longest) cut = n - 1;
  else if (cut == n - 1) cut = longest;
}

template struct NestOf<kPassOps>;
template struct NestOf<kPlaces>;

bool Plan::writes_early() const {
  for (const Member& m : members)
    for (int copy : m.copied_by)
      if (copy >= 0) return true;
  return false;
}

std::string Plan::compiled() const {
  size_t n = 0;
  for (const Chain& c : chains)
    if (c.loop->ready()) n += c.end - c.begin;
  return n ? ", " + words::count(n, "instruction") + " compiled" : "";
}

std::string Plan::text() const {
  return "fused pass over " + words::shape(axes.shape, axes.n) + ": " + words::count(static_cast<size_t>(tiles), "tile") +
         " in " + words::count(static_cast<size_t>(tasks), "task") + ", " + std::to_string(scratch) +
         " bytes of scratch" + compiled();
}

}  // namespace lazyarray
