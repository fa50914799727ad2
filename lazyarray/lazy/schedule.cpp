// Scheduler: turns a segment into stages, the stages into operators, and pushes them.
#include "lazy/schedule.h"

namespace lazyarray {

const char* Bundle::name() const {
  if (instrs.size() == 1) return instrs[0]->kernel->name;
  return steps.size() == 1 && steps[0].plan ? "fused" : "segment";
}

Prop Bundle::prop(bool tiny) const {
  if (instrs[0]->kernel->kind == Kernel::TRANSFER)
    return instrs[0]->fetches() ? Prop::COPY_FROM_GPU : Prop::COPY_TO_GPU;
  return tiny && !device.has_streams() ? Prop::ASYNC : Prop::NORMAL;
}

bool Bundle::in_scratch(size_t instr, int op) const {
  if (!is_temporary(instrs[instr]->ops[op].chunk)) return false;
  for (const Step& s : steps)
    if (s.plan && s.begin <= instr && instr < s.end) return !s.plan->in_memory(instr - s.begin, op);
  return true;
}

std::shared_ptr<Report> Scheduler::report() {
  std::lock_guard<std::mutex> g(report_mu_);
  return report_;
}

bool Scheduler::arrange(const std::vector<Instr*>& segment, bool often) {
  bool fusing = false;
  // One alone that threads don't share is a call of its loop: a plan, its tiles and the report cost 1 to 2 us.
  const bool alone = segment.size() == 1 && !often && segment[0]->cost_ns < tiles_->split_ns && segment[0]->device().plain();
  for (Instr* in : segment) {
    if (!fuses || alone || in->cost_ns < policy_->fuse_ns || !fuser_.fusable(*in)) continue;
    fusing = true;
    break;
  }
  bundles_.clear();
  if (fusing) {
    std::vector<Stage>& stages = fuser_.cut(segment, ++plan_);
    plan_++;
    for (Stage& s : stages)
      if (!s.instrs.empty()) add(s.instrs.data(), s.instrs.size(), &s, often);
  } else {
    plan_++;
    int index = 0;
    for (Instr* const& in : segment) {
      in->index = index++;
      add(&in, 1, nullptr, often);
    }
  }
  return fusing;
}

Status Scheduler::push(std::vector<Instr*>& segment, Engine::After& after) {
  Status status = Status::OK;
  size_t pushed = 0;
  try {
    const bool fusing = arrange(segment);
    if (fusing || keeps_reports) keep(report_of(segment));
    for (; pushed < bundles_.size(); ++pushed) {
      const Status s = push_bundle(bundles_[pushed], static_cast<int>(pushed), segment, after);
      if (s != Status::OK) status = s;
    }
  } catch (const std::bad_alloc&) {
    for (; pushed < bundles_.size(); ++pushed) delete bundles_[pushed];
    bundles_.clear();
    segment.erase(std::remove(segment.begin(), segment.end(), nullptr), segment.end());
    throw;
  }
  segment.clear();
  return status;
}

std::shared_ptr<Report> Scheduler::report_of(const std::vector<Instr*>& segment) {
  auto report = std::make_shared<Report>(segment.size(), bundles_.size());
  for (size_t i = 0; i < bundles_.size(); ++i) describe(*bundles_[i], report, i);
  return report;
}

void Scheduler::keep(const std::shared_ptr<Report>& report) {
  {
    std::lock_guard<std::mutex> g(report_mu_);
    report_ = report;
  }
  if (on_report) on_report(report);
}

Error* Scheduler::run(void* arg, RunContext& ctx) {
  Bundle* bundle = static_cast<Bundle*>(arg);
  Executor& executor = *bundle->scheduler->executor_;
  if (bundle->report) bundle->report->begins(bundle->line, bundle->scheduler->engine_->now());
  size_t stage = 0;
  const TilePolicy& tiles = *bundle->scheduler->tiles_;
  const Crew crew{ctx.engine, ctx.op, tiles.split_ns, tiles.task_ns, tiles.call_ns};
  const auto each = [&] {
    for (const Bundle::Step& s : bundle->steps) {
      int threads = 0;
      if (s.plan)
        threads = bundle->backend->pass(executor, *s.plan, bundle->instrs.data() + s.begin, s.end - s.begin, ctx.op);
      else
        for (size_t i = s.begin; i < s.end; ++i) executor.step(*bundle->instrs[i], &crew);
      if (bundle->report) bundle->report->lines[bundle->line].stages[stage++].threads = threads;
    }
  };
  if (bundle->kept)
    bundle->backend->again(executor, *bundle->kept, bundle->instrs.data(), bundle->instrs.size(), each);
  else
    each();
  if (bundle->report) bundle->report->ends(bundle->line, bundle->scheduler->engine_->now());
  if (ctx.engine->profiling()) try {
      profile_memory(*ctx.engine, bundle->instrs);
    } catch (const std::bad_alloc&) {  // unseen
    }
  return nullptr;
}

void Scheduler::describe(void* arg, ProfileNote& to) {
  const Bundle* bundle = static_cast<Bundle*>(arg);
  uint16_t stage = 0;
  for (const Bundle::Step& s : bundle->steps)
    profile_stage(to, bundle->instrs, s.begin, s.end, stage++, s.plan.get());
}

void Scheduler::drop(void* arg) {
  Bundle* bundle = static_cast<Bundle*>(arg);
  Scheduler* const me = bundle->scheduler;
  for (Instr* in : bundle->instrs) me->pool_->drop(in);
  delete bundle;
  me->store_->watch_idle();  // the last of its chunks may have died
}

void Scheduler::add(Instr* const* instrs, size_t n, Stage* stage, bool often) {
  int join = -1;
  double ns = 0;
  int64_t bytes = 0;
  bool cheap = true;
  if (stage && stage->fused) find_temporaries(*stage);
  for (size_t i = 0; i < n; ++i) {
    Instr& in = *instrs[i];
    ns += in.cost_ns;
    cheap &= in.kernel->kind != Kernel::PYTHON && in.kernel->kind != Kernel::TRANSFER && !in.wide;
    bool kept = false;
    for (int k = 0; k < in.nop; ++k) {
      Chunk* c = in.ops[k].chunk;
      if (!c) continue;
      PlanNotes& notes = notes_of(c);
      notes.begin(plan_);
      if (notes.temporary) continue;
      join = std::max(join, notes.last_write);
      if (in.writes(k)) {
        join = std::max(join, notes.last);
        kept = true;
      }
    }
    if (kept) bytes += in.bytes;
  }
  const Device device = instrs[0]->device();
  if (stage && stage->fused && device.has_streams()) ns -= policy_->launch_ns * static_cast<double>(n - 1);
  cheap &= ns < policy_->cheap_ns;
  // What is launched in order may as well be launched together: an operator costs as much as a launch.
  if (cheap && device.has_streams() && !bundles_.empty() && bundles_.back()->open && bundles_.back()->device == device)
    join = static_cast<int>(bundles_.size()) - 1;
  if (join < 0 || !cheap || !bundles_[join]->open || !(bundles_[join]->device == device)) {
    join = static_cast<int>(bundles_.size());
    auto fresh = std::make_unique<Bundle>();
    bundles_.push_back(fresh.get());
    fresh.release();
    bundles_.back()->scheduler = this;
    bundles_.back()->device = device;
    bundles_.back()->backend = &executor_->on(device);
    bundles_.back()->open = cheap;
    bundles_.back()->kept = bundles_.back()->backend->keep(often);
  }
  Bundle& p = *bundles_[join];
  const size_t begin = p.instrs.size();
  p.instrs.insert(p.instrs.end(), instrs, instrs + n);
  if (stage && stage->fused) {
    stage->mark = new_mark();
    p.steps.push_back({begin, begin + n, p.backend->plan(*stage, often)});
  } else if (!p.steps.empty() && !p.steps.back().plan) {
    p.steps.back().end = begin + n;
  } else {
    p.steps.push_back({begin, begin + n, nullptr});
  }
  p.ns += ns;
  p.bytes += bytes;
  // What the device keeps as a whole had better be a whole; but memory is shared from one operator to the next.
  if (p.ns > (p.kept ? 4 : 1) * policy_->group_ns) p.open = false;
  for (size_t i = 0; i < n; ++i)
    for (int k = 0; k < instrs[i]->nop; ++k) {
      Chunk* c = instrs[i]->ops[k].chunk;
      if (!c || is_temporary(c)) continue;
      PlanNotes& notes = notes_of(c);
      int& noted = instrs[i]->writes(k) ? notes.last_write : notes.last;
      noted = std::max(noted, join);
    }
}

void Scheduler::find_temporaries(Stage& stage) {
  const int mark = new_mark();
  for (Instr* in : stage.instrs)
    for (int k = 0; k < in->nop; ++k) {
      Chunk* c = in->ops[k].chunk;
      if (!c) continue;
      PlanNotes& notes = notes_of(c);
      notes.begin(plan_);
      if (notes.group != mark) {
        notes.group = mark;
        notes.index = 0;
        notes.temporary = in->overwritten(k) && !lazy(c)->resource && !c->owner;
      }
      notes.index++;
      if (in->writes(k) && stage.form.opens(*in)) notes.temporary = false;
    }
  for (Instr* in : stage.instrs)
    for (int k = 0; k < in->nop; ++k) {
      Chunk* c = in->ops[k].chunk;
      // Work that a complete op left on a stream is ordered for the engine's variables alone.
      if (c && is_temporary(c))
        notes_of(c).temporary = c->handles.load(std::memory_order_acquire) == 0 &&
                                c->refs.load(std::memory_order_acquire) == notes_of(c).index &&
                                !c->footprint.load(std::memory_order_acquire);
    }
}

Status Scheduler::push_bundle(Bundle* bundle, int index, std::vector<Instr*>& segment, Engine::After& after) {
  struct Mark {
    Chunk* chunk;
    bool write;
  };
  std::vector<Mark> marks;
  marks.reserve(3 * bundle->instrs.size());
  Operator* op = engine_->new_op();
  Instr* first = bundle->instrs[0];
  bool native = true;
  try {
    for (Instr* in : bundle->instrs) {
      native &= in->kernel->kind != Kernel::PYTHON;
      for (int k = 0; k < in->nop; ++k) {
        Chunk* c = in->ops[k].chunk;
        if (!c || is_temporary(c)) continue;
        const bool write = in->writes(k);
        PlanNotes& notes = notes_of(c);
        if (notes.group != index) {
          notes.group = index;
          notes.index = static_cast<int>(op->uses.size());
          op->add_use(c, write, false, write ? 1 : 0);
        } else if (write) {
          Use& u = op->uses[notes.index];
          u.write = true;
          u.bumps++;
        }
        marks.push_back({c, write});
      }
    }
  } catch (const std::bad_alloc&) {
    engine_->discard(op);
    throw;
  }
  op->device = bundle->device;
  op->name = bundle->name();
  op->bytes = bundle->bytes;
  op->cost_ns = static_cast<int64_t>(bundle->ns);
  op->prop = bundle->prop(!native && bundle->ns < policy_->gil_ns);
  op->wide = first->wide;  // stands alone
  op->payload.run = run;
  op->payload.drop = drop;
  op->payload.describe = describe;
  op->site = first->site;
  op->payload.arg = bundle;
  op->payload.native = native;
  op->payload.hosted = !native && bundle->device.plain();
  op->payload.own_errors = true;
  // The engine counts each use once more in push(), so the counters never dip to zero; the bundle
  // (with its instructions) may be gone once it is pushed, so the marks are noted first.
  for (Instr* in : bundle->instrs) {
    segment[in->index] = nullptr;
    for (int k = 0; k < in->nop; ++k) {
      Chunk* c = in->ops[k].chunk;
      if (c && is_temporary(c))  // the engine never hears of it
        (in->writes(k) ? c->writers : c->readers).fetch_sub(1, std::memory_order_relaxed);
    }
  }
  for (Mark& m : marks) m.chunk->ref();
  const Status status = engine_->enqueue(op, after, false);
  Error* refused = nullptr;  // another thread has stopped the engine: its outputs stay unwritten
  if (status != Status::OK) refused = refusal();
  for (Mark& m : marks) {
    if (refused && m.write && !lazy(m.chunk)->resource) engine_->set_error(m.chunk, refused);
    (m.write ? m.chunk->writers : m.chunk->readers).fetch_sub(1, std::memory_order_release);
    m.chunk->unref();
  }
  if (refused) refused->unref();
  return status;
}

Error* Scheduler::refusal() try {
  return new Error(Error::RUNTIME, "the engine refused the op: stopped");
} catch (const std::bad_alloc&) {
  return Error::no_memory();
}

void Scheduler::describe(Bundle& bundle, const std::shared_ptr<Report>& report, size_t line) {
  bundle.report = report;
  bundle.line = line;
  Report::Line& l = report->lines[line];
  l.device = bundle.device;
  l.stages = std::vector<Report::Stage>(bundle.steps.size());
  for (size_t i = 0; i < bundle.steps.size(); ++i) {
    const Bundle::Step& s = bundle.steps[i];
    report->note(l.stages[i], bundle.instrs, s.begin, s.end, s.plan);
  }
}

}  // namespace lazyarray
