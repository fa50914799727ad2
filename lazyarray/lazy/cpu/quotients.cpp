// Remainders and whole quotients: several floats at once, integers by NumPy's quotients.
#include "lazy/cpu/quotients.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "lazy/cpu/vectors.h"
#include "lazy/processor.h"

namespace lazyarray {
namespace {

#if defined(__x86_64__)
#define WIDE [[gnu::target("avx2,fma"), gnu::always_inline]] inline

WIDE __m256d whole(__m256d x) { return _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
WIDE __m256 whole(__m256 x) { return _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
WIDE __m256d below(__m256d x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
WIDE __m256 below(__m256 x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
WIDE __m256d less_product(__m256d a, __m256d b, __m256d from) { return _mm256_fnmadd_pd(a, b, from); }
WIDE __m256 less_product(__m256 a, __m256 b, __m256 from) { return _mm256_fnmadd_ps(a, b, from); }
WIDE __m256d either(__m256d yes, __m256d no, __m256d which) { return _mm256_blendv_pd(no, yes, which); }
WIDE __m256 either(__m256 yes, __m256 no, __m256 which) { return _mm256_blendv_ps(no, yes, which); }

// Vectors of floats, and of the integers that lie in the same bits.
template <class T>
struct Lanes {
  static constexpr int count = 32 / sizeof(T);
  static constexpr int digits = sizeof(T) == 8 ? 52 : 23;  // of a mantissa, without the first
  static constexpr int widest = sizeof(T) == 8 ? 960 : 100;  // a subnormal's mantissa counts, too
  using Int = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  typedef T Floats __attribute__((vector_size(32)));
  typedef Int Bits __attribute__((vector_size(32)));
  static constexpr Int one = Int(1) << digits;  // of exponents
  static constexpr Int positive = std::numeric_limits<Int>::max();
  static constexpr Int infinity = positive - (one - 1);

  // Whether the quotients are of numbers, have fewer digits than a mantissa, and don't underflow, and twice a divisor
  // doesn't overflow: then nothing below raises a flag but that of a result that is not exact. By integers, as
  // comparisons raise flags.
  WIDE static bool tame(Floats a, Floats b) {
    const Bits x = reinterpret_cast<Bits>(a) & positive, y = reinterpret_cast<Bits>(b) & positive;
    const Bits good = (y >= one) & (y < infinity - 2 * one) & (x < infinity) & (x - y < (digits - 2) * one) &
                      ((x == 0) | (y - x < widest * one));
    return _mm256_movemask_epi8(reinterpret_cast<__m256i>(good)) == -1;
  }

  // C's fmod. The rounded quotient is not too small. If it is one too large, which needs a true quotient just below a
  // whole number, the difference has the wrong sign, and is still exact, as it is small. Adding the divisor is exact, as
  // the true remainder is a float.
  WIDE static Floats remainder(Floats a, Floats b) {
    const Floats r = less_product(whole(a / b), b, a);
    const Bits sign = reinterpret_cast<Bits>(a) & ~positive;
    const Floats along = reinterpret_cast<Floats>((reinterpret_cast<Bits>(b) & positive) | sign);
    const Bits wrong = (reinterpret_cast<Bits>(r) ^ reinterpret_cast<Bits>(a)) & (r != 0);
    const Floats mended = either(r + along, r, reinterpret_cast<Floats>(wrong));
    return reinterpret_cast<Floats>((reinterpret_cast<Bits>(mended) & positive) | sign);
  }

  // Python's remainder and quotient from C's, as NumPy's npy_divmod has them.
  WIDE static Floats floored(Floats b, Floats r) {
    const Bits signs = reinterpret_cast<Bits>(r) ^ reinterpret_cast<Bits>(b);
    const Floats nothing = reinterpret_cast<Floats>(reinterpret_cast<Bits>(b) & ~positive);
    return either(either(r + b, r, reinterpret_cast<Floats>(signs)), nothing, reinterpret_cast<Floats>(r != 0));
  }
  WIDE static Floats quotient(Floats a, Floats b, Floats r) {
    const Bits signs = (reinterpret_cast<Bits>(r) ^ reinterpret_cast<Bits>(b)) & (r != 0);
    Floats q = (a - r) / b;
    q = either(q - 1, q, reinterpret_cast<Floats>(signs));
    Floats floor = below(q);
    floor = either(floor + 1, floor, reinterpret_cast<Floats>(q - floor > T(0.5)));
    const Bits sign = (reinterpret_cast<Bits>(a) ^ reinterpret_cast<Bits>(b)) & ~positive;
    return either(floor, reinterpret_cast<Floats>(sign), reinterpret_cast<Floats>(q != 0));
  }
};

template <class T, Quotient what>
[[gnu::target("avx2,fma")]] void quotients_wide(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  using L = Lanes<T>;
  constexpr int nop = what == Quotient::divmod ? 4 : 3;
  const auto* inner = static_cast<const Inner*>(data);
  if (steps[2] == 0) return inner->fn(args, dimensions, steps, inner->data);  // a reduction
  const npy_intp n = dimensions[0];
  for (npy_intp i = 0; i < n; i += L::count) {
    char* at[nop];
    npy_intp step[nop];
    for (int k = 0; k < nop; ++k) at[k] = args[k] + i * steps[k], step[k] = steps[k];
    T rest[nop][L::count];  // of the last few elements
    const npy_intp count = std::min<npy_intp>(n - i, L::count);
    if (count < L::count) {
      for (int k = 0; k < nop; ++k) {
        for (int j = 0; j < L::count; ++j)
          rest[k][j] = k < 2 && j < count ? *reinterpret_cast<const T*>(at[k] + j * steps[k]) : T(1);
        at[k] = reinterpret_cast<char*>(rest[k]), step[k] = sizeof(T);
      }
    }
    const auto a = load<T, typename L::Floats>(at[0], step[0]), b = load<T, typename L::Floats>(at[1], step[1]);
    if (L::tame(a, b)) {
      const auto r = L::remainder(a, b);
      if constexpr (what == Quotient::fmod) store<T>(at[2], step[2], r);
      else if constexpr (what == Quotient::remainder) store<T>(at[2], step[2], L::floored(b, r));
      else store<T>(at[2], step[2], L::quotient(a, b, r));
      if constexpr (what == Quotient::divmod) store<T>(at[3], step[3], L::floored(b, r));
    } else {
      inner->fn(at, &count, step, inner->data);
    }
    if (count < L::count)
      for (int k = 2; k < nop; ++k)
        for (int j = 0; j < count; ++j) *reinterpret_cast<T*>(args[k] + (i + j) * steps[k]) = rest[k][j];
  }
}

template <class T>
Loop of_dtype(Quotient what) {
  switch (what) {
    case Quotient::fmod: return quotients_wide<T, Quotient::fmod>;
    case Quotient::remainder: return quotients_wide<T, Quotient::remainder>;
    case Quotient::floor_divide: return quotients_wide<T, Quotient::floor_divide>;
    default: return quotients_wide<T, Quotient::divmod>;
  }
}
#endif

template <class T>
void remainders(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  constexpr npy_intp kBlock = 1024;
  const auto* loops = static_cast<const Remainder*>(data);
  const npy_intp n = dimensions[0];
  const T b = *reinterpret_cast<const T*>(args[1]);
  // Not what raises a flag: 0, and the least number by -1.
  if (steps[1] != 0 || steps[2] == 0 || n < 8 || b == 0 || b == T(-1))
    return loops->remainder.fn(args, dimensions, steps, loops->remainder.data);
  T quotients[kBlock], divisor = b;
  for (npy_intp i = 0; i < n; i += kBlock) {
    const npy_intp count = std::min(kBlock, n - i), to[] = {steps[0], 0, sizeof(T)};
    char *in = args[0] + i * steps[0], *out = args[2] + i * steps[2];
    char* of[] = {in, reinterpret_cast<char*>(&divisor), reinterpret_cast<char*>(quotients)};
    loops->quotient.fn(of, &count, to, loops->quotient.data);
    using Word = std::make_unsigned_t<decltype(T() * 1)>;
    auto left = [&](T a, T q) { return T(Word(a) - Word(q) * Word(b)); };
    if (steps[0] == sizeof(T) && steps[2] == sizeof(T)) {
      const T* x = reinterpret_cast<const T*>(in);
      T* y = reinterpret_cast<T*>(out);
      // An output is exactly an input or apart from it.
#pragma clang loop vectorize(assume_safety)
#pragma GCC ivdep
      for (npy_intp j = 0; j < count; ++j) y[j] = left(x[j], quotients[j]);
    } else {
      for (npy_intp j = 0; j < count; ++j)
        *reinterpret_cast<T*>(out + j * steps[2]) = left(*reinterpret_cast<const T*>(in + j * steps[0]), quotients[j]);
    }
  }
}

}  // namespace

Loop quotient_loop(Quotient what, char dtype) {
#if defined(__x86_64__)
  if (has_fma() && dtype == 'd') return of_dtype<npy_double>(what);
  if (has_fma() && dtype == 'f') return of_dtype<npy_float>(what);
#endif
  return nullptr;
}

Loop remainder_loop(char kind, int size) {
  if (kind != 'i' && kind != 'u') return nullptr;
  const bool sign = kind == 'i';
  switch (size) {
    case 1: return sign ? remainders<int8_t> : remainders<uint8_t>;
    case 2: return sign ? remainders<int16_t> : remainders<uint16_t>;
    case 4: return sign ? remainders<int32_t> : remainders<uint32_t>;
    default: return sign ? remainders<int64_t> : remainders<uint64_t>;
  }
}

}  // namespace lazyarray
