// sin and cos, several numbers at once: the algorithm of glibc's since 2.28 (IBM's Accurate Mathematical Library without
// its slow paths), as it is compiled for processors that fuse: what is fused there is fused here.
//
// A number is brought to within half of a quarter turn from zero, as a sum of two doubles. Its sine and cosine are those
// of the nearest multiple of 1/128, from a table, and of what is left, by polynomials.
#include "lazy/cpu/sines.h"

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

#include "lazy/cpu/vectors.h"

namespace lazyarray {
namespace {

#if defined(__x86_64__)
#define WIDE [[gnu::target("avx2,fma"), gnu::always_inline]] inline

typedef double Doubles __attribute__((vector_size(32)));
typedef int64_t Bits __attribute__((vector_size(32)));
constexpr npy_intp kLanes = 4;
constexpr int64_t kSign = std::numeric_limits<int64_t>::min();

// Of a multiple of 1/128: the nearest doubles, and what they lack.
struct Node {
  double sine, sine_rest, cosine, cosine_rest;
};
constexpr int kNodes = 110;  // none is further from zero than 109.5 / 128
using Table = std::array<Node, kNodes>;

// In units of 2^-112: a digit more than the two doubles have.
using Fraction = unsigned __int128;
constexpr int kFraction = 112;

struct Rounded {
  double nearest;
  Fraction left;  // what it lacks, ...
  bool above;     // ... or has too much
};
Rounded rounded(Fraction x) {
  int bits = 0;
  while (x >> bits) ++bits;
  const int dropped = std::max(bits - std::numeric_limits<double>::digits, 0);
  Fraction kept = x >> dropped, left = x - (kept << dropped);
  const bool above = dropped && left >> (dropped - 1);
  if (above) left = (++kept << dropped) - x;
  return {std::ldexp(static_cast<double>(static_cast<uint64_t>(kept)), dropped - kFraction), left, above};
}

// By Taylor's series.
Table nodes() {
  Table table;
  for (int k = 0; k < kNodes; ++k) {
    Fraction sums[2] = {}, term = Fraction(1) << kFraction;  // (k / 128)^n / n!, of the cosine and of the sine
    for (int n = 0; term; ++n, term = term * k / (128 * n)) sums[n % 2] += n & 2 ? -term : term;
    double found[2][2];
    for (int which = 0; which < 2; ++which) {
      const Rounded number = rounded(sums[which]), rest = rounded(number.left);
      found[which][0] = number.nearest;
      found[which][1] = number.above ? -rest.nearest : rest.nearest;
    }
    table[k] = {found[1][0], found[1][1], found[0][0], found[0][1]};
  }
  return table;
}

WIDE Doubles all(double x) { return _mm256_set1_pd(x); }
WIDE Doubles fused(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }      // a * b + c
WIDE Doubles fused_off(Doubles a, Doubles b, Doubles c) { return _mm256_fnmadd_pd(a, b, c); }  // c - a * b
WIDE Doubles fused_less(Doubles a, Doubles b, Doubles c) { return _mm256_fmsub_pd(a, b, c); }  // a * b - c
WIDE Doubles of(Bits x) { return reinterpret_cast<Doubles>(x); }
WIDE Bits of(Doubles x) { return reinterpret_cast<Bits>(x); }
WIDE Doubles either(Doubles yes, Doubles no, Bits which) { return _mm256_blendv_pd(no, yes, of(which)); }
WIDE int lanes(Bits which) { return _mm256_movemask_pd(of(which)); }

// first + rest, behind so many quarter turns.
struct Angle {
  Doubles first, rest;
  Bits turns;
};
WIDE Angle either(const Angle& yes, const Angle& no, Bits which) {
  return {either(yes.first, no.first, which), either(yes.rest, no.rest, which), of(either(of(yes.turns), of(no.turns), which))};
}

// x brought to within half of a quarter turn from zero. Multiples of the first two of the four parts of pi / 2 are exact.
WIDE Angle turned_back(Doubles x) {
  const Doubles round = all(0x1.8p52), up = fused(x, all(0x1.45f306dc9c883p-1), round), n = up - round;
  const Doubles third = all(-0x1.cb3b398p-55), fourth = all(-0x1.d747f23e32ed7p-83);
  const Doubles y = fused_off(n, all(-0x1.dde973cp-27), fused_off(n, all(0x1.921fb58p+0), x));
  const Doubles z = fused_off(n, third, y), first = fused_off(n, fourth, z);
  return {first, fused_off(third, n, y - z) + fused_off(n, fourth, z - first), of(up)};
}

// What x lacks to a quarter turn: its sine is the cosine of that, and its cosine the sine.
template <bool cosine>
WIDE Angle lacking(Doubles x) {
  const Doubles first = all(0x1.921fb54442d18p+0) - of(of(x) & ~kSign), rest = all(0x1.1a62633145c07p-54);
  if constexpr (cosine) {
    const Doubles both = first + rest;
    return {both, (first - both) + rest, Bits{}};
  } else {
    return {first, rest, 1 + (Bits(of(x) < 0) & 2)};
  }
}

// For each lane the node next to it.
struct Around {
  Doubles sine, sine_rest, cosine, cosine_rest;
};
WIDE Around around(const Node* table, Bits places) {
  const Doubles a = _mm256_loadu_pd(&table[places[0]].sine), b = _mm256_loadu_pd(&table[places[1]].sine);
  const Doubles c = _mm256_loadu_pd(&table[places[2]].sine), d = _mm256_loadu_pd(&table[places[3]].sine);
  const Doubles numbers = _mm256_unpacklo_pd(a, b), more_numbers = _mm256_unpacklo_pd(c, d);
  const Doubles rests = _mm256_unpackhi_pd(a, b), more_rests = _mm256_unpackhi_pd(c, d);
  return {_mm256_permute2f128_pd(numbers, more_numbers, 0x20), _mm256_permute2f128_pd(rests, more_rests, 0x20),
          _mm256_permute2f128_pd(numbers, more_numbers, 0x31), _mm256_permute2f128_pd(rests, more_rests, 0x31)};
}

WIDE Doubles sine_polynomial(Doubles xx) { return fused(all(0x1.11110e829872fp-7), xx, all(-0x1.5555555555515p-3)); }
WIDE Doubles cosine_polynomial(Doubles xx) {
  return fused(fused(all(0x1.6c16bedd9e239p-10), xx, all(-0x1.5555555555535p-5)), xx, all(0.5));
}

// The sine and cosine of a node + left + rest.
WIDE Doubles sine_from(const Around& node, Doubles left, Doubles rest) {
  const Doubles xx = left * left, s = left + fused(left * xx, sine_polynomial(xx), rest);
  const Doubles c = fused(left, rest, xx * cosine_polynomial(xx));
  return node.sine + fused(s, node.cosine, fused_off(node.sine, c, fused(s, node.cosine_rest, node.sine_rest)));
}
WIDE Doubles cosine_from(const Around& node, Doubles left, Doubles rest) {
  const Doubles x = left + rest, xx = x * x, s = fused(x * xx, sine_polynomial(xx), x), c = xx * cosine_polynomial(xx);
  return node.cosine + fused_off(s, node.sine, fused_off(c, node.cosine, fused_off(s, node.sine_rest, node.cosine_rest)));
}

// The sine of x + rest, nearer to zero than kSmall.
constexpr double kSmall = 0.126;
WIDE Doubles small_sine(Doubles x, Doubles rest) {
  const Doubles xx = x * x;
  Doubles sum = fused(all(-0x1.addffc2fcdf59p-26), xx, all(0x1.71de27b9a7ed9p-19));
  sum = fused(sum, xx, all(-0x1.a01a019db08b8p-13));
  sum = fused(sum, xx, all(0x1.1111111110ecep-7));
  sum = fused(sum, xx, all(-0x1.5555555555555p-3));
  return x + fused(xx, fused_less(sum, x, rest * all(0.5)), rest);
}

// False if the C library had better do it: for numbers that are tiny, or very large, or none.
template <bool cosine>
WIDE bool sines_of(const Node* table, Doubles x, Doubles* to) {
  constexpr int64_t least = 0x3e5LL << 52, far = 0x3feb6LL << 44, farther = 0x400368fdLL << 32, most = 0x419921fbLL << 32;
  const Bits size = of(x) & ~kSign;
  if (lanes((size < least) | (size >= most))) return false;
  Angle angle = {x, Doubles{}, Bits{} + cosine};
  if (lanes(size >= far)) {
    angle = either(lacking<cosine>(x), angle, size >= far);
    if (lanes(size >= farther)) {
      Angle back = turned_back(x);
      back.turns += cosine;
      angle = either(back, angle, size >= farther);
    }
  }
  const Bits sign = of(angle.first) & kSign, odd = (angle.turns & 1) != 0;
  const Doubles first = of(of(angle.first) & ~kSign), rest = of(of(angle.rest) ^ sign);
  const Doubles round = all(0x1.8p45), up = round + first, left = first - (up - round);
  const Around node = around(table, of(up) & 127);
  Doubles found = {};
  if (lanes(odd) != (1 << kLanes) - 1) {
    found = of(of(sine_from(node, left, rest)) | sign);
    if (const Bits small = first < all(kSmall); lanes(small)) found = either(small_sine(angle.first, angle.rest), found, small);
  }
  if (lanes(odd)) found = either(cosine_from(node, left, rest), found, odd);
  *to = of(of(found) ^ ((angle.turns & 2) << 62));
  return true;
}

template <bool cosine>
[[gnu::target("avx2,fma")]] void sines_wide(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  static const Table table = nodes();
  const auto* numpys = static_cast<const Inner*>(data);
  npy_intp n = dimensions[0];
  if (n < 2) return numpys->fn(args, dimensions, steps, numpys->data);
  char *in = args[0], *out = args[1];
  for (npy_intp few; n > 0; n -= few, in += few * steps[0], out += few * steps[1]) {
    few = std::min(n, kLanes);
    Doubles x = {1, 1, 1, 1}, found;
    if (few == kLanes) {
      x = load<double, Doubles>(in, steps[0]);
    } else {
      for (npy_intp i = 0; i < few; ++i) x[i] = *reinterpret_cast<const double*>(in + i * steps[0]);
    }
    if (!sines_of<cosine>(table.data(), x, &found)) {
      char* at[] = {in, out};
      numpys->fn(at, &few, steps, numpys->data);
    } else if (few == kLanes) {
      store<double, Doubles>(out, steps[1], found);
    } else {
      for (npy_intp i = 0; i < few; ++i) *reinterpret_cast<double*>(out + i * steps[1]) = found[i];
    }
  }
}

// Whether the loop has the bits of NumPy's: near zero, between turns, and around multiples of half of a quarter turn.
bool agrees(Loop loop, const Inner* numpys) {
  constexpr npy_intp kTried = 2048, size = sizeof(double);
  double x[kTried], ours[kTried], theirs[kTried];
  uint64_t state = 1;
  for (npy_intp i = 0; i < kTried; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruential generator, MMIX
    const double number = static_cast<double>(static_cast<int64_t>(state)) * 0x1p-63;  // from -1 to 1
    x[i] = i % 4 == 0 ? number : i % 4 == 1 ? 4 * number : i % 4 == 2 ? std::ldexp(number, static_cast<int>(i % 50) - 24)
                               : static_cast<double>(i - kTried / 2) * 0x1.921fb54442d18p-1 + std::ldexp(number, -static_cast<int>(i % 30));
  }
  std::fexcept_t before;
  std::fegetexceptflag(&before, FE_ALL_EXCEPT);
  const npy_intp steps[] = {size, size};
  char* mine[] = {reinterpret_cast<char*>(x), reinterpret_cast<char*>(ours)};
  char* his[] = {reinterpret_cast<char*>(x), reinterpret_cast<char*>(theirs)};
  loop(mine, &kTried, steps, const_cast<Inner*>(numpys));
  numpys->fn(his, &kTried, steps, numpys->data);
  std::fesetexceptflag(&before, FE_ALL_EXCEPT);
  return std::memcmp(ours, theirs, sizeof ours) == 0;
}
#endif

}  // namespace

Loop sine_loop(bool cosine, const Inner* numpys) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return nullptr;
  const Loop loop = cosine ? sines_wide<true> : sines_wide<false>;
  if (agrees(loop, numpys)) return loop;
#endif
  return nullptr;
}

}  // namespace lazyarray
