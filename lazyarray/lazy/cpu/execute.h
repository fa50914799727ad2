// Executor: runs instructions and passes, and settles their variables' errors.
#pragma once
#include <utility>

#include "lazy/cpu/pass.h"
#include "lazy/cuda/runner.h"

namespace lazyarray {

// A failed instruction poisons only its own outputs, wherever it runs; one whose input is poisoned
// is skipped and hands the error on; one that overwrites a poisoned array in full heals it. Fused or
// not, the outcome is that of running one after the other.
class Executor {
 public:
  explicit Executor(Engine* e) : engine_(e) {}

  Runtime runtime;
  cuda::Runner* gpu = nullptr;  // once a GPU is open

  void step(Instr& in, const Crew* crew = nullptr);

  // Runs a fused stage on a GPU. What is poisoned, or can't be fused there, runs one by one.
  void gpu_pass(const cuda::GpuPlan& plan, Instr* const* instrs, size_t n);

  // Runs a fused pass inside `op`, whose pool's idle workers take part; returns how many threads did.
  //
  // What each variable holds is kept in `Errors` in program order, and written to the variables at the
  // end: while the pass runs they say what they said before it, which is what decides.
  int pass(const Plan& plan, Instr* const* instrs, Op* op);

 private:
  struct Owned : std::vector<Error*> {
    explicit Owned(size_t n) : std::vector<Error*>(n, nullptr) {}
    Owned(const Owned&) = delete;
    ~Owned();
    Error* take(size_t m) { return std::exchange((*this)[m], nullptr); }
  };

  // What variables hold, instruction by instruction; apply() tells them. Until then they say what
  // they said before. Keeps a reference to each error that it names.
  class Errors {
   public:
    explicit Errors(Engine* e) : engine_(e) {}
    Errors(const Errors&) = delete;
    ~Errors() {
      for (Error* e : kept_) e->unref();
    }
    // The error of an input, or null.
    Error* inherited(Instr& in);
    void settle(Instr& in, Error* error);
    void keep(Error* e);
    void apply() const {
      for (const auto& [chunk, error] : changed_) engine_->set_error(chunk, error);
    }

   private:
    Error* of(Chunk* c);
    void put(Chunk* c, Error* error);
    Engine* const engine_;
    std::vector<std::pair<Chunk*, Error*>> changed_;
    std::vector<Error*> kept_;
  };

  // There was no memory to run it, or to say how it had ended.
  void starve(Instr& in);

  // A failure of the instruction itself gets its name and line.
  void publish(Instr& in, Error* error);

  Engine* const engine_;
};

}  // namespace lazyarray
