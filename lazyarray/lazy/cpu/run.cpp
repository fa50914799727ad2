// run(): executes one instruction on the CPU with NumPy's own loops.
#include "lazy/cpu/run.h"

#include "lazy/cpu/lines.h"

namespace lazyarray {

bool has_negative(Instr& in, char** ptrs, int op, int dtype) {
  bool found = false;
  char* p[kMaxOperands];
  std::copy(ptrs, ptrs + in.nop, p);
  const npy_intp n = in.ndim ? in.shape()[in.ndim - 1] : 1;
  const npy_intp step = in.ndim ? in.strides(op)[in.ndim - 1] : 0;
  odometer(in, p, [&](char** q, const npy_intp*) { found |= any_negative(q[op], n, step, info(dtype).size); });
  return found;
}

void run_elementwise(Instr& in, char** ptrs, void* data) {
  const Loop fn = in.kernel->fn;
  npy_intp steps[kMaxOperands];
  const npy_intp n = in.shape()[in.ndim - 1];
  for (int k = 0; k < in.nop; ++k) steps[k] = in.strides(k)[in.ndim - 1];
  if (in.ndim > 1 && in.kernel->lines)
    if (const LineLoop lines = in.kernel->lines->find(info(in.kernel->dtypes[0]).size, steps, n)) {
      npy_intp outer[3];
      for (int k = 0; k < 3; ++k) outer[k] = in.strides(k)[in.ndim - 2];
      const npy_intp rows = in.shape()[in.ndim - 2];
      odometer(in, ptrs, [&](char** p, const npy_intp*) { lines(p, n, rows, outer); }, 2);
      return;
    }
  odometer(in, ptrs, [&](char** p, const npy_intp*) {
    char* args[kMaxOperands];  // some loops move their argument pointers
    std::copy(p, p + in.nop, args);
    fn(args, &n, steps, data);
  });
}

void start_results(const Kernel& kernel, const char* first, npy_intp si, char* to, npy_intp so,
                   npy_intp n) {
  if (n == 0) return;
  if (!kernel.starts_with_first) {
    first = kernel.identity;
    si = 0;
  }
  of_size(info(kernel.dtypes[1]).size, [=](auto item) { start_line<decltype(item)>(first, si, to, so, n); });
}

void run_reduce(Instr& in, char** ptrs) {
  const Kernel& kernel = *in.kernel;
  const int inner = in.ndim - 1;
  const npy_intp n = in.shape()[inner];
  const npy_intp si = in.strides(0)[inner], so = in.strides(1)[inner];
  const bool inner_reduced = in.reduced >> inner & 1;
  const npy_intp steps[3] = {so, si, so};
  odometer(in, ptrs, [&](char** p, const npy_intp* index) {
    bool first = true;  // the first visit of these outputs
    for (int i = 0; first && i < inner; ++i) first = !(in.reduced >> i & 1) || index[i] == 0;
    char* args[3] = {p[1], p[0], p[1]};
    npy_intp count = n;
    if (first) {
      start_results(kernel, p[0], si, p[1], so, inner_reduced ? 1 : n);
      if (kernel.starts_with_first) {
        if (!inner_reduced) return;
        args[1] += si;
        if (--count == 0) return;
      }
    }
    kernel.fn(args, &count, steps, kernel.data);
  });
}

bool is_wide(Runtime& rt, const Instr& in, double multiply_adds) {
  const char kind = info(in.kernel->dtypes[0]).kind;
  return (kind == 'f' || kind == 'c') && multiply_adds > kThreadedProduct &&
         (!rt.hooks.blas_threads || rt.hooks.blas_threads() > 1);
}

void run_gufunc(Runtime& rt, Instr& in, char** ptrs) {
  std::unique_lock<std::mutex> token(rt.blas_mu, std::defer_lock);
  if (in.wide) token.lock();
  const bool batched = in.ndim > 0;
  npy_intp dims[1 + 4] = {batched ? in.shape()[in.ndim - 1] : 1};
  std::copy(in.core, in.core + in.ncore, dims + 1);
  npy_intp steps[kMaxOperands + 8];
  for (int i = 0; i < in.nop; ++i) steps[i] = batched ? in.strides(i)[in.ndim - 1] : 0;
  std::copy(in.core_steps, in.core_steps + in.ncore_steps, steps + in.nop);
  odometer(in, ptrs, [&](char** p, const npy_intp*) {
    char* args[kMaxOperands];
    std::copy(p, p + in.nop, args);
    in.kernel->fn(args, dims, steps, in.kernel->data);
  });
}

Error* run_gather(Instr& in, char** ptrs, const Crew* crew) {
  Gathering gathering(in, ptrs);
  npy_intp tasks = 1;
  if (crew && in.cost_ns >= crew->split_ns) tasks = gathering.cut(crew->task_ns);
  if (tasks > 1)
    crew->engine->share(crew->op, [](void* p) { static_cast<Gathering*>(p)->work(); }, &gathering,
                        static_cast<int>(std::min<npy_intp>(tasks - 1, 1 << 20)));
  else
    gathering.work();
  return gathering.bad() ? out_of_bounds(in, ptrs[1]) : nullptr;
}

Error* run(Runtime& rt, Instr& in, const Crew* crew) {
  const Kernel& kernel = *in.kernel;
  bool zeroed = false;
  const int given = kernel.kind == Kernel::PYTHON && in.py->gives ? in.nin : in.nop;  // the others: see Giving
  for (int k = 0; k < given; ++k)
    if (in.ops[k].chunk)
      if (Error* e = allocate(in.ops[k].chunk, in.zeros ? &zeroed : nullptr)) return e;
  if (zeroed) return nullptr;
  if (kernel.kind == Kernel::PYTHON) return rt.hooks.python(in);

  char* ptrs[kMaxOperands];
  int constant = 0;
  for (int k = 0; k < in.nop; ++k)
    ptrs[k] = in.ops[k].chunk ? in.ops[k].chunk->data + in.ops[k].offset : in.constants[constant++];

  if (kernel.checks_flags) take_flags(kernel.long_double);
  if (kernel.kind == Kernel::ELEMENTWISE) {
    if (kernel.int_power && has_negative(in, ptrs, 1, kernel.dtypes[1]))
      return negative_power();
    int out_of_range = 0;
    char* keep[kMaxOperands];
    std::copy(ptrs, ptrs + in.nop, keep);
    run_elementwise(in, ptrs, kernel.casts_range ? &out_of_range : kernel.data);
    if (out_of_range) {
      if (!in.has_refs) {  // inline: see Recorder::run_inline
        in.put_off = true;
        return nullptr;
      }
      bool invalid = false;
      const Hooks::Block block{in.ndim, in.shape(), {in.strides(0), in.strides(1)}, {keep[0], keep[1]}};
      if (Error* e = rt.hooks.recast(in, block, &invalid)) return e;
      take_flags(kernel.long_double);
      return invalid ? judge_flags(rt, in, kInvalid) : nullptr;
    }
  } else if (kernel.kind == Kernel::REDUCE) {
    run_reduce(in, ptrs);
  } else {
    if (kernel.gathers) return run_gather(in, ptrs, crew);
    if (kernel.scatters)
      if (Error* e = out_of_bounds(in, ptrs[1])) return e;
    if (kernel.places)
      if (Error* e = misfit(in, ptrs[0])) return e;
    if (kernel.check)
      if (Error* e = kernel.check(in, ptrs)) return e;
    run_gufunc(rt, in, ptrs);
  }
  if (kernel.checks_flags)
    if (const int flags = take_flags(kernel.long_double)) {
      if (!kernel.invalid) return judge_flags(rt, in, flags);
      if (flags & kInvalid) return new Error(Error::LINALG, kernel.invalid);
    }
  return nullptr;
}

Loop where_of_size(int size) {
  return of_size(size, [](auto item) -> Loop { return where_loop<decltype(item)>; });
}

}  // namespace lazyarray
