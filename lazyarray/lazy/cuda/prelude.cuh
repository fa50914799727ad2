// What every generated kernel may use: dtypes, casts, integers and reals with NumPy's semantics.
//
// Compiled by NVRTC without any header, and by g++ where kernels run on the CPU (in tests).

#ifdef __CUDACC_RTC__
#define BIT_COUNT(x) __popcll(x)
#define COPY_BYTES memcpy
#else
#define BIT_COUNT(x) __builtin_popcountll(x)
#define COPY_BYTES __builtin_memcpy
#endif
#define DEVICE __device__ __forceinline__

typedef unsigned char b1;  // a bool as it lies in memory: any byte but 0 is true
typedef signed char i1;
typedef unsigned char u1;
typedef short i2;
typedef unsigned short u2;
typedef int i4;
typedef unsigned int u4;
typedef long long i8;
typedef unsigned long long u8;
typedef float f4;
typedef double f8;
struct f2 {
  u2 bits;
};
struct c8 {
  f4 re, im;
};
struct c16 {  // views may begin at any part
  f8 re, im;
};

// ---- halves: computed with as floats, rounded after each op -------------------------------------

#ifdef __CUDACC_RTC__
DEVICE f4 to_float(f2 x) {
  f4 y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
DEVICE f2 to_half(f4 x) {
  f2 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
DEVICE f2 to_half(f8 x) {
  f2 y;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x));
  return y;
}
#else
DEVICE f4 to_float(f2 x) {
  _Float16 y;
  COPY_BYTES(&y, &x, 2);
  return y;
}
template <class Float>
DEVICE f2 to_half(Float x) {
  const _Float16 y = x;
  f2 z;
  COPY_BYTES(&z, &y, 2);
  return z;
}
#endif

// ---- casts: out of range and NaN as x86-64's conversions give them ------------------------------

template <class Float>
DEVICE i4 to_i4(Float x) {  // no float lies between -2^31 - 1 and -2^31
  const bool above = sizeof(Float) == 4 ? x >= Float(-2147483648.0) : x > Float(-2147483649.0);
  return above && x < Float(2147483648.0) ? i4(x) : i4(0x80000000u);
}
template <class Float>
DEVICE i8 to_i8(Float x) {
  return x < Float(9223372036854775808.0) && x >= Float(-9223372036854775808.0)
             ? i8(x) : i8(0x8000000000000000ull);
}
template <class Float>
DEVICE u8 to_u8(Float x) {
  constexpr Float half = Float(9223372036854775808.0);
  return x >= half ? u8(to_i8(x - half)) ^ 0x8000000000000000ull : u8(to_i8(x));
}

// ---- integers: arithmetic wraps, division by zero gives 0 ---------------------------------------

template <class T> struct Wrapping { typedef u4 type; };  // the unsigned type to compute in
template <> struct Wrapping<i8> { typedef u8 type; };
template <> struct Wrapping<u8> { typedef u8 type; };
template <class T> using Unsigned = typename Wrapping<T>::type;

