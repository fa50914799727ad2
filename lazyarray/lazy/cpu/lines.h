// Arithmetic over many short rows in one call. NumPy's loops take one row each, and cost as much to
// enter as 30 elements to add; a stencil on a small grid is all such rows. One IEEE operation, or one for
// each part of a complex number, has the same bits whoever does it (but for which of two NaNs it hands on).
#pragma once
#include "lazy/dtype.h"
#include "lazy/loop.h"
#include "lazy/processor.h"

namespace lazyarray {

// Two inputs and an output. The pointers step by `outer` from row to row; in a row each steps by its
// item size, or, as the table's place says, an input stands still.
using LineLoop = void (*)(char* const* ptrs, npy_intp n, npy_intp rows, const npy_intp* outer);
struct LineLoops {
  static constexpr npy_intp kLongest = 400;  // elements of a row that is short
  LineLoop both, first, second;              // which inputs step

  // The loop for these steps in a row, or null.
  LineLoop find(npy_intp item, const npy_intp* steps, npy_intp n) const;
};

namespace lines {

template <class T>
struct Complex {
  T real, imag;
  friend Complex operator+(Complex a, Complex b) { return {a.real + b.real, a.imag + b.imag}; }
  friend Complex operator-(Complex a, Complex b) { return {a.real - b.real, a.imag - b.imag}; }
};

struct Add { template <class T> static T of(T a, T b) { return a + b; } };
struct Subtract { template <class T> static T of(T a, T b) { return a - b; } };
struct Multiply { template <class T> static T of(T a, T b) { return a * b; } };
struct Divide { template <class T> static T of(T a, T b) { return a / b; } };

template <class T, class Op, bool steps_a, bool steps_b>
[[gnu::always_inline]] inline void body(char* const* ptrs, npy_intp n, npy_intp rows, const npy_intp* outer) {
  const char *pa = ptrs[0], *pb = ptrs[1];
  char* po = ptrs[2];
  for (npy_intp r = 0; r < rows; ++r, pa += outer[0], pb += outer[1], po += outer[2]) {
    const T *a = reinterpret_cast<const T*>(pa), *b = reinterpret_cast<const T*>(pb);
    T* out = reinterpret_cast<T*>(po);
    const T a0 = *a, b0 = *b;
    // An output is exactly an input or apart from it, so no iteration touches another's elements.
#pragma clang loop vectorize(assume_safety)
#pragma GCC ivdep
    for (npy_intp i = 0; i < n; ++i) out[i] = Op::of(steps_a ? a[i] : a0, steps_b ? b[i] : b0);
  }
}

template <class T, class Op, bool a, bool b>
void plain(char* const* p, npy_intp n, npy_intp rows, const npy_intp* outer) {
  body<T, Op, a, b>(p, n, rows, outer);
}
#if defined(__x86_64__)
template <class T, class Op, bool a, bool b>
[[gnu::target("avx2")]] void wide(char* const* p, npy_intp n, npy_intp rows, const npy_intp* outer) {
  body<T, Op, a, b>(p, n, rows, outer);
}
#else
template <class T, class Op, bool a, bool b>
constexpr LineLoop wide = plain<T, Op, a, b>;
#endif

template <class T, class Op>
const LineLoops* table() {
  static const LineLoops narrow = {plain<T, Op, true, true>, plain<T, Op, true, false>, plain<T, Op, false, true>};
  static const LineLoops vectors = {wide<T, Op, true, true>, wide<T, Op, true, false>, wide<T, Op, false, true>};
  return has_avx2() ? &vectors : &narrow;
}

template <class T>
const LineLoops* of_sign(char sign) {
  switch (sign) {
    case '+': return table<T, Add>();
    case '-': return table<T, Subtract>();
    case '*': return table<T, Multiply>();
    case '/': return table<T, Divide>();
  }
  return nullptr;
}

// Products and quotients of complex numbers are several operations, and NumPy's have their own order.
template <class T>
const LineLoops* of_complex(char sign) {
  return sign == '+' ? table<Complex<T>, Add>() : sign == '-' ? table<Complex<T>, Subtract>() : nullptr;
}

}  // namespace lines

// The loops of an arithmetic operation on this dtype, or null.
inline const LineLoops* line_loops(char sign, int dtype) {
  switch (dtype) {
    case f8: return lines::of_sign<double>(sign);
    case f4: return lines::of_sign<float>(sign);
    case c16: return lines::of_complex<double>(sign);
    case c8: return lines::of_complex<float>(sign);
  }
  return nullptr;
}

}  // namespace lazyarray
