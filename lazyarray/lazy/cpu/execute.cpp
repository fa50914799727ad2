// Executor: runs instructions and passes, and settles their variables' errors.
#include "lazy/cpu/execute.h"

namespace lazyarray {

void Executor::step(Instr& in, const Crew* crew) {
  try {
    Errors errors(engine_);
    Error* error = errors.inherited(in);
    if (!error) {
      error = in.device().is_gpu() ? gpu->run(in) : run(runtime, in, crew);
      if (in.put_off && !in.has_refs) return;
      if (error) {
        publish(in, error);
        errors.keep(error);
      }
    }
    errors.settle(in, error);
    errors.apply();
  } catch (const std::bad_alloc&) {
    starve(in);
  }
  if (!in.has_refs)
    for (int k = in.nin; k < in.nop; ++k)
      in.ops[k].chunk->version.fetch_add(1, std::memory_order_relaxed);
}

void Executor::gpu_pass(const cuda::GpuPlan& plan, Instr* const* instrs, size_t n) try {
  Errors errors(engine_);
  bool healthy = true;
  for (size_t m = 0; m < n && healthy; ++m) {
    healthy = !errors.inherited(*instrs[m]);
    errors.settle(*instrs[m], nullptr);
  }
  bool ran = false;
  Error* error = healthy ? gpu->pass(plan, instrs, n, &ran) : nullptr;
  if (!ran && !error) {
    for (size_t m = 0; m < n; ++m) step(*instrs[m]);
    return;
  }
  if (error) {
    publish(*instrs[0], error);
    errors.keep(error);
    for (size_t m = 0; m < n; ++m) errors.settle(*instrs[m], error);
  }
  errors.apply();
} catch (const std::bad_alloc&) {
  for (size_t m = 0; m < n; ++m) starve(*instrs[m]);
}

int Executor::pass(const Plan& plan, Instr* const* instrs, Op* op) try {
  const size_t n = plan.members.size();
  Owned failed(n);  // before it ran: until published
  std::vector<uint8_t> runs(n);
  Errors before(engine_);
  bool any = false;
  for (size_t m = 0; m < n; ++m) {
    Instr& in = *instrs[m];
    Error* e = before.inherited(in);
    bool zeroed = false;
    // Among others, zeros are written tile by tile: they are in the cache then, for those who need them.
    bool* const fresh = in.zeros && n == 1 ? &zeroed : nullptr;
    if (!e)
      for (int k = 0; k < in.nop && !failed[m]; ++k)
        if (plan.members[m].where[k] == Member::kMemory) failed[m] = allocate(in.ops[k].chunk, fresh);
    if (!e) e = failed[m];
    runs[m] = !e && !zeroed;
    any |= runs[m];
    before.settle(in, e);
  }
  for (size_t m = 0; m < n; ++m)
    // It would write into the target of a copy that is not made: then one after the other.
    if (const int copy = plan.members[m].copied_by; copy >= 0 && runs[m] && !runs[copy]) {
      for (size_t i = 0; i < n; ++i) step(*instrs[i]);
      return 1;
    }
  int threads = 0;
  std::unique_ptr<Pass> pass;
  if (any) {
    pass.reset(new Pass(runtime, plan, instrs, runs.data()));
    if (plan.tasks > 1)
      engine_->share(op, [](void* p) { static_cast<Pass*>(p)->work(); }, pass.get(),
                     static_cast<int>(std::min<npy_intp>(plan.tasks - 1, 1 << 20)));
    else
      pass->work();
    pass->finish();
    threads = pass->threads();
  }
  Errors after(engine_);
  for (size_t m = 0; m < n; ++m) {
    Instr& in = *instrs[m];
    Error* own = failed.take(m);
    if (!own && runs[m]) own = pass->take_error(m);
    Error* e = after.inherited(in);
    if (e) {
      // What it met in the leavings of a failed one is no failure of its own.
      if (own) own->unref();
    } else {
      if (!own && runs[m] && pass->flags(m)) own = judge_flags(runtime, in, pass->flags(m));
      if (own) {
        publish(in, own);
        after.keep(own);
        e = own;
      }
    }
    after.settle(in, e);
  }
  after.apply();
  return threads;
} catch (const std::bad_alloc&) {
  for (size_t m = 0; m < plan.members.size(); ++m) starve(*instrs[m]);
  return 1;
}

Executor::Owned::~Owned() {
  for (Error* e : *this)
    if (e) e->unref();
}

Error* Executor::Errors::inherited(Instr& in) {
  for (int k = 0; k < in.nop; ++k) {
    Chunk* c = in.ops[k].chunk;
    if (!c || in.overwritten(k)) continue;
    if (Error* e = of(c)) return e;
  }
  return nullptr;
}

void Executor::Errors::settle(Instr& in, Error* error) {
  for (int k = in.nin; k < in.nop; ++k) {
    Chunk* c = in.ops[k].chunk;
    if (error ? !c->resource : in.overwritten(k) && of(c)) put(c, error);
  }
}

void Executor::Errors::keep(Error* e) {
  try {
    kept_.push_back(e);
  } catch (const std::bad_alloc&) {
    e->unref();
    throw;
  }
}

Error* Executor::Errors::of(Chunk* c) {
  for (const auto& [chunk, error] : changed_)
    if (chunk == c) return error;
  if (!c->error.load(std::memory_order_acquire)) return nullptr;
  Error* e = engine_->error_of(c);
  if (e) keep(e);
  return e;
}

void Executor::Errors::put(Chunk* c, Error* error) {
  for (auto& [chunk, old] : changed_)
    if (chunk == c) {
      old = error;
      return;
    }
  changed_.emplace_back(c, error);
}

void Executor::starve(Instr& in) {
  Error* e = Error::no_memory();
  publish(in, e);
  for (int k = in.nin; k < in.nop; ++k)
    if (!in.ops[k].chunk->resource) engine_->set_error(in.ops[k].chunk, e);
  e->unref();
}

void Executor::publish(Instr& in, Error* error) {
  if (error->shared) return engine_->report(error);
  if (!error->op) error->op = in.kernel->name;
  if (!error->site && !error->exception) {
    if (!in.site && !in.has_refs) in.site = interpreter().here();
    error->site = in.site;
  }
  engine_->report(error);
}

}  // namespace lazyarray
