// Vectors of a few numbers. AVX2.
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "lazy/numpy.h"

namespace lazyarray {

typedef double Doubles __attribute__((vector_size(32)));
typedef int64_t Bits __attribute__((vector_size(32)));  // of doubles; all of them where a condition holds
constexpr npy_intp kLanes = 4;

[[gnu::target("avx2"), gnu::always_inline]] inline Doubles either(Doubles yes, Doubles no, Bits which) {
  return _mm256_blendv_pd(no, yes, reinterpret_cast<Doubles>(which));
}
[[gnu::target("avx2"), gnu::always_inline]] inline Bits either(Bits yes, Bits no, Bits which) {
  return which & yes | ~which & no;
}
[[gnu::target("avx2"), gnu::always_inline]] inline int lanes(Bits which) {
  return _mm256_movemask_pd(reinterpret_cast<Doubles>(which));
}

// From memory and back, where they need not lie together.
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
