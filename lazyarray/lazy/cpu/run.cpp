// run(): executes one instruction on the CPU with NumPy's own loops.
#include "lazy/cpu/run.h"

#include "lazy/cpu/extremes.h"
#include "lazy/cpu/float_products.h"
#include "lazy/cpu/roll.h"
#include "lazy/cpu/short_rows.h"
#include "lazy/cpu/sorting.h"

namespace lazyarray {

void start_results(const Kernel& kernel, const char* first, npy_intp si, char* to, npy_intp so,
                   npy_intp n) {
  if (n == 0) return;
  if (!kernel.starts_with_first) {
    first = kernel.identity;
    si = 0;
  }
  of_size(info(kernel.dtypes[1]).size, [=](auto item) { start_line<decltype(item)>(first, si, to, so, n); });
}

void run_reduce(const Instr& in, const Block& b) {
  const Kernel& kernel = *in.kernel;
  const int inner = b.ndim - 1;
  const npy_intp n = b.shape[inner];
  const npy_intp si = b.strides[0][inner], so = b.strides[1][inner];
  const bool inner_reduced = in.reduced >> inner & 1;
  const npy_intp steps[3] = {so, si, so};
  const int rows = inner - 1;
  if (inner > 0 && in.reduced == 1u << inner && goes_side_by_side(kernel, n, b.shape[rows])) {
    each(b, rows, [&](char* const* p, const npy_intp*) {
      reduce_short_rows(kernel, p[0], b.strides[0][rows], si, n, p[1], b.strides[1][rows], b.shape[rows]);
    });
    return;
  }
  const bool lie_together = si == info(kernel.dtypes[0]).size && so == info(kernel.dtypes[1]).size;
  const bool by_rows = kernel.add_rows && lie_together;
  if (!inner_reduced && inner > 0 && (in.reduced >> rows & 1) && (by_rows || goes_by_columns(kernel, n, b.shape[rows]))) {
    const npy_intp step = b.strides[0][rows], count = b.shape[rows];
    each(b, rows, [&](char* const* p, const npy_intp* index) {
      bool first = true;
      for (int i = 0; first && i < rows; ++i) first = !(in.reduced >> i & 1) || index[i] == 0;
      if (!by_rows) return reduce_few_columns(kernel, p[0], step, count, p[1], si, so, n, first);
      if (first) start_results(kernel, p[0], si, p[1], so, n);
      kernel.add_rows(p[1], p[0], step, count, n);
    });
    return;
  }
  each(b, inner, [&](char* const* p, const npy_intp* index) {
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

// Calls of a loop for the innermost axis of a batch.
struct Calls {
  npy_intp dims[1 + 4];
  npy_intp steps[kMaxOperands + 8];
  Calls(const Instr& in, const npy_intp* core, const Block& b) {
    const int inner = b.ndim - 1;
    dims[0] = b.ndim ? b.shape[inner] : 1;
    std::copy(core, core + in.ncore, dims + 1);
    for (int k = 0; k < b.nop; ++k) steps[k] = b.ndim ? b.strides[k][inner] : 0;
    std::copy(in.core_steps, in.core_steps + in.ncore_steps, steps + b.nop);
  }
};

// Its calls over part of a batch.
static void run_batch(const Instr& in, const npy_intp* core, const Block& b) {
  const Calls calls(in, core, b);
  each(b, b.ndim - 1, [&](char* const* p, const npy_intp*) {
    char* args[kMaxOperands];
    std::copy(p, p + b.nop, args);
    in.kernel->fn(args, calls.dims, calls.steps, in.kernel->data);
  });
}

static bool crowds_blas(const Instr& in, const Block& b) {
  const Kernel& kernel = *in.kernel;
  const npy_intp n = in.core[0], k = in.core[1], m = in.core[2];
  if (!kernel.blas || n < 2 || k < 2 || m < 2 || double(n) * k * m * kernel.cost >= kCrowdedProduct) return false;
  const Calls calls(in, in.core, b);
  return !multiplies_small(kernel.dtypes[2], b.ptrs, calls.dims, calls.steps, kernel.data);
}

namespace {

// A batch whose places are computed apart, by as many threads as take part: they claim portions of its longest
// axis, or of a product's rows. Of a reduction it is one that isn't reduced, nor the last one, whose runs stay whole.
class Batch {
 public:
  Batch(const Instr& in, const Block& b) : in_(in), whole_(b) {
    const bool reduces = in.kernel->kind == Kernel::REDUCE;
    for (int a = 0; a < b.ndim - reduces; ++a)
      if (!(in.reduced >> a & 1) && b.shape[a] > length_) length_ = b.shape[axis_ = a];
    if (in.kernel->rows_apart && in.core[0] / kRows > length_) {
      length_ = in.core[0];
      axis_ = kRowsAxis;
      least_ = kRows;
    }
    for (int k = 0; k < b.nop; ++k) step_[k] = axis_ >= 0 ? b.strides[k][axis_] : 0;
    if (axis_ == kRowsAxis) {
      step_[0] = in.core_steps[0];
      step_[2] = in.core_steps[4];
    }
  }
  // Into how many tasks it may be cut.
  npy_intp cut(const Crew& crew) {
    portion_ = std::max(least_, crew.portion(in_.cost_ns, length_));
    return (length_ + portion_ - 1) / portion_;
  }
  void work() {
    Block part = whole_;
    npy_intp shape[kMaxDims];
    std::copy(whole_.shape, whole_.shape + whole_.ndim, shape);
    part.shape = shape;
    npy_intp core[4];
    std::copy(in_.core, in_.core + 4, core);
    if (in_.kernel->checks_flags) take_flags(in_.kernel->long_double);
    while (!Engine::called_away()) {
      const npy_intp first = next_.fetch_add(portion_, std::memory_order_relaxed);
      if (first >= length_) break;  // also where there is none
      (axis_ == kRowsAxis ? core[0] : shape[axis_]) = std::min(portion_, length_ - first);
      for (int k = 0; k < part.nop; ++k) part.ptrs[k] = whole_.ptrs[k] + first * step_[k];
      if (in_.kernel->kind == Kernel::REDUCE) run_reduce(in_, part);
      else run_batch(in_, core, part);
    }
    if (in_.kernel->checks_flags)
      if (const int flags = take_flags(in_.kernel->long_double)) flags_.fetch_or(flags, std::memory_order_relaxed);
  }
  int flags() const { return flags_.load(std::memory_order_relaxed); }

 private:
  const Instr& in_;
  const Block& whole_;
  static constexpr int kRowsAxis = -2;
  static constexpr npy_intp kRows = 32;  // of a product at a time: each portion goes over the other matrix
  int axis_ = -1;
  npy_intp length_ = 1, portion_ = 1, least_ = 1;
  npy_intp step_[kMaxOperands] = {};
  std::atomic<npy_intp> next_{0};
  std::atomic<int> flags_{0};  // of all threads
};

}  // namespace

// The flags that threads met.
static int run_reduction(const Instr& in, const Block& b, const Crew* crew) {
  if (crew && in.cost_ns >= crew->split_ns) {
    if (extreme_in_parts(in, b, *crew)) return 0;
    Batch batch(in, b);
    if (const npy_intp tasks = batch.cut(*crew); tasks > 1) {
      crew->share(batch, tasks);
      return batch.flags();
    }
  }
  run_reduce(in, b);
  return 0;
}

int run_gufunc(Runtime& rt, const Instr& in, const Block& b, const Crew* crew) {
  std::unique_lock<std::mutex> token(rt.blas_mu, std::defer_lock);
  if (in.wide) token.lock();
  else if (in.kernel->apart && in.core[0] >= in.kernel->apart_from && crew && in.cost_ns >= crew->split_ns && !crowds_blas(in, b)) {
    if (in.kernel->sort && sort_in_parts(in, b, *crew)) return 0;
    Batch batch(in, b);
    if (const npy_intp tasks = batch.cut(*crew); tasks > 1) {
      crew->share(batch, tasks);
      return batch.flags();
    }
  }
  run_batch(in, in.core, b);
  return 0;
}

Error* run_gather(Instr& in, const Block& b, const Crew* crew) {
  Gathering gathering(in, b.ptrs);
  npy_intp tasks = 1;
  if (crew && in.cost_ns >= crew->split_ns) tasks = gathering.cut(*crew);
  if (tasks > 1) crew->share(gathering, tasks);
  else gathering.work();
  return gathering.bad() ? out_of_bounds(in, b) : nullptr;
}

Error* run(Runtime& rt, Instr& in, const Crew* crew) {
  const Kernel& kernel = *in.kernel;
  bool zeroed = false;
  const int given = kernel.kind == Kernel::PYTHON && in.py->gives ? in.nin : in.nop;  // the others: see Giving
  for (int k = 0; k < given; ++k)
    if (in.ops[k].chunk)
      if (Error* e = allocate(in.ops[k].chunk, in.zeros ? &zeroed : nullptr)) return e;
  if (zeroed) return nullptr;
  if (kernel.kind == Kernel::PYTHON) return rt.hooks.python(in, crew);

  Block b;
  b.ndim = in.ndim;
  b.nop = in.nop;
  b.shape = in.shape();
  int constant = 0;
  for (int k = 0; k < in.nop; ++k) {
    b.strides[k] = in.strides(k);
    b.ptrs[k] = in.ops[k].chunk ? in.ops[k].chunk->data + in.ops[k].offset : in.constants[constant++];
  }

  int told = 0;
  if (kernel.checks_flags) take_flags(kernel.long_double);
  if (kernel.kind == Kernel::ELEMENTWISE) {
    bool invalid = false;
    if (Error* e = run_elementwise(rt, in, b, &invalid)) return e;
    if (in.put_off && !in.has_refs) return nullptr;
    if (invalid) return judge_flags(rt, in, kInvalid);
  } else if (kernel.kind == Kernel::ROLL) {
    roll(in, b.ptrs[0], b.ptrs[1], 0, in.size());
  } else if (kernel.kind == Kernel::PICK) {
    return run_gather(in, b, crew);
  } else if (kernel.kind == Kernel::REDUCE) {
    told = run_reduction(in, b, crew);
  } else {
    if (kernel.gathers) return run_gather(in, b, crew);
    if (kernel.check)
      if (Error* e = kernel.check(in, b)) return e;
    told = run_gufunc(rt, in, b, crew);
  }
  if (kernel.checks_flags)
    if (const int flags = told | take_flags(kernel.long_double)) {
      if (!kernel.invalid) return judge_flags(rt, in, flags);
      if (flags & kInvalid) return new Error(Error::LINALG, kernel.invalid);
    }
  return nullptr;
}

Loop where_of_size(int size) {
  return of_size(size, [](auto item) -> Loop { return where_loop<decltype(item)>; });
}

Loop warning_of_size(int size) {
  return of_size(size, [](auto item) -> Loop { return warning_loop<decltype(item)>; });
}

}  // namespace lazyarray
