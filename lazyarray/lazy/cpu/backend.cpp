// CpuBackend: the host's processors, which run NumPy's own loops over tiles.
#include "lazy/cpu/backend.h"

#include "lazy/cpu/pass.h"
#include "lazy/executor.h"

namespace lazyarray {

// Errors by instruction, before they are published.
struct Owned : std::vector<Error*> {
  explicit Owned(size_t n) : std::vector<Error*>(n, nullptr) {}
  Owned(const Owned&) = delete;
  ~Owned() {
    for (Error* e : *this)
      if (e) e->unref();
  }
  Error* take(size_t m) { return std::exchange((*this)[m], nullptr); }
};

Error* CpuBackend::run(Instr& in, const Crew* crew) { return lazyarray::run(runtime_, in, crew); }

// Whether passes are compiled, by the last few: what the recorder goes by where either way would do.
static void count(Runtime& runtime, const Plan& plan) {
  if (plan.chained ? plan.chains.empty() : !plan.may_chain) return;
  const bool again = plan.ran.exchange(true, std::memory_order_relaxed);  // else to plan it took more than it gains
  const bool ready = plan.chained && std::all_of(plan.chains.begin(), plan.chains.end(), [](const Chain& c) { return c.loop->ready(); });
  const int before = runtime.compiled.load(std::memory_order_relaxed);
  const int now = !again                ? std::max(before - 2, -4)
                  : ready || before < 0 ? std::min(before + 1, 8)
                                        : std::max(before - 2, 0);
  runtime.compiled.store(now, std::memory_order_relaxed);
}

void CpuBackend::expect(const FusedPlan& plan, double times) {
  for (const Chain& c : static_cast<const Plan&>(plan).chains)
    tier().worked(c.loop.get(), times * c.ns, planner.policy.compile_ns);
}

int CpuBackend::pass(Executor& executor, const FusedPlan& fused, Instr* const* instrs, size_t n, Operator* op) try {
  const Plan& plan = static_cast<const Plan&>(fused);
  Engine* const engine = executor.engine();
  Owned failed(n);  // before it ran: until published
  std::vector<uint8_t> runs(n);
  Errors before(engine);
  bool any = false;
  for (size_t m = 0; m < n; ++m) {
    Instr& in = *instrs[m];
    Error* e = before.inherited(in);
    bool zeroed = false;
    // Among others, zeros are written tile by tile: they are in the cache then, for those who need them.
    bool* const fresh = in.zeros && n == 1 ? &zeroed : nullptr;
    if (!e)
      for (int k = 0; k < in.nop && !failed[m]; ++k)
        if (plan.origin(plan.members[m], k) == Member::kMemory) failed[m] = allocate(in.ops[k].chunk, fresh);
    if (!e) e = failed[m];
    runs[m] = !e && !zeroed;
    any |= runs[m];
    before.settle(in, e);
  }
  for (size_t m = 0; m < n; ++m)
    // It would write into the target of a copy that is not made: then one after the other.
    for (int copy : plan.members[m].copied_by)
      if (copy >= 0 && runs[m] && !runs[copy]) {
        for (size_t i = 0; i < n; ++i) executor.step(*instrs[i]);
        return 1;
      }
  int threads = 0;
  std::unique_ptr<Pass> pass;
  if (any) {
    if (tier().now) expect(plan, 1);
    count(runtime_, plan);
    const int64_t begun = engine->now();
    pass.reset(new Pass(runtime_, plan, instrs, runs.data()));
    if (plan.tasks > 1)
      engine->share(op, [](void* p) { static_cast<Pass*>(p)->work(); }, pass.get(),
                     static_cast<int>(std::min<npy_intp>(plan.tasks - 1, 1 << 20)));
    else
      pass->work();
    pass->finish();
    // By what it took: estimates were up to four times that.
    const double took = static_cast<double>(engine->now() - begun);
    const double times = took / std::max(plan.ns, 1.0) + plan.uncounted.exchange(0, std::memory_order_relaxed);
    if (!plan.chained) {
      plan.uncounted.store(times, std::memory_order_relaxed);
      if (plan.may_chain) planner.unchained_ns.store(planner.unchained_ns.load(std::memory_order_relaxed) + took, std::memory_order_relaxed);
    } else if (!tier().now) {
      expect(plan, times);
    }
    threads = std::min(pass->threads(), engine->cores());  // one that was called away may have come twice
  }
  Errors after(engine);
  for (size_t m = 0; m < n; ++m) {
    Instr& in = *instrs[m];
    Error* own = failed.take(m);
    if (!own && runs[m]) own = pass->take_error(m);
    Error* e = after.inherited(in);
    if (e) {
      // What it met in the leavings of a failed one is no failure of its own.
      if (own) own->unref();
    } else {
      if (!own && runs[m] && pass->flags(m)) own = judge_flags(runtime_, in, pass->flags(m));
      if (own) {
        publish(engine, in, own);
        after.keep(own);
        e = own;
      }
    }
    after.settle(in, e);
  }
  after.apply();
  return threads;
} catch (const std::bad_alloc&) {
  for (size_t m = 0; m < n; ++m) starve(executor.engine(), *instrs[m]);
  return 1;
}

}  // namespace lazyarray
