// Powers of negative numbers, four at once: the algorithm that NumPy's loop has for what its vectors leave alone (Intel's
// Short Vector Math Library, `pow` of high accuracy), which is double arithmetic without fused multiply-adds.
//
// A mantissa is multiplied by three reciprocals from tables, until it is next to one; its logarithm is the sum of theirs
// and of a polynomial, in two doubles. That times the exponent, in two doubles again, is a multiple of 1/128, whose power of
// two is from a table, and a rest.
#include "lazy/cpu/powers.h"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lazyarray {
namespace {

#if defined(__x86_64__)
#define WIDE [[gnu::target("avx2"), gnu::always_inline]] inline

typedef double Doubles __attribute__((vector_size(32)));
typedef int64_t Bits __attribute__((vector_size(32)));
constexpr npy_intp kLanes = 4;
constexpr int64_t kSign = std::numeric_limits<int64_t>::min();

// ---- tables ----------------------------------------------------------------------------------------

// In units of 2^-100, with a sign.
using Fraction = __int128;
constexpr int kFraction = 100, kHalf = kFraction / 2;
constexpr Fraction kOne = Fraction(1) << kFraction;

Fraction product(Fraction a, Fraction b) {
  const Fraction mask = (Fraction(1) << kHalf) - 1, high = a >> kHalf, low = a & mask, other = b >> kHalf, rest = b & mask;
  return high * other + ((high * rest + low * other) >> kHalf);
}
double nearest(Fraction x) {
  const double high = static_cast<double>(x);
  return std::ldexp(high, -kFraction);
}
// atanh(p / q), by its series.
Fraction area(int64_t p, int64_t q) {
  Fraction sum = 0, power = kOne * p / q;
  for (int n = 1; power; n += 2, power = power * p / q * p / q) sum += power / n;
  return sum;
}
Fraction exponential(Fraction x) {
  Fraction sum = 0, term = kOne;
  for (int n = 1; term; ++n) sum += term, term = product(term, x) / n;
  return sum;
}

// A reciprocal, and the binary logarithm of what it is the reciprocal of, in two parts.
struct Reciprocal {
  double value, log, log_rest, none;
};
struct Root {
  double value, rest;  // a power of two
};
struct Tables {
  std::array<Reciprocal, 33> first, second;
  std::array<Reciprocal, 129> third;
  std::array<Root, 128> roots;
};

// log2(e), as much of it as a factor of 23 bits holds. The third reciprocals have it.
constexpr double kScale = 0x1.715474p+0;

double rounded(double x, int bits) {
  int exponent;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(mantissa, bits) + 0.5), exponent - bits);
}

Tables tables() {
  const Fraction ln2 = 2 * area(1, 3);
  // log2(e) by Newton's iteration, from what a double has of it.
  Fraction log2e = static_cast<Fraction>(std::ldexp(0x1.71547652b82fep+0, 62)) << (kFraction - 62);
  for (int i = 0; i < 2; ++i) log2e += product(log2e, kOne - product(log2e, ln2));
  const auto made = [&](double value, double scale, bool halved) {
    const auto p = static_cast<int64_t>(std::ldexp(scale, 24)), q = static_cast<int64_t>(std::ldexp(value, 24));
    Fraction log = product(2 * area(p - q, p + q), log2e) - (halved ? kOne : 0);
    const Fraction grid = Fraction(1) << (kFraction - 42), rest = log % grid;
    return Reciprocal{value, nearest(log - rest), nearest(rest), 0};
  };
  Tables t;
  for (int k = 0; k < 33; ++k) {
    t.first[k] = made(rounded(32.0 / (32 + k), 15), 1, k >= 16);
    t.second[k] = made(rounded(k < 15 ? 512.0 / (512 + k) : 1024.0 / (992 + k), 15), 1, false);
  }
  for (int k = 0; k < 129; ++k)
    t.third[k] = made(rounded(kScale * (k < 61 ? 32768.0 / (32768 + k) : 65536.0 / (65408 + k)), 23), kScale, false);
  for (int k = 0; k < 128; ++k) {
    const Fraction power = exponential(ln2 * k / 128);
    const double value = nearest(power);
    t.roots[k] = {value, nearest(power - (static_cast<Fraction>(std::ldexp(value, 62)) << (kFraction - 62)))};
  }
  return t;
}

// ---- four at once ----------------------------------------------------------------------------------

WIDE Doubles all(double x) { return _mm256_set1_pd(x); }
WIDE Doubles of(Bits x) { return reinterpret_cast<Doubles>(x); }
WIDE Bits of(Doubles x) { return reinterpret_cast<Bits>(x); }

// A number as a sum of two whose products are exact.
struct Halves {
  Doubles high, low;
};
WIDE Halves halves(Doubles x) {
  const Doubles many = all(0x1.0000002p+27) * x, high = many - (many - x);
  return {high, x - high};
}

