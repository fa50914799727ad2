// Elementwise: a kernel over a block of memory.
#include "lazy/cpu/elementwise.h"

#include "lazy/cpu/lines.h"

namespace lazyarray {

static void call_loops(const Kernel& kernel, const Block& b, void* data) {
  const int inner = b.ndim - 1;
  const npy_intp n = b.shape[inner];
  npy_intp steps[kMaxOperands];
  for (int k = 0; k < b.nop; ++k) steps[k] = b.strides[k][inner];
  if (inner > 0 && kernel.lines)
    if (const LineLoop lines = kernel.lines->find(info(kernel.dtypes[0]).size, steps, n)) {
      npy_intp outer[3];
      for (int k = 0; k < 3; ++k) outer[k] = b.strides[k][inner - 1];
      const npy_intp rows = b.shape[inner - 1];
      each(b, inner - 1, [&](char* const* p, const npy_intp*) { lines(p, n, rows, outer); });
      return;
    }
  auto call = [&](char* const* p, const npy_intp*) {
    char* args[kMaxOperands];  // some loops move their argument pointers
    for (int k = 0; k < b.nop; ++k) args[k] = p[k];
    kernel.fn(args, &n, steps, data);
  };
  if (inner > 0) each(b, inner, call);
  else if (n > 0) call(b.ptrs, nullptr);
}

Error* run_elementwise(Runtime& rt, Instr& in, const Block& b, bool* invalid) {
  const Kernel& kernel = *in.kernel;
  if (kernel.check)
    if (Error* e = kernel.check(in, b)) return e;
  int out_of_range = 0;
  call_loops(kernel, b, kernel.casts_range ? &out_of_range : kernel.data);
  if (!out_of_range) return nullptr;
  if (!in.has_refs) {  // inline: see Recorder::run_inline
    in.put_off = true;
    return nullptr;
  }
  Error* const e = rt.hooks.recast(in, b, invalid);
  take_flags(true);
  return e;
}

const char* const kNegativeExponent = "Integers to negative integer powers are not allowed.";

Error* negative_exponent(const Instr& in, const Block& b) {
  const int size = info(in.kernel->dtypes[1]).size, inner = b.ndim - 1;
  const npy_intp n = b.ndim ? b.shape[inner] : 1, step = b.ndim ? b.strides[1][inner] : 0;
  bool found = false;
  each(b, inner, [&](char* const* p, const npy_intp*) {
    const char* sign = p[1] + size - 1;  // a little-endian integer's
    for (npy_intp i = 0; i < n; ++i, sign += step) found |= *reinterpret_cast<const signed char*>(sign) < 0;
  });
  return found ? new Error(Error::VALUE, kNegativeExponent) : nullptr;
}

}  // namespace lazyarray
