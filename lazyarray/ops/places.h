// Elements of memory by integers, and by steps.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// Whether all are indices of so many elements.
inline bool within(const npy_intp* k, npy_intp n, npy_intp length) {
  bool fine = true;
  for (npy_intp i = 0; i < n; ++i) fine &= size_t(k[i] + length) < 2 * size_t(length);
  return fine;
}
template <class T>
void pick_places(char* out, const char* base, const npy_intp* k, npy_intp n, npy_intp length,
                        npy_intp step) {
  for (npy_intp i = 0; i < n; ++i)
    reinterpret_cast<T*>(out)[i] =
        *reinterpret_cast<const T*>(base + (k[i] < 0 ? k[i] + length : k[i]) * step);
}
template <class T>
void store_places(char* base, const char* values, npy_intp each, const npy_intp* k, npy_intp n,
                         npy_intp length, npy_intp step) {
  for (npy_intp i = 0; i < n; ++i)
    *reinterpret_cast<T*>(base + (k[i] < 0 ? k[i] + length : k[i]) * step) =
        *reinterpret_cast<const T*>(values + i * each);
}

template <class T>
void copy_of(char* to, const npy_intp* to_steps, const char* from, const npy_intp* steps,
                    const npy_intp* shape, int ndim) {
  if (!ndim) {
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
    return;
  }
  const npy_intp n = shape[0], ours = to_steps[0], theirs = steps[0];
  if (ndim == 1)
    for (npy_intp i = 0; i < n; ++i)
      *reinterpret_cast<T*>(to + i * ours) = *reinterpret_cast<const T*>(from + i * theirs);
  else
    for (npy_intp i = 0; i < n; ++i)
      copy_of<T>(to + i * ours, to_steps + 1, from + i * theirs, steps + 1, shape + 1, ndim - 1);
}
// Elements of 1, 2, 4 or 8 bytes, as they are; false for others.
inline bool copy_steps(npy_intp size, char* to, const npy_intp* to_steps, const char* from, const npy_intp* steps,
                       const npy_intp* shape, int ndim) {
  if (size == 8) copy_of<int64_t>(to, to_steps, from, steps, shape, ndim);
  else if (size == 4) copy_of<int32_t>(to, to_steps, from, steps, shape, ndim);
  else if (size == 2) copy_of<int16_t>(to, to_steps, from, steps, shape, ndim);
  else if (size == 1) copy_of<int8_t>(to, to_steps, from, steps, shape, ndim);
  else return false;
  return true;
}

}  // namespace lazyarray