struct Found {
  Doubles value, log, log_rest;
};
WIDE Found look_up(const Reciprocal* table, Bits places) {
  const Doubles a = _mm256_loadu_pd(&table[places[0]].value), b = _mm256_loadu_pd(&table[places[1]].value);
  const Doubles c = _mm256_loadu_pd(&table[places[2]].value), d = _mm256_loadu_pd(&table[places[3]].value);
  const Doubles even = _mm256_unpacklo_pd(a, b), more_even = _mm256_unpacklo_pd(c, d);
  const Doubles odd = _mm256_unpackhi_pd(a, b), more_odd = _mm256_unpackhi_pd(c, d);
  return {_mm256_permute2f128_pd(even, more_even, 0x20), _mm256_permute2f128_pd(odd, more_odd, 0x20),
          _mm256_permute2f128_pd(even, more_even, 0x31)};
}

// Whole numbers of 32 bits, as doubles.
WIDE Doubles numbers(Bits x) {
  return Doubles{static_cast<double>(x[0]), static_cast<double>(x[1]), static_cast<double>(x[2]), static_cast<double>(x[3])};
}

// x to the power of y: positive normal numbers, y a whole number. `exponents`: the results', which tell whether they are
// normal numbers. Steps as the library has them, so that each is rounded as there.
WIDE Doubles powers_of(const Tables& t, Doubles x, double y, Bits* exponents) {
  const Bits high = of(x) >> 32;
  const Bits exponent = (high - 0x3fe7c000) >> 20;
  const Doubles m = of((of(x) & ((1LL << 52) - 1)) | (0x3ffLL << 52));
  const Found one = look_up(t.first.data(), ((((of(m) >> 32) & 0xfc000) + 0x4000) >> 15));
  Doubles reduced = one.value * m;
  const Found two = look_up(t.second.data(), ((((of(reduced) >> 32) & 0xfc00) + 0x400) >> 11));
  reduced *= two.value;
  const Found three = look_up(t.third.data(), ((((of(reduced) >> 32) & 0xff0) + 0x10) >> 5));
  reduced *= three.value;
  const Doubles log = ((numbers(exponent) + one.log) + two.log) + three.log;
  const Doubles left = reduced - all(kScale);

  // What `reduced` was rounded by.
  const Halves a = halves(m), b = halves((one.value * two.value) * three.value);
  const Doubles error = (((a.high * b.high - reduced) + b.high * a.low) + a.high * b.low) + a.low * b.low;
  const Doubles sum = log + left, sum_rest = (log - sum) + left;

  const Doubles z = left + error;
  Doubles p = all(-0x1.550472a9012d8p-4) * z + all(0x1.47fd462b6dee1p-3);
  p = p * z + all(-0x1.62e4346694107p-2);
  p = p * z + all(0x1.9c3a6966457e8p-24);
  p = p * z;
  const Doubles rest = (one.log_rest + (two.log_rest + three.log_rest)) + (error + sum_rest);
  const Doubles with = sum + p, with_rest = (sum - with) + p;
  const Doubles first = with + rest, first_rest = (with - first) + rest;

  // Times y.
  const Halves c = halves(first), e = halves(all(y));
  const Doubles low = (first_rest + with_rest) * all(y), whole = all(0x1.8p45), exact = e.high * c.high;
  const Doubles up = whole + exact;
  const Doubles f = (exact - (up - whole)) + (((e.high * c.low + c.low * e.low) + c.high * e.low) + low);

  const Bits places = of(up) & 127;
  const Doubles roots[2] = {{t.roots[places[0]].value, t.roots[places[1]].value, t.roots[places[2]].value, t.roots[places[3]].value},
                            {t.roots[places[0]].rest, t.roots[places[1]].rest, t.roots[places[2]].rest, t.roots[places[3]].rest}};
  Doubles q = all(0x1.5d87fe78a6731p-10) * f + all(0x1.3b2ab6fba4e77p-7);
  q = q * f + all(0x1.c6b08d704a0c0p-5);
  q = q * f + all(0x1.ebfbdff82c58fp-3);
  q = q * f + all(0x1.62e42fefa39efp-1);
  q = q * f;
  const Doubles found = (q * roots[0] + roots[1]) + roots[0];
  const Bits turns = ((of(up) & 0xffffffff) ^ 0x80000000LL) - 0x80000000LL;  // 32 bits, with their sign
  *exponents = (turns >> 7) + (of(found) >> 52);
  return of((of(found) & ((1LL << 52) - 1)) | (*exponents << 52));
}

// Negative and normal: what NumPy's vectors leave alone, but for what isn't such a number at all. By its bits, as a
// comparison with a NaN raises a flag.
bool is_for_us(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits - 0x8010000000000000 < 0x7fe0000000000000;
}
// Of whole numbers NumPy squares by itself.
bool is_exponent(double y) {
  return std::isgreaterequal(std::fabs(y), 2) && std::fabs(y) <= 1024 && y != 2 && y == std::floor(y);
}

constexpr npy_intp kBlock = 256;  // elements that are written out

bool has_negatives(const char* in, npy_intp step, npy_intp n) {
  int64_t any = 0, bits;
  if (step == sizeof bits)
    for (npy_intp i = 0; i < n; ++i) std::memcpy(&bits, in + i * static_cast<npy_intp>(sizeof bits), sizeof bits), any |= bits;
  else
    for (npy_intp i = 0; i < n; ++i) std::memcpy(&bits, in + i * step, sizeof bits), any |= bits;
  return any < 0;
}

