// hypot, several numbers at once: the algorithm of glibc's since 2.35 (C. F. Borges, "An Improved Algorithm for
// hypot(a,b)", 2019, without fused multiply-adds), which is single IEEE operations, and so has the same bits.
#include "lazy/cpu/hypot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "lazy/cpu/trial.h"
#include "lazy/cpu/vectors.h"
#include "lazy/processor.h"

namespace lazyarray {
namespace {

#if defined(__x86_64__)
// No fused multiply-adds, which compilers would use if they could.
#define WIDE [[gnu::target("avx2"), gnu::always_inline]] inline

typedef float Singles __attribute__((vector_size(16)));
typedef int32_t SingleBits __attribute__((vector_size(16)));
constexpr int64_t kPositive = INT64_MAX, kOne = int64_t(1) << 52;  // of exponents
// Squares of numbers from 2^-459 to 2^511 neither overflow nor underflow. A side of 2^-400 is much longer than one below.
constexpr int64_t kLeast = (1023 - 459) * kOne, kMost = (1023 + 511) * kOne, kLong = (1023 - 400) * kOne;

// False if the C library had better do it. By integers, as comparisons of NaNs raise flags.
WIDE bool hypot_of(Doubles a, Doubles b, Doubles* to) {
  const Bits x = reinterpret_cast<Bits>(a) & kPositive, y = reinterpret_cast<Bits>(b) & kPositive, less = x < y;
  const Bits longer = less ? y : x, shorter = less ? x : y;
  if (lanes((longer >= kMost) | ((shorter < kLeast) & (longer < kLong) & (longer != 0)))) return false;
  const Doubles p = reinterpret_cast<Doubles>(longer), q = reinterpret_cast<Doubles>(shorter);
  const Bits flat = q <= p * 0x1p-54;
  const Doubles one = {1, 1, 1, 1}, ax = either(one, p, flat), ay = either(one, q, flat);
  const Doubles h = _mm256_sqrt_pd(ax * ax + ay * ay);
  const Bits steep = h <= 2 * ay;
  const Doubles d = h - either(ay, ax, steep);
  const Doubles t1 = either(ax * (2 * d - ax), 2 * d * (ax - 2 * ay), steep);
  const Doubles t2 = either((d - 2 * (ax - ay)) * d, (4 * d - ay) * ay + d * d, steep);
  *to = either(p + q, h - (t1 + t2) / (2 * h), flat);
  return true;
}
WIDE bool hypot_of(Singles a, Singles b, Singles* to) {
  constexpr int32_t infinity = 0x7f800000;
  const SingleBits x = reinterpret_cast<SingleBits>(a) & INT32_MAX, y = reinterpret_cast<SingleBits>(b) & INT32_MAX;
  const SingleBits finite = (x < infinity) & (y < infinity);
  if (_mm_movemask_ps(reinterpret_cast<Singles>(finite)) != 15) return false;
  const Doubles p = _mm256_cvtps_pd(a), q = _mm256_cvtps_pd(b);
  *to = _mm256_cvtpd_ps(_mm256_sqrt_pd(p * p + q * q));
  return true;
}

template <class T, class Vector>
[[gnu::target("avx2")]] void hypots_wide(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  const auto* numpys = static_cast<const Inner*>(data);
  if (steps[2] == 0) return numpys->fn(args, dimensions, steps, numpys->data);  // a reduction
  const npy_intp n = dimensions[0], whole = n - n % kLanes, lanes = kLanes;
  char *a = args[0], *b = args[1], *to = args[2];
  for (npy_intp i = 0; i < whole; i += kLanes, a += kLanes * steps[0], b += kLanes * steps[1], to += kLanes * steps[2]) {
    Vector r;
    if (hypot_of(load<T, Vector>(a, steps[0]), load<T, Vector>(b, steps[1]), &r)) {
      store<T, Vector>(to, steps[2], r);
    } else {
      char* at[] = {a, b, to};
      numpys->fn(at, &lanes, steps, numpys->data);
    }
  }
  if (const npy_intp rest = n - whole) {
    char* at[] = {a, b, to};
    numpys->fn(at, &rest, steps, numpys->data);
  }
}

// Whether the loop has the bits of NumPy's, for sides of many lengths.
template <class T>
bool agrees(Loop loop, const Inner* numpys) {
  constexpr npy_intp kTried = 512, steps[] = {sizeof(T), sizeof(T), sizeof(T)};
  T a[kTried], b[kTried];
  TrialNumbers numbers;
  for (npy_intp i = 0; i < kTried; ++i) {
    a[i] = std::ldexp(static_cast<T>(1.5 + numbers.next() / 2), static_cast<int>(i % 41) - 20);
    b[i] = std::ldexp(static_cast<T>(1.5 + numbers.next() / 2), static_cast<int>(i % 7) - 3);
  }
  char* args[] = {reinterpret_cast<char*>(a), reinterpret_cast<char*>(b), nullptr};
  return writes_the_same(loop, numpys, args, 2, kTried, steps, sizeof a);
}
#endif

}  // namespace

Loop hypot_loop(char dtype, const Inner* numpys) {
#if defined(__x86_64__)
  if (!has_avx2()) return nullptr;
  if (dtype == 'd' && agrees<double>(hypots_wide<double, Doubles>, numpys)) return hypots_wide<double, Doubles>;
  if (dtype == 'f' && agrees<float>(hypots_wide<float, Singles>, numpys)) return hypots_wide<float, Singles>;
#endif
  return nullptr;
}

}  // namespace lazyarray
