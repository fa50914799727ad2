// Program: instructions that were captured instead of run, planned once and pushed many times.
#pragma once
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lazy/memory_plan.h"
#include "lazy/recorder.h"

namespace lazyarray {

// Life: capture() while ops are recorded, finish() once, then push() any number of times. All with the
// GIL held; what runs later, without it, only reads. A pushed operator holds a reference, so a program
// that is dropped lives until its last run is over.
//
// The instructions own their chunks: intermediates lie in the arena (memory_plan.h) or have memory of
// their own, and keep it from run to run. Two runs may be pending: they share intermediates, and so
// follow each other where they do, by the variables, as any ops on the same arrays.
class Program {
 public:
  struct Role {
    Chunk* chunk;
    uint32_t writes;   // in one run
  };
  // What an operator of the program uses, found once.
  struct Operator {
    Part* part;
    std::vector<Use> uses;   // op is null
    bool native = true;
    Prop prop = Prop::NORMAL;
    const char* name;
    bool substituted = false;  // some of it differs from call to call: see push()
  };
  struct Phase {
    size_t begin = 0, end = 0;   // instructions
    std::vector<Operator> operators;
    std::vector<Role> visible;   // chunks that others may see it write
    std::shared_ptr<Report> report;  // null: nothing in it is fused
  };
  // For one call: another chunk in the place of one, this many bytes further on.
  struct Substitution {
    Chunk* from;
    Chunk* to;
    npy_intp delta;
  };

  Program(Recorder* r, ChunkStore* store) : recorder_(r), store_(store), born_(store->births) {}
  Program(const Program&) = delete;
  ~Program() {
    for (Chunk* c : followed) c->unref();
    for (Phase& p : phases)
      for (Operator& o : p.operators) delete o.part;
    for (Instr* in : instrs) recorder_->pool()->drop(in);
    if (arena) arena->unref();
  }

  std::vector<Instr*> instrs;
  std::vector<size_t> splits;
  std::vector<Chunk*> followed;  // owned: what calls that were noted for gradients read
  std::vector<Phase> phases;
  Arena* arena = nullptr;
  size_t planned = 0, unplanned = 0, bound = 0;
  int temporaries = 0;
  bool finished = false;

  void ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Whether the chunk was made while capturing: its values are then not known yet.
  bool bore(const Chunk* c) const { return c->born > born_; }

  // For one more instruction with so many outputs: what follows needs no memory.
  void make_room(size_t outputs) {
    auto grow = [](auto& v, size_t n) {
      if (v.capacity() < v.size() + n) v.reserve(2 * v.size() + n + 16);
    };
    grow(instrs, 1);
    grow(writers_, outputs);
  }

  // Takes the instruction over.
  void capture(Instr* in) {
    instrs.push_back(in);
    in->has_refs = true;
    for (int k = 0; k < in->nop; ++k)
      if (Chunk* c = in->ops[k].chunk) {
        c->ref();
        if (!bore(c)) c->captured = true;
      }
  }

  // Before the tape makes a captured op the writer of what was there before: nothing is written yet,
  // so the tape is put back when the capture ends.
  void keep_writer(Chunk* c) {
    if (bore(c)) return;
    for (const Writer& w : writers_)
      if (w.chunk == c) return;
    writers_.push_back({c, c->node});
    c->ref();
    if (c->node) c->node->ref();
  }
  // A call that was noted for gradients reads it, if by no instruction.
  void follow(Chunk* c) {
    if (bore(c) || std::find(followed.begin(), followed.end(), c) != followed.end()) return;
    followed.push_back(c);
    c->ref();
  }
  bool writers_changed() const {
    for (const Writer& w : writers_)
      if (w.chunk->node != w.node) return true;
    return false;
  }
  void restore_writers() {
    std::vector<Writer> all;
    all.swap(writers_);
    for (const Writer& w : all) {
      if (w.chunk->handles.load() > 0) Tape::set_writer(w.chunk, w.node);
      if (w.node) w.node->unref();
      w.chunk->unref();
    }
  }
  // Whether its first phase, run again, would do something else: it draws, or writes what was there before.
  bool impure() const {
    const size_t end = splits.empty() ? instrs.size() : splits[0];
    for (size_t i = 0; i < end; ++i)
      for (int k = instrs[i]->nin; k < instrs[i]->nop; ++k)
        if (instrs[i]->ops[k].chunk->resource || !bore(instrs[i]->ops[k].chunk)) return true;
    return false;
  }

