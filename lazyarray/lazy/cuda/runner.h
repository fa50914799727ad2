// Runner: runs instructions and fused stages on a GPU, on the stream of the op that they are part of.
#pragma once
#include "lazy/cpu/run.h"
#include "lazy/cuda/blas.h"
#include "lazy/cuda/hosted.h"
#include "lazy/cuda/plan.h"
#include "lazy/cuda/transfer.h"

namespace lazyarray::cuda {

// What needs Python; each takes the GIL.
struct Hooks {
  // Compiles a kernel for a device. A kernel that can't be expressed has no function, and no error.
  Error* (*compile)(const Launch&, int gpu, Functions*) = nullptr;
  // What isn't elementwise or a reduction, by CuPy; false if CuPy is not known to do what NumPy does.
  Error* (*library)(Instr&, int gpu, Stream_t stream, bool* ran) = nullptr;
  Chunk* (*host_chunk)(size_t bytes) = nullptr;  // with memory, or null
};

class Runner {
 public:
  explicit Runner(Runtime& rt) : runtime_(rt) {}
  Hooks hooks;
  GpuPlanner planner;
  Blas blas;
  std::atomic<uint64_t> launched{0};  // kernels

  // How often instructions ran on the host instead, by the kernel's name.
  std::map<std::string, uint64_t> hosted();

  // One instruction, whose inputs are healthy. The failure (owned) or null.
  Error* run(Instr& in);

  // A fused stage, all of whose inputs are healthy. Without an error and not `ran`: nothing happened, and
  // its instructions have to run one by one.
  Error* pass(const GpuPlan& plan, Instr* const* instrs, size_t n, bool* ran);

 private:
  static Stream* stream_of(Device d, Error** error);

  static bool is_product(const Instr& in) {
    return in.kernel->kind == Kernel::GUFUNC && std::strcmp(in.kernel->name, "matmul") == 0;
  }
  static Error* give_memory(Chunk* c, Gpu* gpu);

  // A kernel can't raise: what may be wrong with values is looked for on the host.
  static bool asks_values(Instr& in);
  static bool negative_constant(Instr& in);

  // Their chunks have memory now, some of it unknown to the engine: it is in use until the op's event.
  static void note(Instr* const* instrs, size_t n);

  Runtime& runtime_;
  std::mutex mu_;  // guards hosted_
  std::map<std::string, uint64_t> hosted_;

  struct Workspace {
    char* data = nullptr;
    size_t bytes = 0;
  };

  Error* launch(const GpuPlan& plan, Instr* const* instrs, const Stream& stream, bool* ran);

  Error* launch(const Launch& l, const Functions& f, Instr* const* instrs, const Stream& stream,
                char* workspace);
};

}  // namespace lazyarray::cuda
