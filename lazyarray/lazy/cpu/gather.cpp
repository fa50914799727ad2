// gather: elements or rows of an array picked by integer indices. NumPy has no loop for it.
#include "lazy/cpu/gather.h"

#include "lazy/processor.h"

namespace lazyarray {

void gather_blocks(const char* from, npy_intp n, npy_intp step, npy_intp block, const char* index,
                   npy_intp m, char* to, npy_intp each, GatherRows rows) {
  switch (block) {
    case 1: return gather_blocks<1>(from, n, step, 1, index, m, to, each, rows);
    case 2: return gather_blocks<2>(from, n, step, 2, index, m, to, each, rows);
    case 4: return gather_blocks<4>(from, n, step, 4, index, m, to, each, rows);
    case 8: return gather_blocks<8>(from, n, step, 8, index, m, to, each, rows);
    case 12: return gather_blocks<12>(from, n, step, 12, index, m, to, each, rows);
    case 16: return gather_blocks<16>(from, n, step, 16, index, m, to, each, rows);
    case 24: return gather_blocks<24>(from, n, step, 24, index, m, to, each, rows);
    case 32: return gather_blocks<32>(from, n, step, 32, index, m, to, each, rows);
    default: return gather_blocks<0>(from, n, step, block, index, m, to, each, rows);
  }
}

bool in_bounds(const char* index, npy_intp m, npy_intp n) {
  static const bool wide = has_avx2();
  return wide ? bounded_wide(index, m, n) : bounded(index, m, n);
}

static Error* first_outside(const char* index, npy_intp m, const IndexedAxis& axis) {
  if (in_bounds(index, m, axis.length)) return nullptr;
  for (;; index += sizeof(npy_intp)) {
    const npy_intp i = gather_index(index, axis.length);
    if (i < 0 || i >= axis.length)
      return new Error(Error::INDEX, "index " + std::to_string(i < 0 ? i - axis.length : i) +
                                         " is out of bounds for axis " + std::to_string(axis.name) + " with size " +
                                         std::to_string(axis.length));
  }
}

Error* out_of_bounds(const Instr& in, const Block& b) {
  Error* e = nullptr;
  for (int k = 0; k < in.nin - 1 && !e; ++k)
    e = first_outside(b.ptrs[1 + k], in.core[kGatherCount], indexed_axis(in.core, in.core_steps, k));
  return e;
}

// How far the places of some indices of each axis lie from the first place, in bytes.
static void offsets_of(int axes, char* const* indices, npy_intp skipped, npy_intp m, const npy_intp* core,
                       const npy_intp* steps, npy_intp* to) {
  constexpr npy_intp size = sizeof(npy_intp);
  for (int k = 0; k < axes; ++k) {
    const IndexedAxis axis = indexed_axis(core, steps, k);
    const char* const index = indices[k] + skipped;
    for (npy_intp j = 0; j < m; ++j)
      to[j] = (k ? to[j] : 0) + gather_index(index + j * size, axis.length) * axis.step;
  }
}

struct StoredRows {  // the axis in front of the indexed ones
  npy_intp count, step, to_step;
  bool together;  // nearer to each other than the places of one of them
};
template <npy_intp size>  // 0: as `block` says
static void store_at(const char* from, npy_intp each, npy_intp block, const npy_intp* offsets, npy_intp m, char* to,
                     StoredRows rows) {
  if (size) block = size;
  if (rows.together) {
    for (npy_intp j = 0; j < m; ++j)
      for (npy_intp r = 0; r < rows.count; ++r)
        std::memcpy(to + offsets[j] + r * rows.to_step, from + j * each + r * rows.step, block);
    return;
  }
  for (npy_intp r = 0; r < rows.count; ++r, from += rows.step, to += rows.to_step)
    for (npy_intp j = 0; j < m; ++j) std::memcpy(to + offsets[j], from + j * each, block);
}

template <npy_intp size>
static void store_line(const char* from, npy_intp each, const char* index, npy_intp n, npy_intp step, npy_intp m,
                       char* to) {
  for (npy_intp j = 0; j < m; ++j)
    std::memcpy(to + gather_index(index + j * static_cast<npy_intp>(sizeof(npy_intp)), n) * step, from + j * each, size);
}

template <int axes>
void store_blocks(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  const npy_intp* const core = dims + 1;
  StoredRows rows{dims[0], steps[0], steps[axes + 1], false};
  steps += axes + 2;  // the core's
  rows.together = rows.count > 1 && std::abs(rows.to_step) < std::abs(steps[kGatherStep]);
  const npy_intp each = steps[kGatherEach], block = core[kGatherBlock];
  if (axes == 1 && rows.count == 1 && block == 8)  // the commonest, without a table of places
    return store_line<8>(args[0], each, args[1], core[kGatherFrom], steps[kGatherStep], core[kGatherCount], args[2]);
  npy_intp offsets[256];
  for (npy_intp begin = 0; begin < core[kGatherCount]; begin += 256) {
    const npy_intp m = std::min<npy_intp>(256, core[kGatherCount] - begin);
    offsets_of(axes, args + 1, begin * static_cast<npy_intp>(sizeof(npy_intp)), m, core, steps, offsets);
    const char* const from = args[0] + begin * each;
    char* const to = args[axes + 1];
    switch (block) {
      case 1: store_at<1>(from, each, 1, offsets, m, to, rows); break;
      case 2: store_at<2>(from, each, 2, offsets, m, to, rows); break;
      case 4: store_at<4>(from, each, 4, offsets, m, to, rows); break;
      case 8: store_at<8>(from, each, 8, offsets, m, to, rows); break;
      case 16: store_at<16>(from, each, 16, offsets, m, to, rows); break;
      default: store_at<0>(from, each, block, offsets, m, to, rows);
    }
  }
}
template void store_blocks<1>(char**, const npy_intp*, const npy_intp*, void*);
template void store_blocks<2>(char**, const npy_intp*, const npy_intp*, void*);
template void store_blocks<3>(char**, const npy_intp*, const npy_intp*, void*);

Error* gather_part(const Instr& in, const char* from, char* const* indices, npy_intp count, char* to) {
  const int axes = in.nin - 1;
  const npy_intp block = in.core[kGatherBlock];
  npy_intp offsets[kPiece];
  for (npy_intp done = 0, n; done < count; done += n, to += n * block) {
    n = std::min(kPiece, count - done);
    const npy_intp skipped = done * static_cast<npy_intp>(sizeof(npy_intp));
    for (int k = 0; k < axes; ++k)
      if (Error* e = first_outside(indices[k] + skipped, n, indexed_axis(in.core, in.core_steps, k))) return e;
    if (axes == 1) {
      gather_blocks(from, in.core[kGatherFrom], in.core_steps[kGatherStep], block, indices[0] + skipped, n, to, block, {1, 0, 0});
      continue;
    }
    offsets_of(axes, indices, skipped, n, in.core, in.core_steps, offsets);
    gather_blocks(from, 0, 1, block, reinterpret_cast<const char*>(offsets), n, to, block, {1, 0, 0});
  }
  return nullptr;
}

void repeat_places(const npy_intp* counts, npy_intp n, npy_intp* to, npy_intp total) {
  constexpr npy_intp kFew = 4;  // so many are written, and those too many written over: no branch to guess
  npy_intp* const end = to + total;
  for (npy_intp i = 0; i < n; ++i) {
    if (counts[i] <= kFew && end - to >= kFew)
      std::fill_n(to, kFew, i);
    else
      std::fill_n(to, counts[i], i);
    to += counts[i];
  }
}

Gathering::Gathering(Instr& in, char* const* ptrs)
    : in_(in), ptrs_(ptrs), batch_(in.kernel->kind == Kernel::PICK ? 0 : in.ndim), each_(in.core_steps[kGatherEach]), lane_(each_ == in.core[kGatherBlock] ? 1 : kLane) {
  for (int a = 0; a < batch_; ++a) places_ *= a == batch_ - 1 ? (in.shape()[a] + lane_ - 1) / lane_ : in.shape()[a];
  const npy_intp m = in.core[kGatherCount];
  per_place_ = (m + kPiece - 1) / kPiece;
  run_ = pieces_ = places_ * per_place_;
}

npy_intp Gathering::cut(const Crew& crew) {
  run_ = crew.portion(in_.cost_ns, pieces_);
  return (pieces_ + run_ - 1) / run_;
}

void Gathering::work() {
  while (!Engine::called_away()) {
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
  const npy_intp begin = (p - place * per_place_) * kPiece, skipped = begin * static_cast<npy_intp>(sizeof(npy_intp));
  const npy_intp count = std::min(kPiece, in_.core[kGatherCount] - begin), block = in_.core[kGatherBlock];
  const int axes = in_.nin - 1;
  for (int k = 0; k < axes; ++k)
    if (!in_bounds(ptrs_[1 + k] + skipped, count, indexed_axis(in_.core, in_.core_steps, k).length)) return 0;
  npy_intp n = in_.core[kGatherFrom], step = in_.core_steps[kGatherStep];
  const char *from = ptrs_[0], *index = ptrs_[1] + skipped;
  char* to = ptrs_[in_.nin] + begin * each_;
  npy_intp offsets[kPiece];
  if (axes > 1) {
    offsets_of(axes, ptrs_ + 1, skipped, count, in_.core, in_.core_steps, offsets);
    index = reinterpret_cast<const char*>(offsets);
    n = 0;
    step = 1;
  }
  GatherRows rows{1, 0, 0};
  for (int a = batch_ - 1; a >= 0; --a) {
    const bool last = a == batch_ - 1;
    const npy_intp length = in_.shape()[a], lane = last ? lane_ : 1, places = (length + lane - 1) / lane;
    const npy_intp at = place % places * lane;
    place /= places;
    from += at * in_.strides(0)[a];
    to += at * in_.strides(in_.nin)[a];
    if (last && (lane > 1 || per_place_ == 1))
      rows = {std::min(lane > 1 ? lane : most, length - at), in_.strides(0)[a], in_.strides(in_.nin)[a]};
  }
  gather_blocks(from, n, step, block, index, count, to, each_, rows);
  return lane_ > 1 ? 1 : rows.count;
}

}  // namespace lazyarray
