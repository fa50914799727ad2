// Powers of negative numbers, four doubles or eight singles at once: the algorithms that NumPy's loops have for what their
// vectors leave alone (Intel's Short Vector Math Library, `pow` of high and `powf` of low accuracy), which are plain
// arithmetic in the dtype, without fused multiply-adds.
//
// A mantissa is multiplied by three reciprocals from tables, until it is next to one; its logarithm is the sum of theirs
// and of a polynomial, in two numbers. That times the exponent, in two numbers again, is a multiple of 1/128, whose power
// of two is from a table, and a rest.
#include "lazy/cpu/powers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lazy/cpu/trial.h"
#include "lazy/processor.h"

namespace lazyarray {
namespace {

#if defined(__x86_64__)
#define WIDE [[gnu::target("avx2"), gnu::always_inline]] inline

// What differs between the two dtypes: the constants of the algorithm, too.
template <class T>
struct Of;
template <>
struct Of<double> {
  using Word = int64_t;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr Word least_mantissa = 0x3fe7c000LL << 32;  // the smallest whose exponent counts as zero
  // Of each table: how many parts it has, up to which of them the reciprocals are those of numbers above one, these
  // numbers' distance, and the reciprocals' bits.
  static constexpr int firsts = 32, seconds = 32, thirds = 128;
  static constexpr int second_turn = 15, third_turn = 61, second_parts = 512, third_parts = 32768;
  static constexpr int few_bits = 15, more_bits = 23, log_bits = 42, root_bits = 53;
  static constexpr double scale = 0x1.715474p+0, splits = 0x1.0000002p+27, whole = 0x1.8p45;
  static constexpr double log[] = {-0x1.550472a9012d8p-4, 0x1.47fd462b6dee1p-3, -0x1.62e4346694107p-2,
                                   0x1.9c3a6966457e8p-24};
  static constexpr double power[] = {0x1.5d87fe78a6731p-10, 0x1.3b2ab6fba4e77p-7, 0x1.c6b08d704a0c0p-5,
                                     0x1.ebfbdff82c58fp-3, 0x1.62e42fefa39efp-1};
  // Bits of `whole` + x that are x in units of 1/128, and exponents for which they are enough.
  static constexpr int turns = 32, most = 1024;
};
template <>
struct Of<float> {
  using Word = int32_t;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr Word least_mantissa = 0x3f380000;
  static constexpr int firsts = 8, seconds = 8, thirds = 16;
  static constexpr int second_turn = 3, third_turn = 5, second_parts = 32, third_parts = 256;
  static constexpr int few_bits = 7, more_bits = 10, log_bits = 17, root_bits = 23;
  static constexpr float scale = 0x1.71p+0f, splits = 0x1.001p+12f, whole = 0x1.8p16f;
  static constexpr float log[] = {-0x1.563d42p-4f, 0x1.48ded2p-3f, -0x1.6386bap-2f, 0x1.d4c6d2p-11f};
  static constexpr float power[] = {0x1.c6b08ep-5f, 0x1.ebfbe0p-3f, 0x1.62e430p-1f};
  static constexpr int turns = 22, most = 100;
};

template <class T>
struct VectorsOf {
  typedef T Numbers __attribute__((vector_size(32)));
  typedef typename Of<T>::Word Bits __attribute__((vector_size(32)));
};
template <class T> using Numbers = typename VectorsOf<T>::Numbers;
template <class T> using Bits = typename VectorsOf<T>::Bits;
template <class T>
constexpr int kLanes = 32 / sizeof(T);

// ---- tables ----------------------------------------------------------------------------------------

// In units of 2^-100, with a sign.
using Fraction = __int128;
constexpr int kFraction = 100, kHalf = kFraction / 2;
constexpr Fraction kOne = Fraction(1) << kFraction;

Fraction product(Fraction a, Fraction b) {
  const Fraction mask = (Fraction(1) << kHalf) - 1, high = a >> kHalf, low = a & mask, other = b >> kHalf, rest = b & mask;
  return high * other + ((high * rest + low * other) >> kHalf);
}
template <class T>
T nearest(Fraction x) {
  return std::ldexp(static_cast<T>(x), -kFraction);
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

double rounded(double x, int bits) {
  int exponent;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::rint(std::ldexp(mantissa, bits)), exponent - bits);
}

// A number of few bits, and what it lacks.
template <class T>
struct Two {
  T value, rest;
};
template <class T>
Two<T> two(Fraction x) {
  const double value = rounded(nearest<double>(x), Of<T>::root_bits);
  return {static_cast<T>(value), nearest<T>(x - (static_cast<Fraction>(std::ldexp(value, 62)) << (kFraction - 62)))};
}

// A reciprocal, and the binary logarithm of what it is the reciprocal of: a part of few bits, and the rest.
template <class T>
struct Reciprocal {
  T value;
  Two<T> log;
};
// `scale` is log2(e), as much of it as a factor of few bits holds. The third reciprocals have it.
template <class T>
struct Tables {
  std::array<Reciprocal<T>, Of<T>::firsts + 1> first;
  std::array<Reciprocal<T>, Of<T>::seconds + 1> second;
  std::array<Reciprocal<T>, Of<T>::thirds + 1> third;
  std::array<Two<T>, 128> roots;  // powers of two
};

template <class T>
Tables<T> tables() {
  const Fraction ln2 = 2 * area(1, 3);
  // log2(e) by Newton's iteration, from what a double has of it.
  Fraction log2e = static_cast<Fraction>(std::ldexp(0x1.71547652b82fep+0, 62)) << (kFraction - 62);
  for (int i = 0; i < 2; ++i) log2e += product(log2e, kOne - product(log2e, ln2));
  const auto made = [&](double value, double scale, bool halved) {
    const auto p = static_cast<int64_t>(std::ldexp(scale, 24)), q = static_cast<int64_t>(std::ldexp(value, 24));
    const Fraction log = product(2 * area(p - q, p + q), log2e) - (halved ? kOne : 0);
    const Fraction rest = log % (Fraction(1) << (kFraction - Of<T>::log_bits));
    return Reciprocal<T>{static_cast<T>(value), {nearest<T>(log - rest), nearest<T>(rest)}};
  };
  // The reciprocal of a number that is k parts above one, or, from a turn on, as many half parts below as it lacks.
  const auto of_part = [](int k, int turn, int parts, int all) {
    return k < turn ? parts / (parts + double(k)) : 2 * parts / (2 * parts + double(k - all));
  };
  Tables<T> t;
  for (int k = 0; k <= Of<T>::firsts; ++k)
    t.first[k] = made(rounded(Of<T>::firsts / (Of<T>::firsts + double(k)), Of<T>::few_bits), 1, 2 * k >= Of<T>::firsts);
  for (int k = 0; k <= Of<T>::seconds; ++k)
    t.second[k] = made(
        rounded(of_part(k, Of<T>::second_turn, Of<T>::second_parts, Of<T>::seconds), Of<T>::few_bits), 1, false);
  for (int k = 0; k <= Of<T>::thirds; ++k)
    t.third[k] = made(
        rounded(Of<T>::scale * of_part(k, Of<T>::third_turn, Of<T>::third_parts, Of<T>::thirds), Of<T>::more_bits),
        Of<T>::scale, false);
  for (int k = 0; k < 128; ++k) t.roots[k] = two<T>(exponential(ln2 * k / 128));
  return t;
}

// ---- several at once -------------------------------------------------------------------------------

template <class T> WIDE Numbers<T> of(Bits<T> x) { return reinterpret_cast<Numbers<T>>(x); }
template <class T> WIDE Bits<T> bits(Numbers<T> x) { return reinterpret_cast<Bits<T>>(x); }

// A number as a sum of two whose products are exact.
template <class T>
struct Halves {
  Numbers<T> high, low;
};
template <class T>
WIDE Halves<T> halves(Numbers<T> x) {
  const Numbers<T> many = Of<T>::splits * x, high = many - (many - x);
  return {high, x - high};
}

template <class T>
struct Found {
  Numbers<T> value, log, log_rest;
};
template <class T>
WIDE Found<T> look_up(const Reciprocal<T>* table, Bits<T> places) {
  Found<T> found;
  for (int l = 0; l < kLanes<T>; ++l) {
    const Reciprocal<T>& each = table[places[l]];
    found.value[l] = each.value;
    found.log[l] = each.log.value;
    found.log_rest[l] = each.log.rest;
  }
  return found;
}

// Which of so many parts, and one more, x is nearest to: by the bits of its mantissa behind the first few.
template <class T>
WIDE Bits<T> part(Numbers<T> x, int skipped, int parts) {
  const int width = __builtin_ctz(parts) + 1, shift = Of<T>::mantissa - skipped - width;
  const typename Of<T>::Word one = 1;
  return ((bits<T>(x) & (((one << width) - 1) << shift)) + (one << shift)) >> (shift + 1);
}

// a + b, and what is rounded off, where a is the larger one.
template <class T>
struct Sum {
  Numbers<T> value, rest;
};
template <class T>
WIDE Sum<T> sum(Numbers<T> a, Numbers<T> b) {
  const Numbers<T> value = a + b;
  return {value, (a - value) + b};
}

template <class T, size_t n>
WIDE Numbers<T> polynomial(const T (&coefficients)[n], Numbers<T> x) {
  Numbers<T> value = coefficients[0] * x;
  for (size_t i = 1; i < n; ++i) value = (value + coefficients[i]) * x;
  return value;
}

// x to the power of y: positive normal numbers, y a whole number. `exponents`: the results', which tell whether they are
// normal numbers. In the library's order, so that each step is rounded as there.
template <class T>
WIDE Numbers<T> powers_of(const Tables<T>& t, Numbers<T> x, T y, Bits<T>* exponents) {
  constexpr bool single = sizeof(T) == 4;
  constexpr typename Of<T>::Word fraction = (typename Of<T>::Word(1) << Of<T>::mantissa) - 1;
  const Bits<T> exponent = (bits<T>(x) - Of<T>::least_mantissa) >> Of<T>::mantissa;
  const Numbers<T> m = of<T>((bits<T>(x) & fraction) | (typename Of<T>::Word(Of<T>::bias) << Of<T>::mantissa));
  const Found<T> one = look_up<T>(t.first.data(), part<T>(m, 0, Of<T>::firsts));
  Numbers<T> reduced = one.value * m;
  const Found<T> two = look_up<T>(t.second.data(), part<T>(reduced, single ? 2 : 4, Of<T>::seconds));
  reduced *= two.value;
  const Found<T> three = look_up<T>(t.third.data(), part<T>(reduced, single ? 4 : 8, Of<T>::thirds));
  reduced *= three.value;

  // What `reduced` was rounded by.
  const Halves<T> a = halves<T>(m), b = halves<T>((one.value * two.value) * three.value);
  const Numbers<T> error = (((a.high * b.high - reduced) + b.high * a.low) + a.high * b.low) + a.low * b.low;
  const Numbers<T> left = reduced - Of<T>::scale, z = left + error;

  // The logarithm. Doubles' parts of few bits add up without a rest.
  const Sum<T> s1 = sum<T>(__builtin_convertvector(exponent, Numbers<T>), one.log), s2 = sum<T>(s1.value, two.log);
  const Sum<T> s3 = sum<T>(s2.value, three.log), all = sum<T>(s3.value, left);
  Numbers<T> rest;
  if constexpr (single) rest = three.log_rest + (two.log_rest + (one.log_rest + (s3.rest + (s1.rest + s2.rest))));
  else rest = one.log_rest + (two.log_rest + three.log_rest);
  const Sum<T> with = sum<T>(all.value, polynomial<T>(Of<T>::log, z)), log = sum<T>(with.value, rest + (error + all.rest));

  // Times y.
  const Halves<T> c = halves<T>(log.value), e = halves<T>(Numbers<T>{} + y);
  const Numbers<T> low = (log.rest + with.rest) * y, exact = e.high * c.high;
  Numbers<T> first = exact, last;
  if constexpr (single) {
    const Sum<T> most = sum<T>(exact, e.high * c.low + c.high * e.low);
    first = most.value;
    last = (c.low * e.low + most.rest) + low;
  } else {
    last = ((e.high * c.low + c.low * e.low) + c.high * e.low) + low;
  }
  const Numbers<T> up = Of<T>::whole + first, f = (first - (up - Of<T>::whole)) + last;

  const Bits<T> places = bits<T>(up) & 127;
  Numbers<T> root, root_rest;
  for (int l = 0; l < kLanes<T>; ++l) {
    root[l] = t.roots[places[l]].value;
    root_rest[l] = t.roots[places[l]].rest;
  }
  const Numbers<T> found = (polynomial<T>(Of<T>::power, f) * root + root_rest) + root;
  constexpr int unused = 8 * sizeof(T) - Of<T>::turns;
  *exponents = ((bits<T>(up) << unused) >> (unused + 7)) + (bits<T>(found) >> Of<T>::mantissa);
  return of<T>((bits<T>(found) & fraction) | (*exponents << Of<T>::mantissa));
}

// Negative and normal: what NumPy's vectors leave alone, but for what isn't such a number at all. By its bits, as a
// comparison with a NaN raises a flag.
template <class T>
bool is_for_us(T x) {
  using Word = std::make_unsigned_t<typename Of<T>::Word>;
  constexpr Word least = Word(1) << Of<T>::mantissa, sign = Word(1) << (8 * sizeof(T) - 1);
  Word word;
  std::memcpy(&word, &x, sizeof word);
  return static_cast<Word>(word - sign - least) < 2 * Of<T>::bias * least;
}
// Of whole numbers NumPy squares by itself.
template <class T>
bool is_exponent(T y) {
  return std::isgreaterequal(std::fabs(y), 2) && std::fabs(y) <= Of<T>::most && y != 2 && y == std::floor(y);
}

constexpr npy_intp kBlock = 256;  // elements that are written out

constexpr npy_intp kSparse = 48;  // one negative number of so many is better left to NumPy's loop

template <class T>
bool has_many_negatives(const char* in, npy_intp step, npy_intp n) {
  typename Of<T>::Word count = 0, word;
  constexpr npy_intp size = sizeof(T);
  if (step == size)
    for (npy_intp i = 0; i < n; ++i) std::memcpy(&word, in + i * size, size), count += word < 0;
  else
    for (npy_intp i = 0; i < n; ++i) std::memcpy(&word, in + i * step, size), count += word < 0;
  return count * kSparse > n;
}

// Of at most kBlock numbers to the power of one.
template <class T>
[[gnu::target("avx2")]] void block_wide(const Tables<T>& t, const Inner* numpys, char* in, npy_intp step, char* power,
                                        char* out, npy_intp out_step, npy_intp n) {
  constexpr int vectors = 2, together = vectors * kLanes<T>;  // of the vectors neither waits for the other
  T y, x[kBlock], found[kBlock], negatives[kBlock + together];
  std::memcpy(&y, power, sizeof y);
  int places[kBlock + 1], count = 0;
  for (npy_intp i = 0; i < n; ++i) {
    T each;
    std::memcpy(&each, in + i * step, sizeof each);
    const bool ours = is_for_us(each);
    x[i] = negatives[count] = ours ? -each : each;
    places[count] = static_cast<int>(i);
    count += ours;
  }
  const npy_intp one = 1, steps[] = {sizeof(T), 0, sizeof(T)};
  char* at[] = {reinterpret_cast<char*>(x), power, reinterpret_cast<char*>(found)};
  numpys->fn(at, &n, steps, numpys->data);
  std::fill(negatives + count, negatives + count + together, T(1));
  const T sign = std::fmod(y, T(2)) != 0 ? -1 : 1;
  for (int i = 0; i < count; i += together) {
    T powers[together];
    typename Of<T>::Word exponents[together];
    for (int k = 0; k < together; k += kLanes<T>) {
      Numbers<T> base;
      Bits<T> theirs;
      std::memcpy(&base, negatives + i + k, sizeof base);
      base = powers_of<T>(t, base, y, &theirs);
      std::memcpy(powers + k, &base, sizeof base);
      std::memcpy(exponents + k, &theirs, sizeof theirs);
    }
    for (int l = 0; l < std::min(count - i, together); ++l) {
      const int place = places[i + l];
      if (exponents[l] > 0 && exponents[l] <= 2 * Of<T>::bias) {
        found[place] = sign * powers[l];
      } else {
        x[place] = -x[place];
        char* alone[] = {reinterpret_cast<char*>(x + place), power, reinterpret_cast<char*>(found + place)};
        numpys->fn(alone, &one, steps, numpys->data);
      }
    }
  }
  for (npy_intp i = 0; i < n; ++i) std::memcpy(out + i * out_step, found + i, sizeof *found);
}

template <class T>
void powers(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  static const Tables<T> t = tables<T>();
  const auto* numpys = static_cast<const Inner*>(data);
  const npy_intp n = dimensions[0];
  T y;
  std::memcpy(&y, args[1], sizeof y);
  // (Backwards NumPy goes by the C library.)
  if (steps[0] < 0 || steps[1] != 0 || steps[2] <= 0 || n < 2 || !is_exponent(y))
    return numpys->fn(args, dimensions, steps, numpys->data);
  // All up to the next block that has many negatives is NumPy's.
  for (npy_intp begin = 0, end = 0; begin < n; begin = end) {
    bool ours = false;
    npy_intp few = 0;
    for (; end < n && !ours; end += few) {
      few = std::min(n - end, kBlock);
      ours = has_many_negatives<T>(args[0] + end * steps[0], steps[0], few);
    }
    if (const npy_intp before = end - begin - (ours ? few : 0)) {
      char* at[] = {args[0] + begin * steps[0], args[1], args[2] + begin * steps[2]};
      numpys->fn(at, &before, steps, numpys->data);
    }
    if (!ours) continue;
    const npy_intp at = end - few;
    block_wide(t, numpys, args[0] + at * steps[0], steps[0], args[1], args[2] + at * steps[2], steps[2], few);
  }
}

// Whether the loop has the bits of NumPy's, for numbers of many sizes.
template <class T>
bool agrees(Loop loop, const Inner* numpys) {
  constexpr npy_intp kTried = 512, steps[] = {sizeof(T), 0, sizeof(T)};
  T x[kTried];
  TrialNumbers numbers;
  for (npy_intp i = 0; i < kTried; ++i)
    x[i] = std::ldexp(static_cast<T>(numbers.next() / 2 - 1), static_cast<int>(i % 21) - 10);
  bool same = true;
  for (T y : {3, 4, 5, -2, -7, 12}) {
    char* args[] = {reinterpret_cast<char*>(x), reinterpret_cast<char*>(&y), nullptr};
    same = same && writes_the_same(loop, numpys, args, 2, kTried, steps, sizeof x);
  }
  return same;
}
#endif

}  // namespace

Loop power_loop(char dtype, const Inner* numpys) {
#if defined(__x86_64__)
  if (!has_avx2()) return nullptr;
  if (dtype == 'd' && agrees<double>(powers<double>, numpys)) return powers<double>;
  if (dtype == 'f' && agrees<float>(powers<float>, numpys)) return powers<float>;
#endif
  return nullptr;
}

}  // namespace lazyarray
