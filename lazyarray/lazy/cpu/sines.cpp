// sin, cos and exp of complex numbers, several at once: the algorithm of glibc's since 2.28 (IBM's Accurate Mathematical
// Library without its slow paths), as it is compiled for processors that fuse: what is fused there is fused here.
//
// A number is brought to within half of a quarter turn from zero, as a sum of two doubles. Its sine and cosine are those
// of the nearest multiple of 1/128, from a table, and of what is left, by polynomials. The exponential of a complex
// number has both, times that of its real part, which is the C library's.
#include "lazy/cpu/sines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "lazy/cpu/trial.h"
#include "lazy/cpu/vectors.h"
#include "lazy/processor.h"

namespace lazyarray {
namespace {

#if defined(__x86_64__)
#define WIDE [[gnu::target("avx2,fma"), gnu::always_inline]] inline

constexpr int64_t kSign = std::numeric_limits<int64_t>::min();

// Of a multiple of 1/128: the nearest doubles, and what they lack.
struct Node {
  double sine, sine_rest, cosine, cosine_rest;
};
constexpr int kNodes = 128;  // places have seven bits; those needed are below 109.5 / 128
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

// first + rest, behind so many quarter turns.
struct Angle {
  Doubles first, rest;
  Bits turns;
};
using lazyarray::either;
WIDE Angle either(const Angle& yes, const Angle& no, Bits which) {
  return {either(yes.first, no.first, which), either(yes.rest, no.rest, which), either(yes.turns, no.turns, which)};
}

// x brought to within half of a quarter turn from zero. Multiples of the first two of the four parts of pi / 2 are exact.
WIDE Angle turned_back(Doubles x) {
  const Doubles round = all(0x1.8p52), up = fused(x, all(0x1.45f306dc9c883p-1), round), n = up - round;
  const Doubles third = all(-0x1.cb3b398p-55), fourth = all(-0x1.d747f23e32ed7p-83);
  const Doubles y = fused_off(n, all(-0x1.dde973cp-27), fused_off(n, all(0x1.921fb58p+0), x));
  const Doubles z = fused_off(n, third, y), first = fused_off(n, fourth, z);
  return {first, fused_off(third, n, y - z) + fused_off(n, fourth, z - first), of(up)};
}

// What x lacks to a quarter turn: its sine is the cosine of that, and its cosine the sine. `turns` are the sine's. glibc's
// sin leaves it in two parts.
template <bool whole>
WIDE Angle lacking(Doubles x) {
  const Doubles first = all(0x1.921fb54442d18p+0) - of(of(x) & ~kSign), rest = all(0x1.1a62633145c07p-54);
  const Bits turns = 1 + (Bits(of(x) < 0) & 2);
  if constexpr (!whole) return {first, rest, turns};
  const Doubles both = first + rest;
  return {both, (first - both) + rest, turns};
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

// What the C library had better do: numbers that are tiny, or very large, or none.
constexpr int64_t kLeast = 0x3e5LL << 52, kFar = 0x3feb6LL << 44, kFarther = 0x400368fdLL << 32, kMost = 0x419921fbLL << 32;
WIDE bool left_alone(Bits size) { return lanes((size < kLeast) | (size >= kMost)); }

// Its node, what is left, and its sign: what sine and cosine are computed from.
struct Near {
  Around node;
  Doubles first, left, rest;
  Bits sign;
};
WIDE Near near(const Node* table, const Angle& angle) {
  const Bits sign = of(angle.first) & kSign;
  const Doubles first = of(of(angle.first) & ~kSign), round = all(0x1.8p45), up = round + first;
  return {around(table, of(up) & 127), first, first - (up - round), of(of(angle.rest) ^ sign), sign};
}
WIDE Doubles sine_of(const Angle& angle, const Near& at) {
  const Doubles found = of(of(sine_from(at.node, at.left, at.rest)) | at.sign);
  const Bits small = at.first < all(kSmall);
  return lanes(small) ? either(small_sine(angle.first, angle.rest), found, small) : found;
}
WIDE Doubles negated(Doubles x, Bits turns) { return of(of(x) ^ ((turns & 2) << 62)); }

// x near zero, with the sine's turns. The cosine's are others.
template <bool whole>
WIDE Angle brought_near(Doubles x, Bits size, Bits* cosines_turns) {
  Angle angle = {x, Doubles{}, Bits{}};
  *cosines_turns = Bits{} + 1;
  if (lanes(size >= kFar)) {
    angle = either(lacking<whole>(x), angle, size >= kFar);
    *cosines_turns = either(Bits{}, *cosines_turns, size >= kFar);
    if (lanes(size >= kFarther)) {
      const Angle back = turned_back(x);
      angle = either(back, angle, size >= kFarther);
      *cosines_turns = either(back.turns + 1, *cosines_turns, size >= kFarther);
    }
  }
  return angle;
}

template <bool cosine>
WIDE bool sines_of(const Node* table, Doubles x, Doubles* to) {
  const Bits size = of(x) & ~kSign;
  if (left_alone(size)) return false;
  Bits cosines_turns;
  Angle angle = brought_near<cosine>(x, size, &cosines_turns);
  if (cosine) angle.turns = cosines_turns;
  const Near at = near(table, angle);
  const Bits odd = (angle.turns & 1) != 0;
  Doubles found = {};
  if (lanes(odd) != (1 << kLanes) - 1) found = sine_of(angle, at);
  if (lanes(odd)) found = either(cosine_from(at.node, at.left, at.rest), found, odd);
  *to = negated(found, angle.turns);
  return true;
}

WIDE bool sine_and_cosine(const Node* table, Doubles x, Doubles* sine, Doubles* cosine) {
  const Bits size = of(x) & ~kSign;
  if (left_alone(size)) return false;
  Bits turns;  // the cosine's
  const Angle angle = brought_near<true>(x, size, &turns);
  const Near at = near(table, angle);
  const Doubles s = sine_of(angle, at), c = cosine_from(at.node, at.left, at.rest);
  *sine = negated(either(c, s, (angle.turns & 1) != 0), angle.turns);
  *cosine = negated(either(c, s, (turns & 1) != 0), turns);
  return true;
}

const Node* table() {
  static const Table all = nodes();
  return all.data();
}

template <bool cosine>
[[gnu::target("avx2,fma")]] void sines_wide(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  const Node* const nodes = table();
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
    if (!sines_of<cosine>(nodes, x, &found)) {
      char* at[] = {in, out};
      numpys->fn(at, &few, steps, numpys->data);
    } else if (few == kLanes) {
      store<double, Doubles>(out, steps[1], found);
    } else {
      for (npy_intp i = 0; i < few; ++i) *reinterpret_cast<double*>(out + i * steps[1]) = found[i];
    }
  }
}

constexpr int64_t kLarge = 0x4085e0LL << 40;  // 700: what larger real parts give may be no number, or tiny
WIDE bool exponentials_of(const Node* nodes, Doubles real, Doubles imaginary, Doubles* x, Doubles* y) {
  const Bits size = of(real) & ~kSign;
  if (lanes(size > kLarge) || !sine_and_cosine(nodes, imaginary, y, x)) return false;
  if (!lanes(size != 0)) return true;
  Doubles times;
  for (int i = 0; i < kLanes; ++i) times[i] = std::exp(real[i]);
  *x *= times;
  *y *= times;
  return true;
}

[[gnu::target("avx2,fma")]] void exponentials_wide(char** args, npy_intp const* dimensions, npy_intp const* steps,
                                                   void* data) {
  const Node* const nodes = table();
  const auto* numpys = static_cast<const Inner*>(data);
  constexpr npy_intp size = 2 * sizeof(double);
  const npy_intp n = dimensions[0], whole = steps[0] == size && steps[1] == size ? n - n % kLanes : 0;
  char *in = args[0], *out = args[1];
  for (npy_intp i = 0; i < whole; i += kLanes, in += kLanes * size, out += kLanes * size) {
    const double* from = reinterpret_cast<const double*>(in);
    double* to = reinterpret_cast<double*>(out);
    const Doubles a = _mm256_loadu_pd(from), b = _mm256_loadu_pd(from + kLanes);
    Doubles x, y;
    if (exponentials_of(nodes, _mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), &x, &y)) {
      _mm256_storeu_pd(to, _mm256_unpacklo_pd(x, y));
      _mm256_storeu_pd(to + kLanes, _mm256_unpackhi_pd(x, y));
    } else {
      char* at[] = {in, out};
      numpys->fn(at, &kLanes, steps, numpys->data);
    }
  }
  if (const npy_intp rest = n - whole) {
    char* at[] = {in, out};
    numpys->fn(at, &rest, steps, numpys->data);
  }
}

// Whether the loop has the bits of NumPy's: near zero, between turns, and around multiples of half of a quarter turn. Of
// complex numbers these are imaginary parts, between real ones.
bool agrees(Loop loop, const Inner* numpys, bool complex) {
  constexpr npy_intp kTried = 2048;
  double x[kTried];
  TrialNumbers numbers;
  for (npy_intp i = 0; i < kTried; ++i) {
    const double number = numbers.next();
    const npy_intp kind = complex ? i / 2 : i;
    if (complex && i % 2 == 0) x[i] = i % 16 ? 20 * number : 0;
    else if (kind % 4 == 0) x[i] = number;
    else if (kind % 4 == 1) x[i] = 4 * number;
    else if (kind % 4 == 2) x[i] = std::ldexp(number, static_cast<int>(kind % 50) - 24);
    else x[i] = (kind - kTried / 4) * 0x1.921fb54442d18p-1 + std::ldexp(number, -static_cast<int>(kind % 30));
  }
  const npy_intp size = (complex ? 2 : 1) * sizeof(double), steps[] = {size, size};
  char* args[] = {reinterpret_cast<char*>(x), nullptr};
  return writes_the_same(loop, numpys, args, 1, static_cast<npy_intp>(sizeof x) / size, steps, sizeof x);
}

Loop tried(Loop loop, const Inner* numpys, bool complex) {
  if (!has_fma()) return nullptr;
  return agrees(loop, numpys, complex) ? loop : nullptr;
}
#else
template <bool cosine>
constexpr Loop sines_wide = nullptr;
constexpr Loop exponentials_wide = nullptr;
Loop tried(Loop, const Inner*, bool) { return nullptr; }
#endif

}  // namespace

Loop sine_loop(bool cosine, const Inner* numpys) {
  return tried(cosine ? Loop(sines_wide<true>) : Loop(sines_wide<false>), numpys, false);
}

Loop exponential_loop(const Inner* numpys) { return tried(exponentials_wide, numpys, true); }

}  // namespace lazyarray
