// Recorder: the open segment, the inline tier, and the plan that turns a segment into operators.
#pragma once
#include <algorithm>
#include <vector>

#include "lazy/cpu/run.h"

namespace lazyarray {

// When an op runs at once, when it is recorded, when the segment is flushed: all of it is here.
// The figures were measured on 2 cores of a 2.6 GHz server. From ready to started on a sleeping
// worker takes 3 to 12 us in traces, and its core's caches are cold; an inline op costs 0.1 us
// besides its loop. So what costs less than a hand-off runs where it is, and what a wait is likely
// to follow at once is left for the waiter. (examples/train_digits.py against NumPy, medians of
// alternating runs: 1.6 with inline_ns 4000 and flush_ns 30000, 1.5 with 10000 and 30000, 1.15 with
// these.)
struct FlushPolicy {
  double inline_ns = 10000;   // an op cheaper than this runs in the caller's thread when ready
  double cheap_ns = 20000;    // ops cheaper than this share an operator with their neighbours
  double group_ns = 100000;   // ... until the operator holds this much
  double flush_ns = 100000;   // this much recorded work is worth a worker
};

// A run of instructions pushed as one operator.
struct Part {
  class Recorder* recorder;
  std::vector<Instr*> instrs;
};

// Invariants:
//  * Every recorder holds the GIL; a flush may come from any thread, with the GIL or without.
//  * rec_mu_ guards open_ and the totals, and is held only to append or to swap. No Python call,
//    no reference drop and no wait happens under it.
//  * push_mu_ orders flushes: it is taken before rec_mu_ and held until what was swapped out is
//    pushed. Nobody takes the GIL while holding it, so taking it with the GIL can't deadlock.
//  * A fork finds both free: the forking thread holds the GIL, and the engine has drained.
//  * While an instruction is in the open segment its chunks' readers/writers counters include it,
//    so the inline tier (which holds the GIL, and so excludes every recorder) never overtakes it.
class Recorder {
 public:
  Recorder(Engine* e, ChunkStore* store) : engine_(e), store_(store) {}

  Runtime runtime;
  FlushPolicy policy;
  uint64_t recorded = 0, inlined = 0;  // GIL
  int64_t max_pending_bytes = int64_t(2) << 30;
  int64_t max_pending_ops = 100000;

  Engine* engine() const { return engine_; }
  ChunkStore* store() const { return store_; }

  // A cleared instruction with room for its operands. The one that ran inline last is used again.
  Instr* begin(const Kernel* kernel, int nin, int nout) {
    Instr* in = scratch_;
    scratch_ = nullptr;
    if (!in) {
      free_lock_.lock();
      if (!free_.empty()) {
        in = free_.back();
        free_.pop_back();
      }
      free_lock_.unlock();
      if (!in) in = new Instr;
    }
    in->kernel = kernel;
    in->set_operands(nin, nout);
    in->overwrites = 0;
    in->reduced = 0;
    in->cost_ns = 0;
    in->bytes = 0;
    in->ndim = 0;
    in->wide = false;
    in->put_off = false;
    return in;
  }
  void give_back(Instr* in) {
    if (scratch_ || in->py) {
      destroy(in);
    } else {
      drop_ref(in->site.code);
      in->site.code = nullptr;
      scratch_ = in;
    }
  }

  // Whether the instruction may run now in this thread: all it touches is complete.
  bool ready(const Instr& in) const {
    if (in.wide && engine_->pending_ops() > 0) return false;  // it would not have the cores alone
    for (int k = 0; k < in.nop; ++k) {
      const Chunk* c = in.ops[k].chunk;
      if (c && !(in.writes(k) ? c->idle() : c->readable())) return false;
    }
    return true;
  }

  // Inline tier. A ready op that its pusher runs is still the engine's op: versions and errors
  // are kept as if a worker had run it.
  // False: it would let go of the GIL, so that other threads could use its arrays meanwhile, and
  // must be recorded.
  bool run_inline(Instr& in) {
    step(in);
    if (in.put_off) return false;
    inlined++;
    return true;
  }