template <class T>
DEVICE T quotient(T a, T b) {  // towards zero
  if (b == 0) return 0;
  if (T(-1) < T(0) && b == T(-1)) return T(Unsigned<T>(0) - Unsigned<T>(a));
  return T(a / b);
}
template <class T>
DEVICE T residue(T a, T b) {  // with the sign of a
  return b == 0 || (T(-1) < T(0) && b == T(-1)) ? T(0) : T(a % b);
}
template <class T>
DEVICE T floor_quotient(T a, T b) {
  const T q = quotient(a, b);
  return T(-1) < T(0) && (a < 0) != (b < 0) && residue(a, b) != 0 ? T(q - 1) : q;
}
template <class T>
DEVICE T floor_residue(T a, T b) {
  const T r = residue(a, b);
  return T(-1) < T(0) && r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
}
template <class T>
DEVICE T integer_reciprocal(T a) {  // of 0 what x86-64 makes of an infinity
  const bool least = T(-1) < T(0) && sizeof(T) >= 4;
  return a ? quotient(T(1), a) : least ? T(Unsigned<T>(1) << (8 * sizeof(T) - 1)) : T(0);
}
template <class T>
DEVICE T integer_power(T a, T b) {  // 0 for a negative exponent, which is an error in NumPy
  if (b < 0) return 0;
  Unsigned<T> base = Unsigned<T>(a), result = 1;
  for (u8 n = u8(b); n; n >>= 1) {
    if (n & 1) result *= base;
    base *= base;
  }
  return T(result);
}
template <class T>
DEVICE T shift_left(T a, T b) {
  return u8(b) < 8 * sizeof(T) ? T(Unsigned<T>(a) << b) : T(0);
}
template <class T>
DEVICE T shift_right(T a, T b) {
  return u8(b) < 8 * sizeof(T) ? T(a >> b) : T(a < 0 ? -1 : 0);
}
template <class T>
DEVICE Unsigned<T> magnitude(T a) {
  return a < 0 ? Unsigned<T>(0) - Unsigned<T>(a) : Unsigned<T>(a);
}
template <class T>
DEVICE Unsigned<T> common_divisor(T x, T y) {
  Unsigned<T> a = magnitude(x), b = magnitude(y);
  while (b) {
    const Unsigned<T> r = a % b;
    a = b;
    b = r;
  }
  return a;
}
template <class T>
DEVICE T common_multiple(T x, T y) {
  const Unsigned<T> divisor = common_divisor(x, y);
  return divisor ? T(magnitude(x) / divisor * magnitude(y)) : T(0);
}
DEVICE int order(i8 a, u8 b) { return a < 0 || u8(a) < b ? -1 : u8(a) > b; }
DEVICE int order(u8 a, i8 b) { return -order(b, a); }

// ---- reals --------------------------------------------------------------------------------------

template <class To, class From>
DEVICE To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From), "a type of the same size");
  To y;
  COPY_BYTES(&y, &x, sizeof y);
  return y;
}
template <class To>
DEVICE To from_words(i8 word) {
  To x;
  COPY_BYTES(&x, &word, sizeof x);
  return x;
}
template <class To>
DEVICE To from_words(i8 low, i8 high) {
  const i8 words[2] = {low, high};
  To x;
  COPY_BYTES(&x, words, sizeof x);
  return x;
}
template <class T>
constexpr T pi = T(3.141592653589793238462643383279502884);
DEVICE f4 infinity(f4) { return bits_as<f4>(0x7f800000u); }
DEVICE f8 infinity(f8) { return bits_as<f8>(0x7ff0000000000000ull); }
template <class T> DEVICE T not_a_number(T x) { return infinity(x) - infinity(x); }
template <class T> DEVICE bool is_nan(T x) { return x != x; }
template <class T> DEVICE bool is_inf(T x) { return fabs(x) == infinity(x); }
template <class T> DEVICE bool is_finite(T x) { return fabs(x) < infinity(x); }
template <class T> DEVICE bool has_sign(T x) { return copysign(T(1), x) < 0; }

template <class T> DEVICE T larger(T a, T b) { return is_nan(a) || a > b ? a : b; }
template <class T> DEVICE T smaller(T a, T b) { return is_nan(a) || a < b ? a : b; }
// Of two zeros NumPy takes the second as the maximum or minimum, but of halves the first.
template <class T> DEVICE T first_larger(T a, T b) { return is_nan(a) || a >= b ? a : b; }
template <class T> DEVICE T first_smaller(T a, T b) { return is_nan(a) || a <= b ? a : b; }
template <class T> DEVICE T larger_number(T a, T b) { return is_nan(b) || a >= b ? a : b; }
template <class T> DEVICE T smaller_number(T a, T b) { return is_nan(b) || a <= b ? a : b; }
template <class T>
DEVICE T clipped(T x, T low, T high) {
  const T risen = !is_nan(x) && (x < low || is_nan(low)) ? low : x;
  return !is_nan(risen) && (risen > high || is_nan(high)) ? high : risen;
}

