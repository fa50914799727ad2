// gather: elements or rows of an array picked by integer indices. NumPy has no loop for it.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "lazy/runtime.h"

namespace lazyarray {

// As a gufunc's, but without a loop (threads share it): source (n, block), indices (m), output (m, block);
// blocks are contiguous bytes. Core dimensions n, m, bytes of a block, and the axis that an error names; core steps: the
// source's from block to block, the output's. Or the source has up to kIndexed such axes, with indices (m) of each:
// then the further ones' lengths, steps and names stand behind the steps, and the source's steps are not negative.
enum GatherCore { kGatherFrom, kGatherCount, kGatherBlock, kGatherAxis };
enum GatherSteps { kGatherStep, kGatherEach, kGatherFurther };
constexpr int kIndexed = 3;
constexpr npy_intp kPiece = 2048;  // indices at a time: they are looked at twice, and stay in the cache

struct IndexedAxis {
  npy_intp length, step, name;
};
// The k-th of an instruction's, of its core dimensions and core steps.
inline IndexedAxis indexed_axis(const npy_intp* core, const npy_intp* steps, int k) {
  if (k == 0) return {core[kGatherFrom], steps[kGatherStep], core[kGatherAxis]};
  const npy_intp* const further = steps + kGatherFurther + 3 * (k - 1);
  return {further[0], further[1], further[2]};
}

inline npy_intp gather_index(const char* p, npy_intp n) {
  npy_intp i;
  std::memcpy(&i, p, sizeof i);
  return i < 0 ? i + n : i;
}

constexpr npy_intp kLane = 8;  // rows at a time, of an output whose rows lie together: a line of the cache
struct GatherRows {            // the axis in front of the indexed one
  npy_intp count, step, out_step;
};
template <npy_intp size>  // 0: as `block` says
inline void gather_blocks(const char* from, npy_intp n, npy_intp step, npy_intp block, const char* index,
                          npy_intp m, char* to, npy_intp each, GatherRows rows) {
  if (size) block = size;
  if (each != block) {  // the rows of the output lie together
    for (npy_intp j = 0; j < m; ++j, index += sizeof(npy_intp), to += each) {
      const char* at = from + gather_index(index, n) * step;
      if (rows.count == kLane)  // of a known number compilers unroll the loop
        for (npy_intp r = 0; r < kLane; ++r) std::memcpy(to + r * rows.out_step, at + r * rows.step, block);
      else
        for (npy_intp r = 0; r < rows.count; ++r) std::memcpy(to + r * rows.out_step, at + r * rows.step, block);
    }
    return;
  }
  for (npy_intp r = 0; r < rows.count; ++r, from += rows.step, to += rows.out_step) {
    const char* at = index;
    char* out = to;
    for (npy_intp j = 0; j < m; ++j, at += sizeof(npy_intp), out += block)
      std::memcpy(out, from + gather_index(at, n) * step, block);
  }
}
void gather_blocks(const char* from, npy_intp n, npy_intp step, npy_intp block, const char* index,
                   npy_intp m, char* to, npy_intp each, GatherRows rows);

// Whether all of m indices lie in [-n, n): no branch, so that compilers make vector instructions of it.
[[gnu::always_inline]] inline bool bounded(const char* index, npy_intp m, npy_intp n,
                                           npy_intp step = sizeof(npy_intp)) {
  uint64_t outside = 0;  // by its highest bit
  for (npy_intp j = 0; j < m; ++j) {
    uint64_t i;
    std::memcpy(&i, index + j * step, sizeof i);
    outside |= (i + static_cast<uint64_t>(n)) | (static_cast<uint64_t>(n) - 1 - i);
  }
  return !(outside >> 63);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] inline bool bounded_wide(const char* index, npy_intp m, npy_intp n) {
  return bounded(index, m, n);
}
#else
inline bool bounded_wide(const char* index, npy_intp m, npy_intp n) { return bounded(index, m, n); }
#endif
bool in_bounds(const char* index, npy_intp m, npy_intp n);

// Kernel::check of what writes, and a gather's error: that of the first index that is out of bounds, or null.
Error* out_of_bounds(const Instr& in, const Block& b);

// Stores blocks (m, block), or one, where the indices of some axes say, in order: source, indices, target. Core dimensions
// are a gather's, of the target; core steps, too, but kGatherEach is the source's, from block to block. `axes`: how many.
template <int axes>
void store_blocks(char** args, const npy_intp* dims, const npy_intp* steps, void*);

// A part of a PICK's: elements that `count` indices of each axis name, in order. The error of the first one that is out of
// bounds, or null.
Error* gather_part(const Instr& in, const char* from, char* const* indices, npy_intp count, char* to);

// The numbers from 0 to n - 1, each as often as a count says: `total` in all.
void repeat_places(const npy_intp* counts, npy_intp n, npy_intp* to, npy_intp total);

// A gather, by as many threads as take part. They claim runs of pieces: some indices for one place of the
// axes in front of the indexed one. Elements are only moved, so who moves them does not matter; an index
// out of bounds leaves the rest of the output unwritten, which is poisoned then.
class Gathering {
 public:
  Gathering(Instr& in, char* const* ptrs);
  // Into how many tasks it may be cut.
  npy_intp cut(const Crew& crew);
  void work();
  bool bad() const { return bad_.load(std::memory_order_relaxed); }

 private:
  // The piece `p`, and of those after it that take the same indices along the fastest axis in front, `most` at
  // most: how many were done; 0 if an index is out of bounds.
  npy_intp piece(npy_intp p, npy_intp most);

  Instr& in_;
  char* const* const ptrs_;
  const int batch_;  // axes
  const npy_intp each_, lane_;
  npy_intp places_ = 1, per_place_ = 0, pieces_ = 0, run_ = 1;
  std::atomic<npy_intp> next_{0};
  std::atomic<bool> bad_{false};
};

}  // namespace lazyarray
