// Arithmetic of two numbers as NumPy's scalars do it, without a look at the op table.
//
// Each function returns false where it isn't that simple: where a flag would be raised (overflow, division
// by zero, a result that is no normal number) it is to be judged on the long way.
#pragma once
#include <Python.h>

#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace lazyarray {

enum Quick {  // comparisons have Python's numbers, which are smaller
  QUICK_ADD = 16, QUICK_SUBTRACT, QUICK_MULTIPLY, QUICK_DIVIDE, QUICK_POWER, QUICK_FLOOR, QUICK_MOD,
  QUICK_AND, QUICK_OR, QUICK_XOR, QUICK_LEFT, QUICK_RIGHT, NOT_QUICK
};

struct Term {
  enum Kind : char { WHOLE, SINGLE, DOUBLE, COMPLEX };
  Kind kind;
  bool weak;    // Python's own number
  bool array;   // an array without axes ...
  bool scalar;  // ... that NumPy gives as a scalar
  bool other_size;  // an integer of another dtype than int64, or a truth
  bool truth;
  bool narrow;      // of another size: int64 holds all of its dtype's values
  int64_t whole;
  double real, imag;

  void take(double value, Kind k = DOUBLE) {
    kind = k;
    real = value;
    imag = 0;
  }
  void take(double r, double i) {
    kind = COMPLEX;
    real = r;
    imag = i;
  }
  void take_whole(int64_t value) {
    kind = WHOLE;
    whole = value;
    real = static_cast<double>(value);
    imag = 0;
  }
};

// Computes, and tells whether that raised no flag that anybody may want to know of.
template <class F>
inline bool raises_nothing(const void* result, F compute) {
  constexpr int flags = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW;
  compute();
  asm volatile("" : : "r"(result) : "memory");  // before the flags are asked for
  if (!std::fetestexcept(flags)) return true;
  std::feclearexcept(flags);  // they may be older; to forget them each time first would cost more
  compute();
  asm volatile("" : : "r"(result) : "memory");
  return !std::fetestexcept(flags);
}

// Python's floor division and remainder, as npy_divmod computes them.
template <class T>
inline T floor_and_rest(T a, T b, T* rest) {
  T mod = std::fmod(a, b), div = (a - mod) / b, floor;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) {
      mod += b;
      div -= 1;
    }
  } else {
    mod = std::copysign(T(0), b);
  }
  if (div != 0) {
    floor = std::floor(div);
    if (div - floor > T(0.5)) floor += 1;
  } else {
    floor = std::copysign(T(0), a / b);
  }
  *rest = mod;
  return floor;
}

template <class T>
inline bool real_of(int op, T a, T b, T* r) {
  constexpr T least = sizeof(T) == 4 ? T(FLT_MIN) : T(DBL_MIN);
  T rest;
  switch (op) {
    case QUICK_ADD: *r = a + b; break;
    case QUICK_SUBTRACT: *r = a - b; break;
    case QUICK_MULTIPLY: *r = a * b; break;
    case QUICK_DIVIDE: *r = a / b; break;
    case QUICK_POWER:
      return raises_nothing(r, [=] {
        const volatile T base = a;  // to the compiler a second pow() of the same values would be the first
        *r = std::pow(base, b);
      });
    case QUICK_FLOOR:
    case QUICK_MOD:
      // Within what quotients and remainders of hold no flag.
      if (!(std::fabs(b) > T(1e-15) && std::fabs(b) < T(1e15) && std::fabs(a) < T(1e15))) return false;
      if (a != 0 && std::fabs(a) < T(1e-15)) return false;
      *r = floor_and_rest(a, b, &rest);
      if (op == QUICK_MOD) *r = rest;
      return true;
    default: return false;
  }
  if (std::isfinite(*r) && (op <= QUICK_SUBTRACT || std::fabs(*r) > least || a == 0 || b == 0) &&
      (b != 0 || op != QUICK_DIVIDE))
    return true;
  return raises_nothing(r, [=] {  // of infinities and of what is no number
    const volatile T x = a, y = b;
    *r = op == QUICK_ADD ? x + y : op == QUICK_SUBTRACT ? x - y : op == QUICK_MULTIPLY ? x * y : x / y;
  });
}

inline bool whole_of(int op, int64_t a, int64_t b, int64_t* r) {
  switch (op) {
    case QUICK_ADD: return !__builtin_add_overflow(a, b, r);
    case QUICK_SUBTRACT: return !__builtin_sub_overflow(a, b, r);
    case QUICK_MULTIPLY: return !__builtin_mul_overflow(a, b, r);
    case QUICK_FLOOR:
    case QUICK_MOD: {
      if (b == 0 || b == -1) return false;  // -1: the least of all numbers has no opposite
      const int64_t rest = a % b, off = rest && (rest < 0) != (b < 0);
      *r = op == QUICK_MOD ? (off ? rest + b : rest) : a / b - off;
      return true;
    }
    case QUICK_POWER: {  // what is too large loses its upper bits, as NumPy's
      if (b < 0) return false;
      uint64_t product = 1, square = static_cast<uint64_t>(a);
      for (uint64_t n = b; n; n >>= 1, square *= square)
        if (n & 1) product *= square;
      *r = static_cast<int64_t>(product);
      return true;
    }
    case QUICK_AND: *r = a & b; return true;
    case QUICK_OR: *r = a | b; return true;
    case QUICK_XOR: *r = a ^ b; return true;
    default: return false;
  }
}

