// gather: elements or rows of an array picked by integer indices. NumPy has no loop for it.
#include "lazy/cpu/gather.h"

#include "lazy/cpu/lines.h"

namespace lazyarray {

void gather_blocks(const char* from, npy_intp n, npy_intp step, npy_intp block, const char* index,
                   npy_intp m, char* to, GatherRows rows) {
  switch (block) {
    case 1: return gather_blocks<1>(from, n, step, 1, index, m, to, rows);
    case 2: return gather_blocks<2>(from, n, step, 2, index, m, to, rows);
    case 4: return gather_blocks<4>(from, n, step, 4, index, m, to, rows);
    case 8: return gather_blocks<8>(from, n, step, 8, index, m, to, rows);
    case 12: return gather_blocks<12>(from, n, step, 12, index, m, to, rows);
    case 16: return gather_blocks<16>(from, n, step, 16, index, m, to, rows);
    case 24: return gather_blocks<24>(from, n, step, 24, index, m, to, rows);
    case 32: return gather_blocks<32>(from, n, step, 32, index, m, to, rows);
    default: return gather_blocks<0>(from, n, step, block, index, m, to, rows);
  }
}

bool in_bounds(const char* index, npy_intp m, npy_intp n) {
  static const bool wide = lines::has_wide();
  return wide ? bounded_wide(index, m, n) : bounded(index, m, n);
}

Error* out_of_bounds(const Instr& in, const Block& b) {
  const char* const index = b.ptrs[1];
  const npy_intp n = in.core[kGatherFrom], m = in.core[kGatherCount], step = in.core_steps[1];
  if (in_bounds(index, m, n)) return nullptr;
  for (npy_intp j = 0; j < m; ++j) {
    const npy_intp i = gather_index(index + j * step, n);
    if (i < 0 || i >= n)
      return new Error(Error::INDEX, "index " + std::to_string(i < 0 ? i - n : i) +
                                         " is out of bounds for axis " +
                                         std::to_string(in.core[kGatherAxis]) + " with size " +
                                         std::to_string(n));
  }
  return nullptr;
}

Gathering::Gathering(Instr& in, char* const* ptrs)
    : in_(in), ptrs_(ptrs) {
  for (int a = 0; a < in.ndim; ++a) places_ *= in.shape()[a];
  const npy_intp m = in.core[kGatherCount];
  per_place_ = (m + kPiece - 1) / kPiece;
  run_ = pieces_ = places_ * per_place_;
}

npy_intp Gathering::cut(const Crew& crew) {
  run_ = crew.portion(in_.cost_ns, pieces_);
  return (pieces_ + run_ - 1) / run_;
}

void Gathering::work() {
  for (;;) {
    const npy_intp first = next_.fetch_add(run_, std::memory_order_relaxed);
    if (first >= pieces_) return;  // also where there is none
    for (npy_intp p = first, end = std::min(first + run_, pieces_); p < end;) {
      const npy_intp done = piece(p, end - p);
      if (!done) {
        bad_.store(true, std::memory_order_relaxed);
        break;
      }
      p += done;
    }
  }
}

npy_intp Gathering::piece(npy_intp p, npy_intp most) {
  npy_intp place = p / per_place_;
  const npy_intp begin = (p - place * per_place_) * kPiece;
  const npy_intp count = std::min(kPiece, in_.core[kGatherCount] - begin), n = in_.core[kGatherFrom];
  const npy_intp block = in_.core[kGatherBlock];
  const char *from = ptrs_[0], *index = ptrs_[1] + begin * static_cast<npy_intp>(sizeof(npy_intp));
  char* to = ptrs_[2] + begin * block;
  if (!in_bounds(index, count, n)) return 0;
  GatherRows rows{1, 0, 0};
  for (int a = in_.ndim - 1; a >= 0; --a) {
    const npy_intp at = place % in_.shape()[a];
    place /= in_.shape()[a];
    from += at * in_.strides(0)[a];
    to += at * in_.strides(2)[a];
    if (a == in_.ndim - 1 && per_place_ == 1)
      rows = {std::min(most, in_.shape()[a] - at), in_.strides(0)[a], in_.strides(2)[a]};
  }
  gather_blocks(from, n, in_.core_steps[0], block, index, count, to, rows);
  return rows.count;
}

}  // namespace lazyarray
