// Runner: the backend of CUDA's devices. It runs all of an op on the stream of the thread that has the op.
#pragma once
#include "lazy/cuda/hosted.h"
#include "lazy/cuda/launches.h"
#include "lazy/cuda/plan.h"
#include "lazy/cuda/transfer.h"
#include "lazy/executor.h"

namespace lazyarray {
class Recorder;
}

namespace lazyarray::cuda {

// What needs Python; each takes the GIL.
struct Hooks {
  // Compiles a kernel for a device. A kernel that can't be expressed has no function, and no error.
  Error* (*compile)(const Launch&, int gpu, Functions*) = nullptr;
  // What isn't elementwise or a reduction, by CuPy; false if CuPy is not known to do what NumPy does.
  Error* (*library)(Instr&, int gpu, Stream_t stream, bool* ran) = nullptr;
  Chunk* (*host_chunk)(size_t bytes) = nullptr;  // with memory, or null
};

class Runner final : public Backend {
 public:
  // `host` runs what there is no kernel for.
  Runner(Backend* host, const FlushPolicy* policy) : host_(*host), policy_(*policy) {}
  // GPUs' work and memory are its own from now on.
  void serve(Recorder& recorder);
  Hooks hooks;
  GpuPlanner planner;
  Blas blas;
  std::atomic<uint64_t> launched{0};  // kernels

  // How often instructions ran on the host instead, by the kernel's name.
  std::map<std::string, uint64_t> hosted();

  bool holds(int dtype) const override;
  int64_t most_pending(const Device& d) const override;
  void price(Instr& in) const override;
  std::shared_ptr<const FusedPlan> plan(const Stage& stage, bool) override {
    return planner.plan(stage.instrs.data(), stage.instrs.size(), &stage.form.axes);
  }
  void forget_plans() override {}  // no figure decides them
  Error* run(Instr& in, const Crew* crew) override;
  // What is poisoned, or can't be fused here, runs one by one.
  int pass(Executor& executor, const FusedPlan& plan, Instr* const* instrs, size_t n, Operator* op) override;
  std::shared_ptr<Kept> keep(bool program) override {
    if (program) return std::make_shared<Graphs>();
    return loops_;
  }
  void again(Executor& executor, Kept& kept, Instr* const* instrs, size_t n,
             const std::function<void()>& each) override;

 private:
  // Where kernels and products are collected; null: they are launched now.
  static Launches* collected();
  // From here on they are: something comes that can't be collected, and has to come after them.
  Error* launch_collected(const Stream& stream);
  // A fused stage, all of whose inputs are healthy. Without an error and not `ran`: nothing happened, and
  // its instructions have to run one by one.
  Error* fused(const GpuPlan& plan, Instr* const* instrs, size_t n, bool* ran);

  static Stream* stream_of(Device d, Error** error);

  static bool is_product(const Instr& in) {
    return in.kernel->product;
  }
  static Error* give_memory(Chunk* c, Gpu* gpu);

  // A kernel can't raise: what may be wrong with values is looked for on the host (Kernel::check).
  static bool asks_values(const Instr& in);
  // ... if it is a constant, at once; the failure (owned), or null.
  static Error* refusal(Instr& in);

  // Their chunks have memory now, some of it unknown to the engine: it is in use until the op's event.
  static void note(Instr* const* instrs, size_t n);

  Backend& host_;
  const FlushPolicy& policy_;
  const std::shared_ptr<Loops> loops_ = std::make_shared<Loops>();
  std::mutex mu_;  // guards hosted_
  std::map<std::string, uint64_t> hosted_;

  using Workspace = Launches::Space;
  Error* launch(const GpuPlan& plan, Instr* const* instrs, const Stream& stream, bool* ran);
  // ... once what uses them was launched.
  static Error* let_go(const std::vector<Workspace>& spaces, MemoryPool& pool, const Stream& stream, Error* error);

  Error* launch(const Launch& l, const Functions& f, Instr* const* instrs, const Stream& stream,
                char* workspace);
};

}  // namespace lazyarray::cuda
