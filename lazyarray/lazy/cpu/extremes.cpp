// extremes: the largest or smallest number of a long line of floats, of which threads go through parts.
#include "lazy/cpu/extremes.h"

#include "lazy/cpu/run.h"

namespace lazyarray {

namespace {

constexpr size_t kSlot = 64;  // a part's result has a cache line to itself

class Line {
 public:
  Line(const Instr& in, const Block& b, npy_intp portion)
      : kernel_(*in.kernel), first_(b.ptrs[0]), step_(b.strides[0][0]), length_(b.shape[0]), portion_(portion) {
    slots_.reset(new (std::nothrow) char[static_cast<size_t>(parts()) * kSlot]);
  }
  npy_intp parts() const { return (length_ + portion_ - 1) / portion_; }
  bool has_memory() const { return slots_ != nullptr; }

  void work() {
    while (!Engine::called_away()) {
      const npy_intp part = next_.fetch_add(1, std::memory_order_relaxed);
      if (part >= parts()) break;
      const npy_intp begin = part * portion_;
      reduce(first_ + begin * step_, step_, std::min(portion_, length_ - begin), slot(part));
    }
  }
  void join(char* to) const { reduce(slot(0), kSlot, parts(), to); }

 private:
  char* slot(npy_intp part) const { return slots_.get() + static_cast<size_t>(part) * kSlot; }
  void reduce(char* from, npy_intp step, npy_intp n, char* to) const {
    start_result(kernel_, from, to);
    char* args[3] = {to, from + step, to};
    const npy_intp steps[3] = {0, step, 0};
    if (--n > 0) kernel_.fn(args, &n, steps, kernel_.data);
  }

  const Kernel& kernel_;
  char* const first_;
  const npy_intp step_, length_, portion_;
  std::unique_ptr<char[]> slots_;
  std::atomic<npy_intp> next_{0};
};

}  // namespace

bool is_unique(const char* x, int dtype) {
  auto unique = [&](auto number) {
    std::memcpy(&number, x, sizeof number);
    return number != 0 && number == number;
  };
  return dtype == f8 ? unique(0.0) : dtype == f4 && unique(0.0f);
}

bool extreme_in_parts(const Instr& in, const Block& b, const Crew& crew) {
  const Kernel& kernel = *in.kernel;
  const int dtype = kernel.dtypes[1];
  if (b.ndim != 1 || in.reduced != 1 || !kernel.starts_with_first || (dtype != f4 && dtype != f8)) return false;
  Line line(in, b, crew.portion(in.cost_ns, b.shape[0]));
  if (line.parts() < 2 || !line.has_memory()) return false;
  crew.share(line, line.parts());
  alignas(16) char result[16];
  line.join(result);
  if (!is_unique(result, dtype)) return false;
  std::memcpy(b.ptrs[1], result, static_cast<size_t>(info(dtype).size));
  return true;
}

}  // namespace lazyarray
