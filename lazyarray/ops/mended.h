// NumPy's loops where they are wrong, or not what is wanted, mended.
#pragma once

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>

#include "lazy/cpu/hypot.h"
#include "lazy/cpu/powers.h"
#include "lazy/cpu/quotients.h"
#include "lazy/cpu/sines.h"
#include "lazy/loop.h"

namespace lazyarray {

// Complex expm1: NumPy's loop makes NaN + NaN j of many infinities and NaNs, where C99 and the array API
// standard have a limit: expm1(inf + 0j) is inf + 0j. So NumPy's loop, and exp(z) - 1 where z is not finite: there nothing is lost by the subtraction.
template <class T>
void expm1_loop(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  using Complex = std::complex<T>;
  constexpr npy_intp kBlock = 64;
  const auto* inner = static_cast<const Inner*>(data);
  Complex odd[kBlock];
  npy_intp places[kBlock];
  for (npy_intp start = 0; start < dimensions[0]; start += kBlock) {
    const npy_intp n = std::min(kBlock, dimensions[0] - start);
    char* block[2] = {args[0] + start * steps[0], args[1] + start * steps[1]};
    npy_intp count = 0;  // looked for first: the output may be the input
    for (npy_intp i = 0; i < n; ++i) {
      const auto z = *reinterpret_cast<const Complex*>(block[0] + i * steps[0]);
      if (std::isfinite(z.real()) && std::isfinite(z.imag())) continue;
      odd[count] = z;
      places[count++] = i;
    }
    inner->fn(block, &n, steps, inner->data);
    for (npy_intp i = 0; i < count; ++i) {
      const bool quiet = !std::isinf(odd[i].real()) && !std::isinf(odd[i].imag()) && !std::fetestexcept(FE_INVALID);
      *reinterpret_cast<Complex*>(block[1] + places[i] * steps[1]) = std::exp(odd[i]) - T(1);
      if (quiet) std::feclearexcept(FE_INVALID);  // NaNs are handed on without a word
    }
  }
}

// Puts the loop above around that of a kernel for complex expm1; kernels live for ever.
template <class Kernel>
void mend_expm1(Kernel* k, char dtype) {
  k->data = new Inner{k->fn, k->data};
  k->fn = dtype == 'F' ? expm1_loop<npy_float>
          : dtype == 'D' ? expm1_loop<npy_double> : expm1_loop<npy_longdouble>;
}

// NumPy's loop negates the wrong elements where neither side is contiguous and the input steps by 16
// bytes (numbers of 4) or 64 (of 8): `np.negative(x[::8], out=y[::4])`, seen with NumPy 2.4. `Bits` is the
// number's unsigned integer.
template <class Bits, bool is_float>
void negative_loop(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  constexpr npy_intp size = sizeof(Bits);
  const auto* inner = static_cast<const Inner*>(data);
  if (steps[0] == size || steps[1] == size) {
    inner->fn(args, dimensions, steps, inner->data);
    return;
  }
  constexpr Bits sign = Bits(1) << (8 * size - 1);
  const char* in = args[0];
  char* out = args[1];
  for (npy_intp i = 0; i < dimensions[0]; ++i, in += steps[0], out += steps[1]) {
    Bits x;
    std::memcpy(&x, in, size);
    x = is_float ? x ^ sign : Bits(0) - x;
    std::memcpy(out, &x, size);
  }
}

template <class Kernel>
void mend_negative(Kernel* k, char kind, int size) {
  if (size != 4 && size != 8) return;
  k->data = new Inner{k->fn, k->data};
  k->fn = kind == 'f' ? (size == 4 ? negative_loop<uint32_t, true> : negative_loop<uint64_t, true>)
                      : (size == 4 ? negative_loop<uint32_t, false> : negative_loop<uint64_t, false>);
}

// Powers of NumPy's scalars are the C library's, and not its loop's, whose last bits are others.
template <class T>
void scalar_power_loop(char** args, npy_intp const* dimensions, npy_intp const* steps, void*) {
  char *a = args[0], *b = args[1], *out = args[2];
  for (npy_intp i = 0; i < dimensions[0]; ++i, a += steps[0], b += steps[1], out += steps[2])
    *reinterpret_cast<T*>(out) = std::pow(*reinterpret_cast<const T*>(a), *reinterpret_cast<const T*>(b));
}

template <class Kernel>
void mend_scalar_power(Kernel* k, char dtype) {
  k->fn = dtype == 'd' ? scalar_power_loop<npy_double> : scalar_power_loop<npy_float>;
  k->code = nullptr;  // which names the other loop
}

// So are products and magnitudes of its complex scalars: no instruction multiplies and adds at once.
template <class T>
void scalar_product_loop(char** args, npy_intp const* dimensions, npy_intp const* steps, void*) {
  char *a = args[0], *b = args[1], *out = args[2];
  for (npy_intp i = 0; i < dimensions[0]; ++i, a += steps[0], b += steps[1], out += steps[2]) {
    const T *x = reinterpret_cast<const T*>(a), *y = reinterpret_cast<const T*>(b);
    const T product[2] = {x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]};
    std::memcpy(out, product, sizeof product);
  }
}
template <class T>
void scalar_magnitude_loop(char** args, npy_intp const* dimensions, npy_intp const* steps, void*) {
  char *in = args[0], *out = args[1];
  for (npy_intp i = 0; i < dimensions[0]; ++i, in += steps[0], out += steps[1]) {
    const T* x = reinterpret_cast<const T*>(in);
    *reinterpret_cast<T*>(out) = std::hypot(x[0], x[1]);
  }
}

