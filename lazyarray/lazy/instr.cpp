// Kernel and Instr: what one recorded instruction does, and to which memory.
#include "lazy/instr.h"

namespace lazyarray {

PyCall::~PyCall() {
  // Buried even with the GIL held: a refused segment is dropped under a lock, and letting go of
  // a closure may run anything.
  graveyard().bury(fn);
  graveyard().bury(context);
}

void Instr::copy_from(Instr& o) {
  kernel = o.kernel;
  set_operands(o.nin, o.nop - o.nin);
  std::copy(o.ops, o.ops + nop, ops);
  set_ndim(o.ndim);
  std::copy(o.buf(), o.buf() + static_cast<size_t>(ndim) * (1 + nop), buf());
  std::memcpy(constants, o.constants, sizeof constants);
  std::copy(o.core, o.core + 4, core);
  std::copy(o.core_steps, o.core_steps + 8, core_steps);
  wide = o.wide;
  errstate = o.errstate;
  filters = o.filters;
  site = o.site;
  zeros = o.zeros;
  put_off = false;
  cost_ns = o.cost_ns;
  bytes = o.bytes;
  overwrites = o.overwrites;
  reduced = o.reduced;
  ncore = o.ncore;
  ncore_steps = o.ncore_steps;
}

Instr* InstrPool::take() {
  lock_.lock();
  Instr* in = nullptr;
  if ((in = free_)) {
    free_ = in->next;
    count_--;
  }
  lock_.unlock();
  return in ? in : new Instr;
}

void InstrPool::drop(Instr* in) {
  if (in->has_refs)
    for (int k = 0; k < in->nop; ++k)
      if (in->ops[k].chunk) in->ops[k].chunk->unref();
  in->py.reset();
  lock_.lock();
  const bool keep = count_ < 4096;
  if (keep) {
    in->next = free_;
    free_ = in;
    count_++;
  }
  lock_.unlock();
  if (!keep) delete in;
}

int coalesce(int ndim, int nop, npy_intp* shape, npy_intp (*strides)[kMaxDims]) {
  int n = 0;
  for (int i = 0; i < ndim; ++i) {
    if (shape[i] == 1) continue;
    bool merge = n > 0;
    for (int k = 0; merge && k < nop; ++k)
      merge = strides[k][n - 1] == strides[k][i] * shape[i];
    if (merge) {
      shape[n - 1] *= shape[i];
      for (int k = 0; k < nop; ++k) strides[k][n - 1] = strides[k][i];
    } else {
      shape[n] = shape[i];
      for (int k = 0; k < nop; ++k) strides[k][n] = strides[k][i];
      n++;
    }
  }
  return n;
}

void broadcast_strides(const Layout& l, int ndim, npy_intp* out) {
  const int lead = ndim - l.ndim;
  for (int i = 0; i < ndim; ++i)
    out[i] = i < lead || l.shape()[i - lead] == 1 ? 0 : l.strides()[i - lead];
}

int buffered_axes(Instr& in) {
  constexpr npy_intp kBuffer = 8192;  // np.getbufsize(), elements
  const npy_intp* shape = in.shape();
  int best = 0, cost = 1, best_cost = 1;
  bool even[kMaxOperands];
  std::fill(even, even + in.nop, true);
  npy_intp size = shape[in.ndim - 1], best_size = size;
  for (int d = 1; d < in.ndim && (size < kBuffer || cost == 1); ++d) {
    const int a = in.ndim - 1 - d;
    for (int k = 0; k < in.nop; ++k)
      if (even[k] && in.strides(k)[a] != in.strides(k)[a + 1] * shape[a + 1]) {
        even[k] = false;
        cost++;
      }
    size *= shape[a];
    const npy_intp held = cost > 1 ? std::min(size, kBuffer) : size;
    if (static_cast<double>(cost) * static_cast<double>(best_size) <=
        static_cast<double>(best_cost) * static_cast<double>(held)) {
      best_cost = cost;
      best_size = size;
      best = d;
    }
  }
  return best;
}

bool steps_evenly(Instr& in, int k, int axes) {
  for (int a = in.ndim - 1; a > in.ndim - 1 - axes; --a)
    if (in.strides(k)[a - 1] != in.strides(k)[a] * in.shape()[a]) return false;
  return true;
}

void turn_round(Instr& in) {
  for (int a = 0; a < in.ndim; ++a) {
    bool backwards = false, forwards = false;
    for (int k = 0; k < in.nop; ++k) {
      backwards |= in.strides(k)[a] < 0;
      forwards |= in.strides(k)[a] > 0;
    }
    if (!backwards || forwards) continue;
    for (int k = 0; k < in.nop; ++k) {
      in.ops[k].offset += in.strides(k)[a] * (in.shape()[a] - 1);
      in.strides(k)[a] = -in.strides(k)[a];
    }
  }
}

void set_space(Instr& in, const Layout& space, View const* const* views) {
  // Nearly always: contiguous arrays of one shape, and constants.
  bool flat = true;
  for (int k = 0; flat && k < in.nop; ++k) {
    if (!views[k]) continue;
    const Layout& l = views[k]->layout;
    flat = l.ndim == 0 || (l.same_shape(space) && l.c_contiguous(views[k]->itemsize()));
  }
  if (flat) {
    in.set_ndim(1);
    const npy_intp n = in.shape()[0] = space.size();
    bool still = false;  // NumPy's iterator, which x *= y takes even for one element, has it stand
    if (n == 1 && in.nop == in.nin + 1 && views[in.nin])
      for (int k = 0; k < in.nin; ++k)
        still |= views[k] && views[k]->chunk() == views[in.nin]->chunk();
    for (int k = 0; k < in.nop; ++k)
      // As NumPy: a 0-d input steps by zero, the output never. Some loops' bits depend on it.
      in.strides(k)[0] =
          !still && views[k] && (views[k]->layout.ndim || in.writes(k)) ? views[k]->itemsize() : 0;
    return;
  }
  npy_intp strides[kMaxOperands][kMaxDims], shape[kMaxDims];
  npy_intp raw[kMaxOperands][kMaxDims];
  npy_intp const* ptrs[kMaxOperands];
  for (int k = 0; k < in.nop; ++k) {
    if (views[k]) broadcast_strides(views[k]->layout, space.ndim, raw[k]);
    else std::fill(raw[k], raw[k] + space.ndim, 0);
    ptrs[k] = raw[k];
  }
  int order[kMaxDims];
  k_order(space.ndim, in.nop, ptrs, order);
  for (int i = 0; i < space.ndim; ++i) {
    const int axis = order[space.ndim - 1 - i];
    shape[i] = space.shape()[axis];
    for (int k = 0; k < in.nop; ++k) strides[k][i] = raw[k][axis];
  }
  const int n = coalesce(space.ndim, in.nop, shape, strides);
  in.set_ndim(std::max(n, 1));
  if (n == 0) {
    in.shape()[0] = 1;
    for (int k = 0; k < in.nop; ++k) in.strides(k)[0] = 0;
    return;
  }
  std::copy(shape, shape + n, in.shape());
  for (int k = 0; k < in.nop; ++k) std::copy(strides[k], strides[k] + n, in.strides(k));
}

void set_k_layout(Layout& out, npy_intp itemsize, int nin, View const* const* views) {
  out.offset = 0;
  bool c = true;
  for (int k = 0; c && k < nin; ++k)
    c = !views[k] || views[k]->layout.ndim == 0 ||
        (views[k]->layout.same_shape(out) && views[k]->layout.c_contiguous(views[k]->itemsize()));
  // (NumPy's iterator gives no elements steps of 0: what is reduced of them is in C order.)
  if (c || out.ndim < 2 || out.size() == 0) {
    out.set_c_order(itemsize);
    return;
  }
  npy_intp raw[kMaxOperands][kMaxDims];
  npy_intp const* ptrs[kMaxOperands];
  int n = 0;
  for (int k = 0; k < nin; ++k)
    if (views[k]) {
      broadcast_strides(views[k]->layout, out.ndim, raw[n]);
      ptrs[n] = raw[n];
      n++;
    }
  int order[kMaxDims];
  k_order(out.ndim, n, ptrs, order);
  npy_intp step = itemsize;
  for (int i = 0; i < out.ndim; ++i) {
    out.strides()[order[i]] = step;
    step *= std::max<npy_intp>(out.shape()[order[i]], 1);
  }
}

}  // namespace lazyarray