  // Takes over a heap instruction and its references. Returns whether it should be flushed now.
  bool append(Instr* in, int bulk) {
    recorded++;
    in->has_refs = true;
    for (int k = 0; k < in->nop; ++k)
      if (Chunk* c = in->ops[k].chunk) {
        c->ref();
        (in->writes(k) ? c->writers : c->readers).fetch_add(1, std::memory_order_relaxed);
      }
    rec_mu_.lock();
    open_.push_back(in);
    open_ns_ += in->cost_ns;
    open_bytes_ += in->bytes;
    const bool full = static_cast<int>(open_.size()) >= bulk || open_ns_ >= policy.flush_ns ||
                      in->kernel->kind == Kernel::PYTHON;
    rec_mu_.unlock();
    return full;
  }

  bool over_budget() const {
    return engine_->pending_bytes() + open_bytes_ > max_pending_bytes ||
           engine_->pending_ops() > max_pending_ops;
  }

  // Pushes everything recorded. `wake` = false if the caller will wait at once, and help.
  Status flush(bool wake) {
    if (open_empty()) return Status::OK;
    Engine::After after;
    after.hold_wake = !wake;
    Status status;
    {
      std::lock_guard<std::mutex> order(push_mu_);
      std::vector<Instr*> segment;
      rec_mu_.lock();
      segment.swap(open_);
      open_ns_ = 0;
      open_bytes_ = 0;
      rec_mu_.unlock();
      status = push_segment(segment, after);
    }
    engine_->settle(after);  // may run user code: under no lock
    return status;
  }

  // Lets go of what the instruction holds and keeps the block for another.
  void destroy(Instr* in) {
    if (in->has_refs)
      for (int k = 0; k < in->nop; ++k)
        if (in->ops[k].chunk) in->ops[k].chunk->unref();
    in->py.reset();
    drop_ref(in->site.code);
    in->site.code = nullptr;
    free_lock_.lock();
    const bool keep = free_.size() < 4096;
    if (keep) free_.push_back(in);
    free_lock_.unlock();
    if (!keep) delete in;
  }

 private:
  bool open_empty() {
    rec_mu_.lock();
    const bool e = open_.empty();
    rec_mu_.unlock();
    return e;
  }

