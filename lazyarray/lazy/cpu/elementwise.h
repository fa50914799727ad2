// Elementwise: a kernel over a block of memory. An instruction by itself, a tile of a pass, a single element and
// a cast at the call run here, and nowhere else; but for compiled chains.
#pragma once
#include <algorithm>

#include "lazy/cpu/flags.h"

namespace lazyarray {

// Calls body(pointers, index) for every index of the first `loops` loops; never, if any loop is empty.
template <class Body>
inline void each(const Block& b, int loops, Body body) {
  for (int i = 0; i < b.ndim; ++i)
    if (b.shape[i] == 0) return;
  const int nop = b.nop, last = loops - 1;
  char* at[kMaxOperands];
  std::copy(b.ptrs, b.ptrs + nop, at);
  npy_intp index[kMaxDims];
  if (loops <= 0) {
    body(at, index);
    return;
  }
  std::fill(index, index + loops, 0);
  for (;;) {
    for (; index[last] < b.shape[last]; ++index[last]) {
      body(at, index);
      for (int k = 0; k < nop; ++k) at[k] += b.strides[k][last];
    }
    if (last == 0) return;
    index[last] = 0;
    for (int k = 0; k < nop; ++k) at[k] -= b.strides[k][last] * b.shape[last];
    int a = last - 1;
    for (; a >= 0; --a) {
      if (++index[a] < b.shape[a]) {
        for (int k = 0; k < nop; ++k) at[k] += b.strides[k][a];
        break;
      }
      index[a] = 0;
      for (int k = 0; k < nop; ++k) at[k] -= b.strides[k][a] * (b.shape[a] - 1);
    }
    if (a < 0) return;
  }
}

// Returns the failure (owned), or null. The loop's floating-point flags are the caller's to read; `*invalid` is
// set if a cast met what its dtype can't hold.
Error* run_elementwise(Runtime& rt, Instr& in, const Block& b, bool* invalid);

// A kernel without a check, and with one output, on one element of each operand. The flags that it raised: where somebody is to be told
// of them, an instruction has to do it again, so that it is judged.
inline int run_element(const Kernel& kernel, char** args) {
  const npy_intp one = 1;
  npy_intp steps[kMaxOperands] = {};
  steps[kernel.nin] = info(kernel.dtypes[kernel.nin]).size;  // else some loops would take it for a reduction
  kernel.fn(args, &one, steps, kernel.data);
  return kernel.checks_flags ? take_flags(kernel.long_double) : 0;
}

// A cast's kernel on elements that lie in rows. False if a flag was raised, or one was met that its dtype can't hold.
inline bool run_cast(const Kernel& kernel, char** args, npy_intp n) {
  const npy_intp steps[] = {info(kernel.dtypes[0]).size, info(kernel.dtypes[1]).size};
  int out_of_range = 0;
  if (kernel.checks_flags) take_flags(kernel.long_double);
  kernel.fn(args, &n, steps, kernel.casts_range ? &out_of_range : kernel.data);
  return !out_of_range && !(kernel.checks_flags && take_flags(kernel.long_double));
}

// Kernel::check of an integer power: its loop would set a Python error for a negative exponent, from a thread that
// has no interpreter, and leave garbage.
Error* negative_exponent(const Instr& in, const Block& b);
extern const char* const kNegativeExponent;  // what it says

// Kernel::check of a weighted average: whether a sum of weights, which it divides by, is zero.
Error* weights_of_zero(const Instr& in, const Block& b);

}  // namespace lazyarray
