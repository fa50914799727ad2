// Plan: how a fused pass goes over its tiles.
#include "lazy/cpu/plan.h"

#include "lazy/words.h"

namespace lazyarray {

template <int N>
void NestOf<N>::set(const Axes& axes, int from, int to, int nop, npy_intp const (*steps)[kAxes], uint32_t apart) {
  n = 0;
  for (int a = from; a < to; ++a) {
    if (a == from && axes.shape[a] == 1 && to > from + 1) continue;
    if (n == 0) head = a == from ? 1 : axes.shape[a];
    bool merge = n > 0 && !(apart >> a & 1);
    for (int k = 0; merge && k < nop; ++k)
      merge = strides[k][n - 1] == steps[k][a] * axes.shape[a];
    if (merge) {
      shape[n - 1] *= axes.shape[a];
      each[n - 1] *= axes.shape[a];
      if (n == 1) head *= axes.shape[a];
    } else {
      axis[n] = a;
      each[n] = 1;
      shape[n++] = axes.shape[a];
    }
    for (int k = 0; k < nop; ++k) strides[k][n - 1] = steps[k][a];
  }
}

template <int N>
void NestOf<N>::set_row(int axis, int nop, npy_intp const (*steps)[kAxes]) {
  n = 0;
  const npy_intp still[N][kAxes] = {};
  append(1, 0, nop, still);
  append(0, axis, nop, steps);
  cut = 1;
  head = 1;
}

template <int N>
void NestOf<N>::append(npy_intp length, int axis, int nop, npy_intp const (*steps)[kAxes]) {
  shape[n] = length;
  this->axis[n] = axis;
  each[n] = 1;
  for (int k = 0; k < nop; ++k) strides[k][n] = steps[k][axis];
  n++;
}

template <int N>
void NestOf<N>::swap(int a, int b, int nop) {
  std::swap(shape[a], shape[b]);
  std::swap(axis[a], axis[b]);
  std::swap(each[a], each[b]);
  for (int k = 0; k < nop; ++k) std::swap(strides[k][a], strides[k][b]);
  if (cut == a) cut = b;
  else if (cut == b) cut = a;
}

template <int N>
void NestOf<N>::still_last(int k, int nop) {
  for (int end = n - 1; end > 1; --end)
    for (int i = 0; i + 1 < end; ++i)
      if (strides[k][i] == 0 && strides[k][i + 1] != 0) swap(i, i + 1, nop);
}

template <int N>
void NestOf<N>::lengthen(int nop, npy_intp length, npy_intp few) {
  int longest = n - 1;
  for (int i = 0; i < n - 1; ++i)
    if (count(i, length) > count(longest, length)) longest = i;
  if (longest == n - 1 || count(n - 1, length) >= few) return;
  swap(longest, n - 1, nop);
}

template <int N>
bool NestOf<N>::operator==(const NestOf& other) const {
  if (n != other.n || head != other.head || cut != other.cut || !std::equal(shape, shape + n, other.shape)) return false;
  for (int k = 0; k < N; ++k)
    if (!std::equal(strides[k], strides[k] + n, other.strides[k])) return false;
  return true;
}

template struct NestOf<2>;
template struct NestOf<kPassOps>;
template struct NestOf<kPlaces>;

void Plan::scratch_steps(int level, npy_intp item, npy_intp* steps) const {
  std::fill(steps, steps + kAxes, 0);
  for (int a = level - 1; a >= cut; --a) {
    steps[a] = item;
    item *= axes.shape[a];
  }
}

size_t Plan::scratch_bytes(int level, npy_intp item) const {
  size_t bytes = static_cast<size_t>(item) * length;
  for (int a = cut + 1; a < level; ++a) bytes *= axes.shape[a];
  // Not all at the same place in a page: loads and stores would be taken for each other.
  return (bytes + 63) / 64 * 64 + 192;
}

int Plan::scratch_for(int level, npy_intp item) {
  const size_t at = scratch;
  scratch += scratch_bytes(level, item);
  return static_cast<int>(at);
}

bool Plan::writes_early() const {
  for (const Member& m : members)
    for (int copy : m.copied_by)
      if (copy >= 0) return true;
  return false;
}

std::string Plan::compiled() const {
  size_t n = 0, turned = 0;
  for (const Chain& c : chains) {
    if (!c.loop->ready()) continue;
    n += c.end - c.begin;
    turned += std::count_if(c.places.begin(), c.places.end(), [](const Place& p) { return p.turn >= 0; });
  }
  if (n == 0) return "";
  const std::string in_place = turned ? ", " + words::count(turned, "rolled operand") + " read in place" : "";
  return ", " + words::count(n, "instruction") + " compiled" + in_place;
}

std::string Plan::text() const {
  const size_t broadcast = expansions.size() - turns.size();
  const std::string written_out = broadcast ? ", " + words::count(broadcast, "broadcast operand") + " written out" : "";
  return "fused pass over " + words::shape(axes.shape, axes.n) + ": " + words::count(static_cast<size_t>(tiles), "tile") +
         " in " + words::count(static_cast<size_t>(tasks), "task") + ", " + std::to_string(scratch) +
         " bytes of scratch" + written_out + compiled();
}

}  // namespace lazyarray
