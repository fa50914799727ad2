// scatter-add: blocks added to the places that indices name; the gradient of gather.h's loop.
#pragma once
#include <cstring>

#include "lazy/cpu/gather.h"

namespace lazyarray {

// As a gufunc's: blocks (m, block), indices (m), sums (n, block), all without gaps but for the
// sums' step from block to block. Core dimensions are gather's, core steps the sums' and the
// indices'. What has one index is added in the order of the indices, whoever runs it.
template <class T>
inline void scatter_blocks(const T* from, const char* index, char* to, const npy_intp* core,
                           const npy_intp* steps) {
  const npy_intp n = core[kGatherFrom], m = core[kGatherCount];
  const npy_intp block = core[kGatherBlock] / static_cast<npy_intp>(sizeof(T));
  if (block == 1) {
    for (npy_intp j = 0; j < m; ++j, index += steps[1])
      *reinterpret_cast<T*>(to + gather_index(index, n) * steps[0]) += from[j];
    return;
  }
  for (npy_intp j = 0; j < m; ++j, index += steps[1], from += block) {
    T* sum = reinterpret_cast<T*>(to + gather_index(index, n) * steps[0]);
    for (npy_intp i = 0; i < block; ++i) sum[i] += from[i];
  }
}

template <class T>
inline void scatter_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  const npy_intp n = dims[1 + kGatherFrom], block = dims[1 + kGatherBlock];
  const char* from = args[0];
  char* to = args[2];
  for (npy_intp b = 0; b < dims[0]; ++b, from += steps[0], to += steps[2]) {
    for (npy_intp i = 0; i < n; ++i) std::memset(to + i * steps[3], 0, block);
    scatter_blocks(reinterpret_cast<const T*>(from), args[1], to, dims + 1, steps + 3);
  }
}

// The loop for a dtype by its character: complex numbers are pairs. Null: there is none.
inline Loop scatter_of(char code) {
  switch (code) {
    case 'f': case 'F': return scatter_loop<float>;
    case 'd': case 'D': return scatter_loop<double>;
    case 'g': case 'G': return scatter_loop<long double>;
    default: return nullptr;
  }
}

}  // namespace lazyarray