template <class Kernel>
void mend_complex_scalars(Kernel* k, bool product, bool is_double) {
  k->fn = product ? is_double ? scalar_product_loop<npy_double> : scalar_product_loop<npy_float>
                  : is_double ? scalar_magnitude_loop<npy_double> : scalar_magnitude_loop<npy_float>;
  k->code = nullptr;
}

// A loop that has NumPy's at hand, if there is one: of remainders and whole quotients (lazy/cpu/quotients.h), and of sums
// (lazy/cpu/pairwise.h).
template <class Kernel>
void put_before(Kernel* k, Loop loop) {
  if (!loop) return;
  k->data = new Inner{k->fn, k->data};
  k->fn = loop;
}

// `quotient` is the kernel of the same integers' quotients.
template <class Kernel>
void mend_remainder(Kernel* k, const Kernel* quotient, char kind, int size) {
  if (const Loop loop = remainder_loop(kind, size)) {
    k->data = new Remainder{{k->fn, k->data}, {quotient->fn, quotient->data}};
    k->fn = loop;
  }
}

// Those of hypot (lazy/cpu/hypot.h), sin, cos and exp (lazy/cpu/sines.h) call a function for each number, and so does that
// of power (lazy/cpu/powers.h) for negative ones. `make` gives a loop that does the same with NumPy's at hand, or null;
// `cost` is an element's.
template <class Kernel, class Make>
void mend_calls(Kernel* k, double cost, Make make) {
  auto* const numpys = new Inner{k->fn, k->data};
  if (const Loop loop = make(numpys)) {
    k->data = numpys;
    k->fn = loop;
    k->cost = cost;
  } else {
    delete numpys;
  }
}

// What a row says of its ufunc's loops.
enum Mended : int {
  kRight, kExpm1, kNegative, kScalarPower, kScalarProduct, kScalarMagnitude, kHypot, kSine, kCosine, kExp, kPower,
  kFmod, kRemainder, kFloorDivide, kDivmod
};

template <class Kernel>
void mend(Kernel* k, int mended, char kind, char dtype, int size) {
  if (mended == kExpm1 && kind == 'c') mend_expm1(k, dtype);
  if (mended == kScalarPower && (dtype == 'd' || dtype == 'f')) mend_scalar_power(k, dtype);
  if ((mended == kScalarProduct || mended == kScalarMagnitude) && (dtype == 'D' || dtype == 'F'))
    mend_complex_scalars(k, mended == kScalarProduct, dtype == 'D');
  if (mended == kHypot)
    mend_calls(k, dtype == 'd' ? 2 : 1, [dtype](const Inner* numpys) { return hypot_loop(dtype, numpys); });
  if ((mended == kSine || mended == kCosine) && dtype == 'd')
    mend_calls(k, 2, [mended](const Inner* numpys) { return sine_loop(mended == kCosine, numpys); });
  if (mended == kExp && dtype == 'D') mend_calls(k, 5, exponential_loop);
  if (mended == kPower) mend_calls(k, k->cost, [dtype](const Inner* numpys) { return power_loop(dtype, numpys); });
  if (mended >= kFmod) put_before(k, quotient_loop(Quotient(mended - kFmod), dtype));
  if (mended == kNegative && (kind == 'i' || kind == 'u' || kind == 'f')) mend_negative(k, kind, size);
}

}  // namespace lazyarray