  // What one phase makes and a later one reads, but for `given`.
  std::vector<Chunk*> carried(const std::unordered_set<Chunk*>& given) const {
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
        if (!c || !bore(c) || c->resource || given.count(c)) continue;
        if (written.count(c) && met.insert(c).second) result.push_back(c);
        if (instrs[i]->writes(k)) now.insert(c);
      }
    }
    return result;
  }

  // What instructions `begin` .. `end` use and the capture didn't make.
  std::vector<Chunk*> outside(size_t begin, size_t end) const {
    std::unordered_set<Chunk*> met;
    std::vector<Chunk*> result;
    for (size_t i = begin; i < std::min(end, instrs.size()); ++i)
      for (int k = 0; k < instrs[i]->nop; ++k) {
        Chunk* c = instrs[i]->ops[k].chunk;
        if (c && !bore(c) && met.insert(c).second) result.push_back(c);
      }
    return result;
  }

  // And what only calls that were noted for gradients use: arrays without elements.
  std::vector<Chunk*> outside() const {
    std::vector<Chunk*> result = outside(0, instrs.size());
    for (Chunk* c : followed)
      if (std::find(result.begin(), result.end(), c) == result.end()) result.push_back(c);
    return result;
  }

  // The chunks made while capturing whose first use reads what the host put there, and that are
  // written later: each run must find the same values again.
  std::vector<Chunk*> initialised() const {
    std::unordered_set<Chunk*> met, found;
    std::vector<Chunk*> result;
    for (Instr* in : instrs) {
      for (int k = 0; k < in->nop; ++k) {
        Chunk* c = in->ops[k].chunk;
        if (!c || !bore(c) || c->resource) continue;
        if (met.insert(c).second && !in->overwritten(k) && c->data) found.insert(c);
      }
      for (int k = in->nin; k < in->nop; ++k)
        if (found.erase(in->ops[k].chunk)) result.push_back(in->ops[k].chunk);
    }
    return result;
  }

  // Where a plan put a chunk: bytes from the block's start, or that it is a temporary or has memory of its own.
  enum : int64_t { kOwnMemory = -1, kTemporary = -2 };
  int64_t place_of(const Chunk* c) const {
    if (!bore(c)) return kOwnMemory;
    if (c->temporary) return kTemporary;
    return arena && c->owner == arena ? c->data - arena->data : kOwnMemory;
  }

  // Whether the host gave the chunk values that it is to have at first, unless `initialised` says so.
  bool constant(Chunk* c) const {
    if (!bore(c) || c->resource || !c->data) return false;
    for (Instr* in : instrs)
      for (int k = in->nin; k < in->nop; ++k)
        if (in->ops[k].chunk == c) return false;
    return true;
  }

  // Plans it all. `substituted`: what will be another chunk in each call. With `sharing`, intermediates
  // lie in that program's block if they fit. False if there is no memory.
  bool finish(const std::unordered_set<Chunk*>& substituted, Program* sharing) {
    MemoryPlan plan;
    arrange(substituted, plan);
    planned = plan.planned;
    unplanned = plan.unplanned;
    bound = plan.bound;
    // Under no lock: a GPU's pool may ask Python.
    if (planned && !settle_arena(plan, sharing)) return false;
    // Whoever first writes shared bytes waits for all that use them.
    std::vector<Operator*> operators;
    for (Phase& phase : phases)
      for (Operator& o : phase.operators) operators.push_back(&o);
    for (const MemoryPlan::Conflict& c : plan.conflicts) use(*operators[c.part], c.chunk, true, 0);
    if (arena)
      for (Operator* o : operators) use(*o, arena->turn, false, 0);
    finished = true;
    return true;
  }

  // Makes the ops of a phase (-1: all of them), for push(). Without memory it throws, and nothing happened.
  void prepare(int phase, const std::vector<Substitution>& substitutions) {
    unprepare();
    try {
      if (arena && arena->last && arena->last != this) prepare_turn();
      for (size_t i = 0; i < phases.size(); ++i)
        if (phase < 0 || phase == static_cast<int>(i))
          for (Operator& o : phases[i].operators) prepare(o, substitutions);
    } catch (...) {
      unprepare();
      throw;
    }
  }
  // Pushes what was prepared for that phase; needs no memory. The GIL was held since.
  Status push(int phase) {
    Engine::After after;
    Status status = Status::OK;
    {
      std::lock_guard<std::mutex> order(recorder_->push_order());
      if (arena) arena->last = this;
      for (size_t i = 0; i < phases.size(); ++i)
        if ((phase < 0 || phase == static_cast<int>(i)) && phases[i].report) recorder_->scheduler.keep(phases[i].report);
      for (Op* op : prepared_) {
        const Status s = recorder_->engine()->enqueue(op, after, false);
        if (s != Status::OK) status = s;
      }
      prepared_.clear();
    }
    recorder_->engine()->settle(after);  // may run user code: under no lock
    return status;
  }

 private:
  // One run of an operator.
  struct Run {
    Program* program;
    Part* part;
    bool own;   // made for this run
  };

  // Cuts the instructions into operators, and says where their intermediates are to lie.
  void arrange(const std::unordered_set<Chunk*>& substituted, MemoryPlan& plan) {
    std::lock_guard<std::mutex> order(recorder_->push_order());
    splits.push_back(instrs.size());
    std::vector<Part*> all;
    std::vector<std::unordered_set<Chunk*>> held;  // by part: what it uses that has memory
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
      if (recorder_->scheduler.arrange(segment) || recorder_->scheduler.keeps_reports)
        phase.report = recorder_->scheduler.report_of(segment);
      for (Part* part : recorder_->scheduler.arranged()) {
        phase.operators.push_back(describe(part, substituted));
        all.push_back(part);
        held.emplace_back();
        for (const Use& u : phase.operators.back().uses) held.back().insert(static_cast<Chunk*>(u.var));
      }
      std::unordered_map<Chunk*, uint32_t> writes;
      for (Instr* in : segment)
        for (int k = in->nin; k < in->nop; ++k) {
          Chunk* c = in->ops[k].chunk;
          if (!bore(c) || c->handles.load() > 0) writes[c]++;
        }
      for (auto [c, n] : writes) phase.visible.push_back({c, n});
    }
    std::unordered_map<Chunk*, size_t> block_of;
    for (size_t p = 0; p < all.size(); ++p)
      for (Instr* in : all[p]->instrs)
        for (int k = 0; k < in->nop; ++k) {
          Chunk* c = in->ops[k].chunk;
          if (!c || !held[p].count(c) || !is_private(c, counts[c], substituted)) continue;
          // One block lies on one device: that of the first.
          if (!plan.blocks.empty() && plan.blocks[0].chunk->pool != c->pool) continue;
          auto [at, fresh] = block_of.emplace(c, plan.blocks.size());
          if (fresh) plan.blocks.push_back({c, MemoryPlan::rounded(c->nbytes), int(p), int(p)});
          plan.blocks[at->second].last = int(p);
        }
    plan.place(all);
  }

  // Nobody but the program's instructions can come to it.
  bool is_private(Chunk* c, int count, const std::unordered_set<Chunk*>& substituted) const {
    return bore(c) && !c->resource && !c->owner && c->nbytes > Chunk::kSmall && !c->data &&
           c->handles.load() == 0 && c->refs.load() == count && !substituted.count(c);
  }

  static void use(Operator& o, Chunk* c, bool write, uint32_t bumps) {
    for (Use& u : o.uses)
      if (u.var == c) {
        u.write |= write;
        u.bumps += bumps;
        return;
      }
    Use u;
    u.var = c;
    u.write = write;
    u.bumps = bumps;
    o.uses.push_back(u);
  }

  Operator describe(Part* part, const std::unordered_set<Chunk*>& substituted) {
    Operator o;
    o.part = part;
    o.name = part->name();
    for (size_t i = 0; i < part->instrs.size(); ++i) {
      Instr* in = part->instrs[i];
      o.native &= in->kernel->kind != Kernel::PYTHON;
      for (int k = 0; k < in->nop; ++k) {
        Chunk* c = in->ops[k].chunk;
        if (!c) continue;
        if (part->in_scratch(i, k)) {
          if (in->writes(k)) temporaries++;
          continue;
        }
        o.substituted |= substituted.count(c) > 0;
        use(o, c, in->writes(k), in->writes(k) ? 1 : 0);
      }
    }
    o.prop = part->prop(part->ns < recorder_->policy.inline_ns);
    return o;
  }

  bool settle_arena(const MemoryPlan& plan, Program* sharing) {
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

  void unprepare() {
    for (Op* op : prepared_) recorder_->engine()->discard(op);
    prepared_.clear();
  }
  // A new op, prepared.
  Op* new_op() {
    prepared_.reserve(prepared_.size() + 1 > prepared_.capacity() ? 2 * prepared_.size() + 16 : 0);
    Op* op = recorder_->engine()->new_op();
    prepared_.push_back(op);
    return op;
  }

  // An op that does nothing, after all that ran in the block and before all that will.
  void prepare_turn() {
    Op* op = new_op();
    op->add_use(arena->turn, true, false, 0);
    op->device = arena->turn->device;
    op->name = "turn";
    op->prop = Prop::ASYNC;
    op->payload.run = [](void*, RunContext&) -> Error* { return nullptr; };
    op->payload.drop = [](void*) {};
    op->payload.native = true;
    op->payload.own_errors = true;
  }

  void prepare(Operator& o, const std::vector<Substitution>& substitutions) {
    Op* op = new_op();
    for (const Use& u : o.uses) {
      Var* v = u.var;
      for (const Substitution& s : substitutions)
        if (s.from == v) v = s.to;
      op->add_use(v, u.write, false, u.bumps);
    }
    auto run = std::make_unique<Run>(Run{this, o.part, false});
    if (o.substituted && !substitutions.empty()) {
      run->part = copy_of(*o.part, substitutions);
      run->own = true;
    }
    ref();
    op->device = o.part->device;
    op->name = o.name;
    op->bytes = 0;   // its memory is there already
    op->cost_ns = static_cast<int64_t>(o.part->ns);
    op->prop = o.prop;
    op->wide = o.part->instrs[0]->wide;
    op->payload.run = [](void* arg, RunContext& ctx) { return Scheduler::run(static_cast<Run*>(arg)->part, ctx); };
    op->payload.drop = [](void* arg) {
      Run* r = static_cast<Run*>(arg);
      if (r->own) {
        for (Instr* in : r->part->instrs) r->program->recorder_->pool()->drop(in);
        delete r->part;
      }
      r->program->unref();
      delete r;
    };
    op->payload.describe = [](void* arg, TraceNote& to) { Scheduler::describe(static_cast<Run*>(arg)->part, to); };
    if (recorder_->engine()->tracing()) op->site = interpreter().here();
    op->payload.arg = run.release();
    op->payload.native = o.native;
    op->payload.own_errors = true;
  }

  // Two such runs may go on at once. Where a GPU can't run a fused stage as such its temporaries get
  // memory, so each run has its own.
  Part* copy_of(const Part& part, const std::vector<Substitution>& given) {
    struct Held : std::vector<Chunk*> {
      ~Held() {
        for (Chunk* c : *this) c->unref();
      }
    } fresh_ones;
    std::vector<Substitution> substitutions = given;
    for (const Part::Step& s : part.steps)
      for (size_t i = s.begin; s.gpu && i < s.end; ++i)
        for (int k = part.instrs[i]->nin; k < part.instrs[i]->nop; ++k) {
          Chunk* c = part.instrs[i]->ops[k].chunk;
          if (!c || s.gpu->in_memory[i - s.begin][k] || !c->temporary) continue;
          bool known = false;
          for (const Substitution& x : substitutions) known |= x.from == c;
          if (known) continue;
          fresh_ones.reserve(fresh_ones.size() + 1);
          fresh_ones.push_back(store_->create(c->nbytes, c->device));
          substitutions.push_back({c, fresh_ones.back(), 0});
        }
    auto copy = std::make_unique<Part>(part);
    size_t made = 0;
    try {
      for (; made < copy->instrs.size(); ++made) copy->instrs[made] = copy_of(*copy->instrs[made], substitutions);
    } catch (...) {
      while (made-- > 0) recorder_->pool()->drop(copy->instrs[made]);
      throw;
    }
    return copy.release();
  }

  Instr* copy_of(Instr& in, const std::vector<Substitution>& substitutions) {
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
      }
    } catch (...) {
      recorder_->pool()->drop(fresh);
      throw;
    }
    fresh->has_refs = true;
    for (int k = 0; k < fresh->nop; ++k) {
      Chunk*& c = fresh->ops[k].chunk;
      if (!c) continue;
      for (const Substitution& s : substitutions)
        if (s.from == in.ops[k].chunk) {
          c = s.to;
          fresh->ops[k].offset += s.delta;
          // Of a view it isn't all of the memory that is overwritten.
          if (k >= fresh->nin && s.to->nbytes != s.from->nbytes) fresh->overwrites &= ~(1u << (k - fresh->nin));
          if (fresh->py) {
            fresh->py->views[k].chunk = s.to;
            fresh->py->views[k].layout.offset += s.delta;
          }
        }
      c->ref();
    }
    return fresh;
  }

  struct Writer {
    Chunk* chunk;
    Node* node;
  };
  std::vector<Writer> writers_;
  std::vector<Op*> prepared_;
  Recorder* const recorder_;
  ChunkStore* const store_;
  const uint64_t born_;
  std::atomic<int32_t> refs_{1};
};

}  // namespace lazyarray
