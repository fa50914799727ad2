// Vectors of a few numbers, from memory and back, where they need not lie together. AVX2.
#pragma once
#include <cstring>

#include "lazy/numpy.h"

#if defined(__x86_64__)
namespace lazyarray {

template <class T, class Vector>
[[gnu::target("avx2"), gnu::always_inline]] inline Vector load(const char* p, npy_intp step) {
  Vector x;
  if (step == sizeof(T)) {
    std::memcpy(&x, p, sizeof x);
  } else {
    for (size_t i = 0; i < sizeof x / sizeof(T); ++i, p += step) x[i] = *reinterpret_cast<const T*>(p);
  }
  return x;
}
template <class T, class Vector>
[[gnu::target("avx2"), gnu::always_inline]] inline void store(char* p, npy_intp step, Vector x) {
  if (step == sizeof(T)) {
    std::memcpy(p, &x, sizeof x);
  } else {
    for (size_t i = 0; i < sizeof x / sizeof(T); ++i, p += step) *reinterpret_cast<T*>(p) = x[i];
  }
}

}  // namespace lazyarray
#endif
