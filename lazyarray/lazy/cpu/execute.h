// Executor: runs instructions and passes, and settles their variables' errors.
#pragma once
#include "lazy/cpu/pass.h"

namespace lazyarray {

// A failed instruction poisons only its own outputs, wherever it runs; one whose input is poisoned
// is skipped and hands the error on; one that overwrites a poisoned array in full heals it. Fused or
// not, the outcome is that of running one after the other.
class Executor {
 public:
  explicit Executor(Engine* e) : engine_(e) {}

  Runtime runtime;

  void step(Instr& in) {
    Error* error = inherited(in);
    const bool own = !error;
    if (own) error = run(runtime, in);
    if (in.put_off && !in.has_refs) return;
    if (error && own) publish(in, error);
    settle(in, error);
    if (!in.has_refs)
      for (int k = in.nin; k < in.nop; ++k)
        in.ops[k].chunk->version.fetch_add(1, std::memory_order_relaxed);
    if (error) error->unref();
  }

  // Runs a fused pass inside `op`, whose pool's idle workers take part; returns how many threads did.
  int pass(const Plan& plan, Instr* const* instrs, Op* op) {
    const size_t n = plan.members.size();
    std::vector<Error*> errors(n, nullptr);
    std::vector<uint8_t> runs(n);
    bool any = false;
    int threads = 0;
    for (size_t m = 0; m < n; ++m) {
      Instr& in = *instrs[m];
      errors[m] = inherited(in);
      if (!errors[m]) {
        for (int k = 0; k < in.nop && !errors[m]; ++k)
          if (plan.members[m].where[k] == Member::kMemory) errors[m] = allocate(in.ops[k].chunk);
        if (errors[m]) publish(in, errors[m]);
      }
      runs[m] = !errors[m];
      any |= runs[m];
      settle(in, errors[m]);
    }
    for (size_t m = 0; m < n; ++m)  // what writes into the target of a copy that has none
      if (const int copy = plan.members[m].copied_by; copy >= 0 && !runs[copy]) runs[m] = 0;
    if (any) {
      Pass pass(runtime, plan, instrs, runs.data());
      if (plan.tasks > 1)
        engine_->share(op, [](void* p) { static_cast<Pass*>(p)->work(); }, &pass,
                       static_cast<int>(std::min<npy_intp>(plan.tasks - 1, 1 << 20)));
      else
        pass.work();
      pass.finish();
      threads = pass.threads();
      // In order, as if each had run after the one before it. Until something fails, what was
      // settled above holds.
      bool failing = pass.failed();
      for (size_t m = 0; m < n; ++m) {
        Instr& in = *instrs[m];
        if (runs[m]) {
          Error* own = pass.take_error(m);
          if (!own && failing) errors[m] = inherited(in);
          if (!own && !errors[m] && pass.flags(m)) own = judge_flags(runtime, in, pass.flags(m));
          if (own) {
            publish(in, own);
            errors[m] = own;
            failing = true;
          }
        }
        if (failing) settle(in, errors[m]);
      }
    }
    for (Error* e : errors)
      if (e) e->unref();
    return threads;
  }

 private:
  // The error of an input, with a reference; or null.
  Error* inherited(Instr& in) {
    for (int k = 0; k < in.nop; ++k) {
      Chunk* c = in.ops[k].chunk;
      if (!c || in.overwritten(k)) continue;
      if (c->error.load(std::memory_order_acquire))
        if (Error* e = engine_->error_of(c)) return e;
    }
    return nullptr;
  }
  // A failure of the instruction itself gets its name and line.
  void publish(Instr& in, Error* error) {
    if (!error->op) error->op = in.kernel->name;
    if (!error->site && !error->exception) {
      if (!in.site.code && !in.has_refs) in.site.capture();
      error->site = in.site.code;
      error->lasti = in.site.lasti;
      error->drop = drop_error;
      in.site.code = nullptr;
    }
    engine_->report(error);
  }
  void settle(Instr& in, Error* error) {
    for (int k = in.nin; k < in.nop; ++k) {
      Chunk* c = in.ops[k].chunk;
      if (error && !c->resource) engine_->set_error(c, error);
      else if (in.overwritten(k) && c->error.load(std::memory_order_relaxed))
        engine_->set_error(c, nullptr);
    }
  }

  Engine* const engine_;
};

}  // namespace lazyarray