  // Runs one instruction and settles its variables' errors. A failed instruction poisons only its
  // own outputs, wherever it runs; one whose input is poisoned is skipped and hands the error on.
  void step(Instr& in) {
    Error* error = nullptr;
    bool inherited = false;
    for (int k = 0; k < in.nop && !error; ++k) {
      Chunk* c = in.ops[k].chunk;
      if (!c || in.overwritten(k)) continue;
      if (c->error.load(std::memory_order_acquire)) error = engine_->error_of(c);
    }
    inherited = error != nullptr;
    if (!error) error = run(runtime, in);
    if (in.put_off && !in.has_refs) return;
    if (error && !inherited) {
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
    for (int k = in.nin; k < in.nop; ++k) {
      Chunk* c = in.ops[k].chunk;
      if (error && !c->resource) engine_->set_error(c, error);
      else if (in.overwritten(k) && c->error.load(std::memory_order_relaxed))
        engine_->set_error(c, nullptr);
      if (!in.has_refs) c->version.fetch_add(1, std::memory_order_relaxed);
    }
    if (error) error->unref();
  }

  static Error* run_part(void* arg, RunContext&) {
    Part* part = static_cast<Part*>(arg);
    for (Instr* in : part->instrs) part->recorder->step(*in);
    return nullptr;
  }
  static void drop_part(void* arg) {
    Part* part = static_cast<Part*>(arg);
    for (Instr* in : part->instrs) part->recorder->destroy(in);
    delete part;
  }

  // Cuts the segment into operators. An instruction joins the youngest group that it depends on
  // (it reads what the group writes, or writes what it reads or writes) if both are cheap;
  // otherwise it opens a group. So an edge always leads from an older group to a younger one,
  // groups pushed by age keep program order on every chunk, and parts with no edge between them
  // are separate operators: a wait on one never waits for the other.
  Status push_segment(std::vector<Instr*>& segment, Engine::After& after) {
    plan_++;
    struct Group {
      Part* part;
      Device device;
      double ns = 0;
      int64_t bytes = 0;
      bool open = true;
    };
    std::vector<Group> groups;
    for (Instr* in : segment) {
      int join = -1;
      for (int k = 0; k < in->nop; ++k) {
        Chunk* c = in->ops[k].chunk;
        if (!c) continue;
        fresh(c);
        join = std::max(join, c->write_group);
        if (in->writes(k)) join = std::max(join, c->read_group);
      }
      const bool cheap =
          in->kernel->kind != Kernel::PYTHON && !in->wide && in->cost_ns < policy.cheap_ns;
      const Device device = device_of(*in);
      if (join < 0 || !cheap || !groups[join].open || !(groups[join].device == device)) {
        join = static_cast<int>(groups.size());
        groups.push_back(Group{new Part{this, {}}, device});
        groups.back().open = cheap;
      }
      Group& g = groups[join];
      g.part->instrs.push_back(in);
      g.ns += in->cost_ns;
      g.bytes += in->bytes;
      if (g.ns > policy.group_ns) g.open = false;
      for (int k = 0; k < in->nop; ++k)
        if (Chunk* c = in->ops[k].chunk)
          (in->writes(k) ? c->write_group : c->read_group) =
              std::max(in->writes(k) ? c->write_group : c->read_group, join);
    }
    Status status = Status::OK;
    for (size_t i = 0; i < groups.size(); ++i) {
      const Status s = push_group(groups[i].part, static_cast<int>(i), groups[i].device,
                                  groups[i].ns, groups[i].bytes, after);
      if (s != Status::OK) status = s;
    }
    return status;
  }

  // A copy between devices runs where it writes.
  static Device device_of(const Instr& in) {
    return in.nop > in.nin ? in.ops[in.nin].chunk->device : in.nop ? in.ops[0].chunk->device : Device();
  }

  Status push_group(Part* part, int index, Device device, double ns, int64_t bytes,
                    Engine::After& after) {
    Op* op = engine_->new_op();
    Instr* first = part->instrs[0];
    bool native = true;
    for (Instr* in : part->instrs) {
      native &= in->kernel->kind != Kernel::PYTHON;
      for (int k = 0; k < in->nop; ++k) {
        Chunk* c = in->ops[k].chunk;
        if (!c) continue;
        const bool write = in->writes(k);
        if (c->use_group != index) {
          c->use_group = index;
          c->use_index = static_cast<int>(op->uses.size());
          op->add_use(c, write, false, write ? 1 : 0);
        } else if (write) {
          Use& u = op->uses[c->use_index];
          u.write = true;
          u.bumps++;
        }
      }
    }
    op->device = device;
    op->name = part->instrs.size() == 1 ? first->kernel->name : "segment";
    op->bytes = bytes;
    op->cost_ns = static_cast<int64_t>(ns);
    if (!native && ns < policy.inline_ns) op->prop = Prop::ASYNC;  // run by its pusher if ready
    op->wide = first->wide;  // stands alone
    op->payload.run = run_part;
    op->payload.drop = drop_part;
    op->payload.arg = part;
    op->payload.native = native;
    op->payload.own_errors = true;
    // The engine counts each use once more in push(), so the counters never dip to zero; the part
    // (with its instructions) may be gone once it is pushed, so the marks are noted first.
    struct Mark {
      Chunk* chunk;
      bool write;
    };
    std::vector<Mark> marks;
    marks.reserve(3 * part->instrs.size());
    for (Instr* in : part->instrs)
      for (int k = 0; k < in->nop; ++k)
        if (Chunk* c = in->ops[k].chunk) {
          c->ref();
          marks.push_back({c, in->writes(k)});
        }
    const Status status = engine_->enqueue(op, after, false);
    Error* refused = nullptr;  // another thread has stopped the engine: its outputs stay unwritten
    if (status != Status::OK) refused = new Error(Error::RUNTIME, "the engine refused the op: stopped");
    for (Mark& m : marks) {
      if (refused && m.write && !m.chunk->resource) engine_->set_error(m.chunk, refused);
      (m.write ? m.chunk->writers : m.chunk->readers).fetch_sub(1, std::memory_order_release);
      m.chunk->unref();
    }
    if (refused) refused->unref();
    return status;
  }

  void fresh(Chunk* c) {
    if (c->plan == plan_) return;
    c->plan = plan_;
    c->write_group = c->read_group = c->use_group = -1;
  }

  Engine* const engine_;
  ChunkStore* const store_;
  std::mutex push_mu_;
  SpinLock rec_mu_;
  Instr* scratch_ = nullptr;  // GIL
  SpinLock free_lock_;
  std::vector<Instr*> free_;  // free_lock_
  std::vector<Instr*> open_;
  double open_ns_ = 0;
  std::atomic<int64_t> open_bytes_{0};
  uint64_t plan_ = 0;  // push_mu_
};

}  // namespace lazyarray