// Integers of `size` bytes, signed or not, as those of 64 bits. (A memcpy of so many bytes would stall.)
template <class T>
inline T number_at(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}
inline int64_t whole_at(const char* p, int size, bool is_signed) {
  switch (size) {
    case 1: return is_signed ? number_at<int8_t>(p) : number_at<uint8_t>(p);
    case 2: return is_signed ? number_at<int16_t>(p) : number_at<uint16_t>(p);
    case 4: return is_signed ? int64_t{number_at<int32_t>(p)} : int64_t{number_at<uint32_t>(p)};
    default: return number_at<int64_t>(p);
  }
}
inline void put_whole(char* p, int size, int64_t v) {  // the low bytes come first, see meson.build
  switch (size) {
    case 1: std::memcpy(p, &v, 1); return;
    case 2: std::memcpy(p, &v, 2); return;
    case 4: std::memcpy(p, &v, 4); return;
    default: std::memcpy(p, &v, 8);
  }
}
inline bool whole_fits(int64_t v, int size, bool is_signed) {
  if (size == 8) return is_signed || v >= 0;
  const int64_t top = int64_t(1) << (8 * size - is_signed);
  return v < top && v >= (is_signed ? -top : 0);
}
// Whether it is of bits alone, which may be those of more than 63.
inline bool is_of_bits(int op) {
  return op == QUICK_AND || op == QUICK_OR || op == QUICK_XOR || op == QUICK_LEFT || op == QUICK_RIGHT;
}
// The same operations on two integers of one dtype; those of more than 63 bits have the operations on bits alone.
inline bool whole_of_size(int op, int size, bool is_signed, int64_t a, int64_t b, int64_t* r) {
  const bool many = b >= 8 * size;  // more places than there are
  switch (op) {
    case QUICK_LEFT:
      if (b < 0) return false;
      *r = many ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
      return true;
    case QUICK_RIGHT:
      if (b < 0) return false;
      *r = is_signed ? a >> (many ? 63 : b) : many ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) >> b);
      return true;
    case QUICK_POWER: return whole_of(op, a, b, r);
    default: return whole_of(op, a, b, r) && (is_of_bits(op) || whole_fits(*r, size, is_signed));
  }
}

// As NumPy's scalars do it, which divide after R. L. Smith, "Algorithm 116: Complex division", CACM 5 (1962).
inline void compute_complex(int op, const Term& a, const Term& b, double* r) {
  switch (op) {
    case QUICK_ADD:
      r[0] = a.real + b.real;
      r[1] = a.imag + b.imag;
      return;
    case QUICK_SUBTRACT:
      r[0] = a.real - b.real;
      r[1] = a.imag - b.imag;
      return;
    case QUICK_MULTIPLY:
      r[0] = a.real * b.real - a.imag * b.imag;
      r[1] = a.real * b.imag + a.imag * b.real;
      return;
    default:
      if (a.weak && b.kind == Term::DOUBLE) {  // Python's complex number comes first, and divides by itself
        const double ratio = 0.0 / b.real;
        r[0] = (a.real + a.imag * ratio) / b.real;
        r[1] = (a.imag - a.real * ratio) / b.real;
      } else if (std::fabs(b.real) >= std::fabs(b.imag)) {
        const double ratio = b.imag / b.real, scale = 1.0 / (b.real + b.imag * ratio);
        r[0] = (a.real + a.imag * ratio) * scale;
        r[1] = (a.imag - a.real * ratio) * scale;
      } else {
        const double ratio = b.real / b.imag, scale = 1.0 / (b.imag + b.real * ratio);
        r[0] = (a.real * ratio + a.imag) * scale;
        r[1] = (a.imag * ratio - a.real) * scale;
      }
  }
}
inline bool complex_of(int op, const Term& a, const Term& b, double* r) {
  return op <= QUICK_DIVIDE && raises_nothing(r, [=, &a, &b] { compute_complex(op, a, b, r); }) &&
         std::isfinite(r[0]) && std::isfinite(r[1]);
}

inline bool magnitude_of(const Term& a, double* r) {
  return raises_nothing(r, [=, &a] {
    const volatile double real = a.real;  // as above
    *r = std::hypot(real, a.imag);
  });
}

template <class T>
inline bool compare_of(int op, T a, T b) {
  switch (op) {
    case Py_LT: return a < b;
    case Py_LE: return a <= b;
    case Py_EQ: return a == b;
    case Py_NE: return a != b;
    case Py_GT: return a > b;
    default: return a >= b;
  }
}

// Single precision's operand: a weak number takes its dtype. False where it has no such value.
inline bool single_of(const Term& o, float* r) {
  *r = static_cast<float>(o.real);
  return std::isfinite(*r) && (o.kind != Term::WHOLE || std::fabs(o.real) <= 1 << 24);
}
// Whether the two are computed with in single precision.
inline bool are_single(const Term& a, const Term& b) {
  return (a.kind == Term::SINGLE || a.weak) && (b.kind == Term::SINGLE || b.weak) &&
         (a.kind == Term::SINGLE || b.kind == Term::SINGLE);
}

}  // namespace lazyarray
