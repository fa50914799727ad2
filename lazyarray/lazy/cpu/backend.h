// CpuBackend: the host's processors, which run NumPy's own loops over tiles.
#pragma once
#include "lazy/backend.h"
#include "lazy/cpu/planner.h"

namespace lazyarray {

class CpuBackend final : public Backend {
 public:
  CpuBackend(Runtime* runtime, const TilePolicy* tiles) : planner(tiles), runtime_(*runtime) {}
  Planner planner;

  void price(Instr&) const override {}
  std::shared_ptr<const FusedPlan> plan(const Stage& stage, bool often) override {
    return planner.plan(stage, often);
  }
  void expect(const FusedPlan& plan, double times) override;
  void forget_plans() override { planner.forget(); }
  Error* run(Instr& in, const Crew* crew) override;
  // What each variable holds is kept in `Errors` in program order, and written to the variables at the
  // end: while the pass runs they say what they said before it, which is what decides.
  int pass(Executor& executor, const FusedPlan& plan, Instr* const* instrs, size_t n, Operator* op) override;

 private:
  Runtime& runtime_;
};

}  // namespace lazyarray