// Floor division and its remainder: npy_divmod, which is Python's.
template <class T>
DEVICE T float_floor_residue(T a, T b) {
  const T r = fmod(a, b);
  if (b == 0) return r;
  if (r == 0) return copysign(T(0), b);
  return (b < 0) != (r < 0) ? r + b : r;
}
template <class T>
DEVICE T float_floor_quotient(T a, T b) {
  if (b == 0) return a / b;
  const T r = fmod(a, b);
  T q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= T(1);
  if (q == 0) return copysign(T(0), a / b);
  const T whole = floor(q);
  return q - whole > T(0.5) ? whole + T(1) : whole;
}
template <class T>
DEVICE T fraction(T x) {
  return copysign(is_inf(x) ? T(0) : x - trunc(x), x);
}
template <class T>
DEVICE T mantissa(T x) {
  int exponent;
  return is_finite(x) ? frexp(x, &exponent) : x;
}
template <class T>
DEVICE i4 exponent_of(T x) {
  int exponent = 0;
  if (is_finite(x)) frexp(x, &exponent);
  return exponent;
}
DEVICE int clamped(i8 x) {
  constexpr i8 most = 0x7fffffff;
  return int(x > most ? most : x < -most ? -most : x);
}
template <class T>
DEVICE T signum(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x;
}
template <class T>
DEVICE T step_at_zero(T x, T at_zero) {
  return is_nan(x) ? x : x == 0 ? at_zero : x < 0 ? T(0) : T(1);
}
template <class T>
DEVICE T log_add_exp(T x, T y) {
  if (x == y) return x + T(0.693147180559945309417232121458176568);
  const T d = x - y;
  return d > 0 ? x + log1p(exp(-d)) : d <= 0 ? y + log1p(exp(d)) : d;
}
template <class T>
DEVICE T log_add_exp2(T x, T y) {
  constexpr T log2_e = T(1.442695040888963407359924681001892137);
  if (x == y) return x + T(1);
  const T d = x - y;
  return d > 0 ? x + log2_e * log1p(exp2(-d)) : d <= 0 ? y + log2_e * log1p(exp2(d)) : d;
}
template <class T>
DEVICE T spacing_of(T x) {
  return is_inf(x) ? not_a_number(x) : nextafter(x, x < 0 ? -infinity(x) : infinity(x)) - x;
}

// ---- halves by their bits -----------------------------------------------------------------------

DEVICE bool is_nan(f2 x) { return (x.bits & 0x7fff) > 0x7c00; }
DEVICE f2 half_negative(f2 x) { return f2{u2(x.bits ^ 0x8000)}; }
DEVICE f2 half_magnitude(f2 x) { return f2{u2(x.bits & 0x7fff)}; }
DEVICE f2 half_larger(f2 x, f2 y) { return to_half(first_larger(to_float(x), to_float(y))); }
DEVICE f2 half_smaller(f2 x, f2 y) { return to_half(first_smaller(to_float(x), to_float(y))); }
DEVICE f2 next_half(f2 x, f2 y) {
  const f4 a = to_float(x), b = to_float(y);
  if (is_nan(x) || is_nan(y)) return is_nan(x) ? x : y;
  if (a == b) return x;
  if (a == 0) return f2{u2((y.bits & 0x8000) | 1)};
  return f2{u2((a < b) == (a > 0) ? x.bits + 1 : x.bits - 1)};
}
DEVICE f2 half_spacing(f2 x) {  // to the next one upwards, also for negative ones
  if ((x.bits & 0x7fff) >= 0x7c00) return f2{0x7e00};
  if ((x.bits & 0x7fff) == 0) return f2{1};
  const f2 next = f2{u2(x.bits & 0x8000 ? x.bits - 1 : x.bits + 1)};
  return to_half(to_float(next) - to_float(x));
}
template <class T> DEVICE bool truth(T x) { return x != 0; }

// ---- reductions ---------------------------------------------------------------------------------

#ifdef __CUDACC_RTC__  // elsewhere whoever compiles this has declared it
extern __shared__ char scratch[];
#endif

// A team's accumulators made one, which its first member has. All threads of a block call it.
// The slots of a team are `slot`, `slot + apart`, and so on.
template <class T, T (*join)(T, T)>
DEVICE T team_total(T mine, int member, int team, int slot, int apart) {
  __syncthreads();  // who used the scratch before is done
  T* slots = reinterpret_cast<T*>(scratch) + slot;
  slots[member * apart] = mine;
  for (int n = team; n > 1;) {
    const int half = (n + 1) / 2;
    __syncthreads();
    if (member < n - half) {
      mine = join(mine, slots[(member + half) * apart]);
      slots[member * apart] = mine;
    }
    n = half;
  }
  return mine;
}
// The same, for all of them.
template <class T, T (*join)(T, T)>
DEVICE T team_total_for_all(T mine, int member, int team, int slot, int apart) {
  team_total<T, join>(mine, member, team, slot, apart);
  __syncthreads();
  return reinterpret_cast<T*>(scratch)[slot];
}