// Of at most kBlock numbers to the power of one.
[[gnu::target("avx2")]] void block(const Tables& t, const Inner* numpys, char* in, npy_intp step, char* power, char* out,
                                   npy_intp out_step, npy_intp n) {
  constexpr int kTogether = 2;  // vectors, of which neither waits for the other
  double y, x[kBlock], found[kBlock], negatives[kBlock + kTogether * kLanes];
  std::memcpy(&y, power, sizeof y);
  int places[kBlock + 1], count = 0;
  for (npy_intp i = 0; i < n; ++i) {
    double each;
    std::memcpy(&each, in + i * step, sizeof each);
    const bool ours = is_for_us(each);
    x[i] = negatives[count] = ours ? -each : each;
    places[count] = static_cast<int>(i);
    count += ours;
  }
  const npy_intp one = 1, together[] = {sizeof(double), 0, sizeof(double)};
  char* at[] = {reinterpret_cast<char*>(x), power, reinterpret_cast<char*>(found)};
  numpys->fn(at, &n, together, numpys->data);
  std::fill(negatives + count, negatives + count + kTogether * kLanes, 1.0);
  const double sign = std::fmod(y, 2) != 0 ? -1 : 1;
  for (int i = 0; i < count; i += kTogether * kLanes) {
    Doubles powers[kTogether];
    Bits exponents[kTogether];
    for (int k = 0; k < kTogether; ++k) powers[k] = powers_of(t, _mm256_loadu_pd(negatives + i + k * kLanes), y, &exponents[k]);
    for (int l = 0; l < std::min(count - i, kTogether * static_cast<int>(kLanes)); ++l) {
      const int place = places[i + l];
      const int64_t exponent = exponents[l / kLanes][l % kLanes];
      if (exponent > 0 && exponent < 0x7ff) {
        found[place] = sign * powers[l / kLanes][l % kLanes];
      } else {
        x[place] = -x[place];
        char* alone[] = {reinterpret_cast<char*>(x + place), power, reinterpret_cast<char*>(found + place)};
        numpys->fn(alone, &one, together, numpys->data);
      }
    }
  }
  for (npy_intp i = 0; i < n; ++i) std::memcpy(out + i * out_step, found + i, sizeof *found);
}

[[gnu::target("avx2")]] void powers_wide(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  static const Tables t = tables();
  const auto* numpys = static_cast<const Inner*>(data);
  const npy_intp n = dimensions[0];
  double y;
  std::memcpy(&y, args[1], sizeof y);
  if (steps[1] != 0 || steps[2] == 0 || n < 2 || !is_exponent(y)) return numpys->fn(args, dimensions, steps, numpys->data);
  // All up to the next block that has negatives is NumPy's.
  for (npy_intp begin = 0, end = 0; begin < n; begin = end) {
    bool ours = false;
    npy_intp few = 0;
    for (; end < n && !ours; end += few) {
      few = std::min(n - end, kBlock);
      ours = has_negatives(args[0] + end * steps[0], steps[0], few);
    }
    if (const npy_intp before = end - begin - (ours ? few : 0)) {
      char* at[] = {args[0] + begin * steps[0], args[1], args[2] + begin * steps[2]};
      numpys->fn(at, &before, steps, numpys->data);
    }
    if (ours) block(t, numpys, args[0] + (end - few) * steps[0], steps[0], args[1], args[2] + (end - few) * steps[2], steps[2], few);
  }
}

// Whether the loop has the bits of NumPy's, for numbers of many sizes.
bool agrees(Loop loop, const Inner* numpys) {
  constexpr npy_intp kTried = 512, size = sizeof(double), steps[] = {size, 0, size};
  double x[kTried], ours[kTried], theirs[kTried];
  uint64_t state = 1;
  for (npy_intp i = 0; i < kTried; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruential generator, MMIX
    x[i] = std::ldexp(-static_cast<double>(state >> 11) * 0x1p-53 - 0.5, static_cast<int>(i % 41) - 20);
  }
  std::fexcept_t before;
  std::fegetexceptflag(&before, FE_ALL_EXCEPT);
  bool same = true;
  for (double y : {3.0, 4.0, 5.0, -2.0, -7.0, 12.0}) {
    char* mine[] = {reinterpret_cast<char*>(x), reinterpret_cast<char*>(&y), reinterpret_cast<char*>(ours)};
    char* his[] = {mine[0], mine[1], reinterpret_cast<char*>(theirs)};
    loop(mine, &kTried, steps, const_cast<Inner*>(numpys));
    numpys->fn(his, &kTried, steps, numpys->data);
    same = same && std::memcmp(ours, theirs, sizeof ours) == 0;
  }
  std::fesetexceptflag(&before, FE_ALL_EXCEPT);
  return same;
}
#endif

}  // namespace

Loop power_loop(const Inner* numpys) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && agrees(powers_wide, numpys)) return powers_wide;
#endif
  return nullptr;
}

}  // namespace lazyarray
