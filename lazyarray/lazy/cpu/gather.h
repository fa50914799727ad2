// gather: elements or blocks picked by an array of indices; NumPy has no loop for it.
#pragma once
#include <cstring>
#include <string>

#include "lazy/instr.h"

namespace lazyarray {

// As a gufunc's: source (n, block), indices (m), output (m, block); blocks are contiguous bytes.
// Core dimensions n, m, bytes of a block, and the axis that an error names; core steps: the
// source's from block to block, the indices'.
enum GatherCore { kGatherFrom, kGatherCount, kGatherBlock, kGatherAxis };

inline npy_intp gather_index(const char* p, npy_intp n) {
  npy_intp i;
  std::memcpy(&i, p, sizeof i);
  return i < 0 ? i + n : i;
}

template <npy_intp size>  // 0: as the block says
inline void gather_blocks(const char* from, const char* index, char* to, const npy_intp* core,
                          const npy_intp* steps) {
  const npy_intp n = core[kGatherFrom], m = core[kGatherCount];
  const npy_intp block = size ? size : core[kGatherBlock];
  for (npy_intp j = 0; j < m; ++j, index += steps[1], to += block)
    std::memcpy(to, from + gather_index(index, n) * steps[0], block);
}

inline void gather_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  const char* from = args[0];
  char* to = args[2];
  for (npy_intp b = 0; b < dims[0]; ++b, from += steps[0], to += steps[2]) {
    switch (dims[1 + kGatherBlock]) {
      case 1: gather_blocks<1>(from, args[1], to, dims + 1, steps + 3); break;
      case 4: gather_blocks<4>(from, args[1], to, dims + 1, steps + 3); break;
      case 8: gather_blocks<8>(from, args[1], to, dims + 1, steps + 3); break;
      case 16: gather_blocks<16>(from, args[1], to, dims + 1, steps + 3); break;
      default: gather_blocks<0>(from, args[1], to, dims + 1, steps + 3);
    }
  }
}

// The error of the first index that is out of bounds, or null. Looked for before anything is written.
inline Error* out_of_bounds(const Instr& in, const char* index) {
  const npy_intp n = in.core[kGatherFrom], m = in.core[kGatherCount], step = in.core_steps[1];
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

}  // namespace lazyarray
