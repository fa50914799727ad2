// arange's loop: start, start + delta, start + 2 delta, ... as NumPy's dtypes fill.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// As a gufunc's: start (), delta (), output (n) without gaps.
template <class T>
void ramp_loop(char** args, const npy_intp* dims, const npy_intp*, void*) {
  const T start = *reinterpret_cast<const T*>(args[0]), delta = *reinterpret_cast<const T*>(args[1]);
  T* out = reinterpret_cast<T*>(args[2]);
  for (npy_intp i = 0; i < dims[1]; ++i) out[i] = start + static_cast<T>(i) * delta;
}

inline Loop ramp_of(bool real) { return real ? ramp_loop<double> : ramp_loop<int64_t>; }

}  // namespace lazyarray
