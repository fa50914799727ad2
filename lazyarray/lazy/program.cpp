// Program: instructions that were captured instead of run, planned once and pushed many times.
#include "lazy/program.h"

namespace lazyarray {

Program::~Program() {
  for (Chunk* c : followed) c->unref();
  for (Phase& p : phases)
    for (Pushed& o : p.operators) delete o.bundle;
  for (Instr* in : instrs) recorder_->pool()->drop(in);
  if (arena) arena->unref();
}

void Program::reserve(size_t outputs) {
  auto grow = [](auto& v, size_t n) {
    if (v.capacity() < v.size() + n) v.reserve(2 * v.size() + n + 16);
  };
  grow(instrs, 1);
  grow(writers_, outputs);
}

void Program::capture(Instr* in) {
  instrs.push_back(in);
  in->has_refs = true;
  for (int k = 0; k < in->nop; ++k)
    if (Chunk* c = in->ops[k].chunk) {
      c->ref();
      if (!bore(c)) lazy(c)->captured = true;
    }
}

void Program::capture_first(Instr* in) {
  capture(in);
  std::rotate(instrs.rbegin(), instrs.rbegin() + 1, instrs.rend());
  for (size_t& s : splits) s++;
}

void Program::keep_writer(Chunk* c) {
  if (bore(c)) return;
  for (const Writer& w : writers_)
    if (w.chunk == c) return;
  writers_.push_back({c, history_of(c)});
  c->ref();
  if (Node* n = history_of(c)) n->ref();
}

void Program::follow(Chunk* c) {
  if (bore(c) || std::find(followed.begin(), followed.end(), c) != followed.end()) return;
  followed.push_back(c);
  c->ref();
}

bool Program::writers_changed() const {
  for (const Writer& w : writers_)
    if (history_of(w.chunk) != w.node) return true;
  return false;
}

void Program::restore_writers() {
  std::vector<Writer> all;
  all.swap(writers_);
  for (const Writer& w : all) {
    if (w.chunk->handles.load() > 0) Tape::set_writer(w.chunk, w.node);
    if (w.node) w.node->unref();
    w.chunk->unref();
  }
}

bool Program::impure() const {
  const size_t end = splits.empty() ? instrs.size() : splits[0];
  for (size_t i = 0; i < end; ++i)
    for (int k = instrs[i]->nin; k < instrs[i]->nop; ++k)
      if (lazy(instrs[i]->ops[k].chunk)->resource || !bore(instrs[i]->ops[k].chunk)) return true;
  return false;
}

std::vector<Chunk*> Program::carried(const std::unordered_set<Chunk*>& given) const {
  std::unordered_set<Chunk*> written, now, met;
  std::vector<Chunk*> result;
  size_t next = 0;
  for (size_t i = 0; i < instrs.size(); ++i) {
    if (next < splits.size() && i == splits[next]) {
      written.insert(now.begin(), now.end());
      now.clear();
      next++;
    }
    for (int k = 0; k < instrs[i]->nop; ++k) {
      Chunk* c = instrs[i]->ops[k].chunk;
      if (!c || !bore(c) || lazy(c)->resource || given.count(c)) continue;
      if (written.count(c) && met.insert(c).second) result.push_back(c);
      if (instrs[i]->writes(k)) now.insert(c);
    }
  }
  return result;
}

std::vector<Chunk*> Program::outside(size_t begin, size_t end) const {
  std::unordered_set<Chunk*> met;
  std::vector<Chunk*> result;
  for (size_t i = begin; i < std::min(end, instrs.size()); ++i)
    for (int k = 0; k < instrs[i]->nop; ++k) {
      Chunk* c = instrs[i]->ops[k].chunk;
      if (c && !bore(c) && met.insert(c).second) result.push_back(c);
    }
  return result;
}

std::vector<Chunk*> Program::outside() const {
  std::vector<Chunk*> result = outside(0, instrs.size());
  for (Chunk* c : followed)
    if (std::find(result.begin(), result.end(), c) == result.end()) result.push_back(c);
  return result;
}

std::vector<Chunk*> Program::initialised() const {
  std::unordered_set<Chunk*> met, found;
  std::vector<Chunk*> result;
  for (Instr* in : instrs) {
    for (int k = 0; k < in->nop; ++k) {
      Chunk* c = in->ops[k].chunk;
      if (!c || !bore(c) || lazy(c)->resource) continue;
      if (met.insert(c).second && !in->overwritten(k) && c->data) found.insert(c);
    }
    for (int k = in->nin; k < in->nop; ++k)
      if (found.erase(in->ops[k].chunk)) result.push_back(in->ops[k].chunk);
  }
  return result;
}

int64_t Program::place_of(const Chunk* c) const {
  if (!bore(c)) return kOwnMemory;
  if (is_temporary(c)) return kTemporary;
  return arena && c->owner == arena ? c->data - arena->data : kOwnMemory;
}

bool Program::constant(Chunk* c) const {
  if (!bore(c) || lazy(c)->resource || !c->data) return false;
  for (Instr* in : instrs)
    for (int k = in->nin; k < in->nop; ++k)
      if (in->ops[k].chunk == c) return false;
  return true;
}

bool Program::finish(const std::unordered_set<Chunk*>& substituted, Program* sharing) {
  MemoryPlan plan;
  arrange(substituted, plan);
  planned = plan.planned;
  unplanned = plan.unplanned;
  bound = plan.bound;
  // Under no lock: a GPU's pool may ask Python.
  if (planned && !settle_arena(plan, sharing)) return false;
  // Whoever first writes shared bytes waits for all that use them.
  std::vector<Pushed*> operators;
  for (Phase& phase : phases)
    for (Pushed& o : phase.operators) operators.push_back(&o);
  for (const MemoryPlan::Conflict& c : plan.conflicts) use(*operators[c.bundle], c.chunk, true, 0);
  for (Pushed* o : operators) {
    if (arena) use(*o, arena->turn, false, 0);
    o->places = {};
  }
  finished = true;
  for (Pushed* o : operators)  // not under push_order(): LAZYARRAY_JIT=eager compiles here, with the GIL
    for (const Bundle::Step& s : o->bundle->steps)
      if (s.plan) o->bundle->backend->expect(*s.plan, kRuns);
  return true;
}

void Program::prepare(int phase, const Substitutions& substitutions) {
  unprepare();
  try {
    if (arena && arena->last && arena->last != this) prepare_turn();
    for (size_t i = 0; i < phases.size(); ++i)
      if (phase < 0 || phase == static_cast<int>(i))
        for (Pushed& o : phases[i].operators) prepare(o, substitutions);
  } catch (...) {
    unprepare();
    throw;
  }
}

Status Program::push(int phase) {
  Engine* const engine = recorder_->engine();
  const FlushPolicy& policy = recorder_->policy;
  Engine::After after;
  Status status = Status::OK;
  // As an op alone would, a little work runs in its caller's thread: a worker that has to be woken, and the caller who
  // waits for it, take two or three times as long.
  double ns = 0;
  for (const Operator* op : prepared_) ns += static_cast<double>(op->cost_ns);
  after.runs_little = ns < policy.cheap_ns && engine->pending_ops() == 0;
  {
    std::lock_guard<std::mutex> order(recorder_->push_order());
    if (arena) arena->last = this;
    for (size_t i = 0; i < phases.size(); ++i)
      if ((phase < 0 || phase == static_cast<int>(i)) && phases[i].report) recorder_->scheduler.keep(phases[i].report);
    for (Operator* op : prepared_) {
      const Status s = engine->enqueue(op, after, false);
      if (s != Status::OK) status = s;
    }
    prepared_.clear();
  }
  engine->settle(after);  // may run user code: under no lock
  return status;
}

void Program::arrange(const std::unordered_set<Chunk*>& substituted, MemoryPlan& plan) {
  std::lock_guard<std::mutex> order(recorder_->push_order());
  splits.push_back(instrs.size());
  std::vector<Bundle*> all;
  std::vector<int> ends;  // of the phases, in bundles
  size_t begin = 0;
  std::unordered_map<Chunk*, int> counts;  // of references by instructions
  for (Instr* in : instrs)
    for (int k = 0; k < in->nop; ++k)
      if (in->ops[k].chunk) counts[in->ops[k].chunk]++;
  for (size_t end : splits) {
    phases.emplace_back();
    Phase& phase = phases.back();
    phase.begin = begin;
    phase.end = end;
    const std::vector<Instr*> segment(instrs.begin() + begin, instrs.begin() + end);
    begin = end;
    if (recorder_->scheduler.arrange(segment, true) || recorder_->scheduler.keeps_reports)
      phase.report = recorder_->scheduler.report_of(segment);
    for (Bundle* bundle : recorder_->scheduler.arranged()) {
      phase.operators.push_back(describe(bundle, substituted));
      all.push_back(bundle);
    }
    ends.push_back(static_cast<int>(all.size()));
    std::unordered_map<Chunk*, uint32_t> writes;
    for (Instr* in : segment)
      for (int k = in->nin; k < in->nop; ++k) {
        Chunk* c = in->ops[k].chunk;
        if (!bore(c) || c->handles.load() > 0) writes[c]++;
      }
    for (auto [c, n] : writes) phase.visible.push_back({c, n});
  }
  std::unordered_map<Chunk*, size_t> block_of;
  int p = 0;
  for (const Phase& phase : phases)
    for (const Pushed& o : phase.operators) {
      for (size_t i = 0; i < o.bundle->instrs.size(); ++i)
        for (int k = 0; k < o.bundle->instrs[i]->nop; ++k) {
          Chunk* c = o.bundle->instrs[i]->ops[k].chunk;
          // What has no place in its uses is in scratch memory.
          if (!c || !o.places.count(c) || !is_private(c, counts[c], substituted)) continue;
          // One block lies on one device: that of the first.
          if (!plan.blocks.empty() && plan.blocks[0].chunk->pool != c->pool) continue;
          auto [at, fresh] = block_of.emplace(c, plan.blocks.size());
          if (fresh) plan.blocks.push_back({c, MemoryPlan::rounded(c->nbytes), p, p, i, i});
          plan.blocks[at->second].last = p;
          plan.blocks[at->second].last_at = i;
        }
      ++p;
    }
  plan.place(all, ends);
}

bool Program::is_private(Chunk* c, int count, const std::unordered_set<Chunk*>& substituted) const {
  return bore(c) && !lazy(c)->resource && !c->owner && c->nbytes > Chunk::kSmall && !c->data &&
         c->handles.load() == 0 && c->refs.load() == count && !substituted.count(c);
}

void Program::use(Pushed& o, Chunk* c, bool write, uint32_t bumps) {
  const auto [at, fresh] = o.places.emplace(c, o.uses.size());
  if (fresh) {
    o.uses.emplace_back();
    o.uses.back().var = c;
    o.uses.back().bumps = 0;
  }
  Use& u = o.uses[at->second];
  u.write |= write;
  u.bumps += bumps;
}

Program::Pushed Program::describe(Bundle* bundle, const std::unordered_set<Chunk*>& substituted) {
  Pushed o;
  o.bundle = bundle;
  o.name = bundle->name();
  for (size_t i = 0; i < bundle->instrs.size(); ++i) {
    Instr* in = bundle->instrs[i];
    o.native &= in->kernel->kind != Kernel::PYTHON;
    for (int k = 0; k < in->nop; ++k) {
      Chunk* c = in->ops[k].chunk;
      if (!c) continue;
      if (bundle->in_scratch(i, k)) {
        if (in->writes(k)) temporaries++;
        continue;
      }
      o.substituted |= substituted.count(c) > 0;
      use(o, c, in->writes(k), in->writes(k) ? 1 : 0);
    }
  }
  o.prop = bundle->prop(bundle->ns < recorder_->policy.inline_ns);
  return o;
}

bool Program::settle_arena(const MemoryPlan& plan, Program* sharing) {
  MemoryPool* pool = plan.blocks[0].chunk->pool;
  if (sharing && sharing->arena && sharing->arena->nbytes >= planned && sharing->arena->pool == pool) {
    arena = sharing->arena;
    arena->refs.fetch_add(1);
  } else {
    char* data = pool->allocate_for_all(planned);
    if (!data) return false;
    Chunk* turn = nullptr;
    try {
      turn = store_->create(0, plan.blocks[0].chunk->device);
      arena = new Arena(pool, planned, data, turn);
    } catch (...) {
      if (turn) turn->unref();
      pool->release(data, planned);
      throw;
    }
  }
  for (const MemoryPlan::Block& b : plan.blocks) {
    b.chunk->data = arena->data + b.offset;
    b.chunk->owner = arena;
    b.chunk->drop_owner = [](void* a) { static_cast<Arena*>(a)->unref(); };
    arena->refs.fetch_add(1);
  }
  return true;
}

void Program::unprepare() {
  for (Operator* op : prepared_) recorder_->engine()->discard(op);
  prepared_.clear();
}

Operator* Program::new_op() {
  prepared_.reserve(prepared_.size() + 1 > prepared_.capacity() ? 2 * prepared_.size() + 16 : 0);
  Operator* op = recorder_->engine()->new_op();
  prepared_.push_back(op);
  return op;
}

void Program::prepare_turn() {
  Operator* op = new_op();
  op->add_use(arena->turn, true, false, 0);
  op->device = arena->turn->device;
  op->name = "turn";
  op->prop = Prop::ASYNC;
  op->payload.run = [](void*, RunContext&) -> Error* { return nullptr; };
  op->payload.drop = [](void*) {};
  op->payload.native = true;
  op->payload.own_errors = true;
}

void Program::prepare(Pushed& o, const Substitutions& substitutions) {
  Operator* op = new_op();
  for (const Use& u : o.uses) {
    const Substitution* const s = o.substituted ? substitutions.find(u.var) : nullptr;
    op->add_use(s ? s->to : u.var, u.write, false, u.bumps);
  }
  auto run = std::make_unique<Run>(Run{this, o.bundle, false});
  if (o.substituted && substitutions.size()) {
    run->bundle = copy_of(*o.bundle, substitutions);
    run->own = true;
  }
  ref();
  op->device = o.bundle->device;
  op->name = o.name;
  op->bytes = 0;   // its memory is there already
  op->cost_ns = static_cast<int64_t>(o.bundle->ns);
  op->prop = o.prop;
  op->wide = o.bundle->instrs[0]->wide;
  op->payload.run = [](void* arg, RunContext& ctx) { return Scheduler::run(static_cast<Run*>(arg)->bundle, ctx); };
  op->payload.drop = [](void* arg) {
    Run* r = static_cast<Run*>(arg);
    if (r->own) {
      for (Instr* in : r->bundle->instrs) r->program->recorder_->pool()->drop(in);
      delete r->bundle;
    }
    r->program->unref();
    delete r;
  };
  op->payload.describe = [](void* arg, ProfileNote& to) { Scheduler::describe(static_cast<Run*>(arg)->bundle, to); };
  if (recorder_->engine()->profiling()) op->site = interpreter().here();
  op->payload.arg = run.release();
  op->payload.native = o.native;
  op->payload.own_errors = true;
}

Bundle* Program::copy_of(const Bundle& bundle, const Substitutions& given) {
  struct Held : std::vector<Chunk*> {
    ~Held() {
      for (Chunk* c : *this) c->unref();
    }
  } fresh_ones;
  Substitutions own;
  for (const Bundle::Step& s : bundle.steps)
    for (size_t i = s.begin; s.plan && s.plan->may_fall_back() && i < s.end; ++i)
      for (int k = bundle.instrs[i]->nin; k < bundle.instrs[i]->nop; ++k) {
        Chunk* c = bundle.instrs[i]->ops[k].chunk;
        if (!c || s.plan->in_memory(i - s.begin, k) || !is_temporary(c)) continue;
        if (given.find(c) || own.find(c)) continue;
        fresh_ones.reserve(fresh_ones.size() + 1);
        fresh_ones.push_back(store_->create(c->nbytes, c->device));
        own.add(c, fresh_ones.back(), 0);
      }
  auto copy = std::make_unique<Bundle>(bundle);
  size_t made = 0;
  try {
    for (; made < copy->instrs.size(); ++made) copy->instrs[made] = copy_of(*copy->instrs[made], given, own);
  } catch (...) {
    while (made-- > 0) recorder_->pool()->drop(copy->instrs[made]);
    throw;
  }
  return copy.release();
}

Instr* Program::copy_of(Instr& in, const Substitutions& given, const Substitutions& own) {
  Instr* const fresh = recorder_->pool()->take();
  fresh->has_refs = false;
  try {
    fresh->copy_from(in);
    if (in.py) {
      fresh->py.reset(new PyCall());
      fresh->py->fn = interpreter().refer(in.py->fn);
      fresh->py->context = interpreter().copy_context(in.py->context);  // no two threads may be inside one
      if (!fresh->py->context) throw std::bad_alloc();
      fresh->py->views = in.py->views;
      fresh->py->gives = in.py->gives;
    }
  } catch (...) {
    recorder_->pool()->drop(fresh);
    throw;
  }
  fresh->has_refs = true;
  for (int k = 0; k < fresh->nop; ++k) {
    Chunk*& c = fresh->ops[k].chunk;
    if (!c) continue;
    const Substitution* s = given.find(c);
    if (!s) s = own.find(c);
    if (s) {
      c = s->to;
      fresh->ops[k].offset += s->delta;
      // Of a view it isn't all of the memory that is overwritten.
      if (k >= fresh->nin && s->to->nbytes != s->from->nbytes) fresh->overwrites &= ~(1u << (k - fresh->nin));
      if (fresh->py) {
        fresh->py->views[k].set_chunk(s->to);
        fresh->py->views[k].layout.offset += s->delta;
      }
    }
    c->ref();
  }
  return fresh;
}

}  // namespace lazyarray
