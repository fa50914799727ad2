// Complex expm1 of infinities and NaNs. NumPy's loop makes NaN + NaN j of many, where C99 and the
// array API standard have a limit: expm1(inf + 0j) is inf + 0j.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>

#include "lazy/cpu/loop.h"

namespace lazyarray {

struct Inner {  // the `data` of the loop below: NumPy's own loop
  Loop fn;
  void* data;
};

// NumPy's loop, and exp(z) - 1 where z is not finite: there nothing is lost by the subtraction.
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
    for (npy_intp i = 0; i < count; ++i)
      *reinterpret_cast<Complex*>(block[1] + places[i] * steps[1]) = std::exp(odd[i]) - T(1);
  }
}

// Puts the loop above around that of a kernel for complex expm1; kernels live for ever.
template <class Kernel>
void complete_expm1(Kernel* k, char dtype) {
  k->data = new Inner{k->fn, k->data};
  k->fn = dtype == 'F' ? expm1_loop<npy_float>
          : dtype == 'D' ? expm1_loop<npy_double> : expm1_loop<npy_longdouble>;
}

}  // namespace lazyarray
