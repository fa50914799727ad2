// Recorder: the open segment, the inline tier, and when the segment is flushed.
#pragma once
#include <algorithm>
#include <mutex>
#include <vector>

#include "lazy/schedule.h"
#include "lazy/tape.h"

namespace lazyarray {

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
  Recorder(Engine* e, ChunkStore* store)
      : executor(e), scheduler(e, &executor, &pool_, &policy, store), engine_(e), store_(store) {
    e->set_alarm([](void* me) { static_cast<Recorder*>(me)->on_alarm(); }, this);
  }

  FlushPolicy policy;
  Executor executor;
  Scheduler scheduler;
  Tape tape;
  int captures = 0;  // threads that capture a program now; GIL
  uint64_t recorded = 0, inlined = 0;  // GIL
  int64_t max_pending_bytes = int64_t(1) << 30;
  int64_t max_pending_ops = 100000;

  Engine* engine() const { return engine_; }
  ChunkStore* store() const { return store_; }

  // A cleared instruction with room for its operands. The one that ran inline last is used again.
  Instr* begin(const Kernel* kernel, int nin, int nout) {
    Instr* in = scratch_;
    scratch_ = nullptr;
    if (!in) in = pool_.take();
    in->kernel = kernel;
    in->has_refs = false;
    try {
      in->set_operands(nin, nout);
    } catch (const std::bad_alloc&) {
      pool_.drop(in);
      throw;
    }
    in->overwrites = 0;
    in->reduced = 0;
    in->cost_ns = 0;
    in->bytes = 0;
    in->ndim = 0;
    in->wide = false;
    in->site = 0;
    in->zeros = false;
    in->put_off = false;
    return in;
  }
  void give_back(Instr* in) {
    if (scratch_ || in->py) {
      pool_.drop(in);
    } else {
      in->site = 0;
      scratch_ = in;
    }
  }

  // What the instruction's cost is on the device that it runs on; its maker took that for a core.
  void price(Instr& in) const {
    if (in.device().is_gpu() && in.kernel->kind != Kernel::TRANSFER)
      in.cost_ns = std::max(policy.launch_ns, in.cost_ns / policy.gpu_speed);
  }

  // Whether the instruction may run now in this thread: all it touches is complete.
  bool ready(const Instr& in) const {
    if (in.wide && engine_->pending_ops() > 0) return false;  // it would not have the cores alone
    for (int k = 0; k < in.nop; ++k) {
      const Chunk* c = in.ops[k].chunk;
      if (c && (!(in.writes(k) ? c->idle() : c->readable()) || c->device.kind != Device::CPU)) return false;
    }
    return true;
  }

  // Whether a ready op had better be recorded: it is long enough to be part of a pass, and what is open
  // will run on another thread. That would fetch the result from this core's caches, and the op's
  // memory would come from there (`X += .2 * n` in a loop, 10,000 elements: 8 ms inline, 4.8 so).
  bool joins(const Instr& in) const {
    return in.cost_ns >= policy.fuse_ns && !in.zeros && open_ns_.load(std::memory_order_relaxed) >= policy.inline_ns &&
           in.kernel->kind <= Kernel::REDUCE;
  }

  // Inline tier. A ready op that its pusher runs is still the engine's op: versions and errors
  // are kept as if a worker had run it.
  // False: it would let go of the GIL, so that other threads could use its arrays meanwhile, and
  // must be recorded.
  bool run_inline(Instr& in) {
    if (engine_->tracing()) return run_traced(in);
    executor.step(in);
    if (in.put_off) return false;
    inlined++;
    return true;
  }

  // The same, with a note in the trace.
  bool run_traced(Instr& in) {
    TraceSpan t;
    t.kind = TraceSpan::INLINE;
    t.name = in.kernel->name[0] ? in.kernel->name : "copy";
    t.start = engine_->now();
    executor.step(in);
    if (in.put_off) return false;
    t.end = engine_->now();
    t.thread = this_thread();
    t.worker = engine_->current_worker();
    t.site = interpreter().here();
    t.moved = moved_by(in);
    engine_->trace().add(t);
    inlined++;
    return true;
  }

  // Takes over a heap instruction and its references. Returns whether it should be flushed now. Needs no
  // memory: the tape and the versions know of the instruction already.
  bool append(Instr* in, int bulk) {
    recorded++;
    in->has_refs = true;
    for (int k = 0; k < in->nop; ++k)
      if (Chunk* c = in->ops[k].chunk) {
        c->ref();
        (in->writes(k) ? c->writers : c->readers).fetch_add(1, std::memory_order_relaxed);
      }
    const Kernel::Kind kind = in->kernel->kind;
    const double ns = in->cost_ns;
    rec_mu_.lock();
    in->next = nullptr;
    (last_ ? last_->next : open_) = in;
    last_ = in;
    const size_t count = open_count_.load(std::memory_order_relaxed) + 1;
    open_count_.store(count, std::memory_order_relaxed);
    const double open_ns = open_ns_.load(std::memory_order_relaxed) + ns;
    open_ns_.store(open_ns, std::memory_order_relaxed);
    open_bytes_ += in->bytes;
    // What can't be fused with anything, and is worth a worker, has nothing to wait for.
    const bool full = count >= static_cast<size_t>(bulk) || kind == Kernel::PYTHON ||
                      kind == Kernel::TRANSFER || (kind == Kernel::GUFUNC && ns >= policy.flush_ns);
    const bool arm = !full && due_ns_ == 0 && open_ns >= policy.flush_ns;
    const int64_t due = arm ? due_ns_ = engine_->now() + policy.age_ns : 0;
    rec_mu_.unlock();
    if (arm) engine_->alarm(due);
    return full;
  }

  // Whether the pusher had better run what is open itself: nothing is under way, and what is open are ops that
  // would have run at once, had not the first of them come while something was pending. A loop over
  // elements would go on being recorded for ever, at ten times the cost.
  bool falls_behind(double cost_ns) const {
    return cost_ns < policy.inline_ns && open_count_.load(std::memory_order_relaxed) >= policy.catch_up &&
           open_ns_.load(std::memory_order_relaxed) < policy.cheap_ns && engine_->pending_ops() == 0;
  }
  // How many bytes may be pending now: a few ops may have large outputs, many together no more than keeps
  // the workers busy.
  int64_t budget() const {
    const int64_t ops = engine_->pending_ops() + static_cast<int64_t>(open_count_.load(std::memory_order_relaxed));
    return ops > policy.few_ops ? std::min(policy.ahead_bytes, max_pending_bytes) : max_pending_bytes;
  }
  bool over_budget() {
    if (engine_->pending_ops() > max_pending_ops) return true;
    const int64_t most = budget();
    if (engine_->pending_bytes() + open_bytes_ <= most) return false;
    // Much of what is open may have died meanwhile: temporaries, which will never get memory.
    rec_mu_.lock();
    int64_t bytes = 0;
    for (Instr* in = open_; in; in = in->next)
      for (int k = in->nin; k < in->nop; ++k)
        if (in->ops[k].chunk->handles.load(std::memory_order_relaxed) > 0) {
          bytes += in->bytes;
          break;
        }
    open_bytes_ = bytes;
    rec_mu_.unlock();
    return engine_->pending_bytes() + bytes > most;
  }

  // A figure of the policies was changed.
  void replan() {
    std::lock_guard<std::mutex> order(push_mu_);
    scheduler.planner.forget();
  }

  // Pushes everything recorded. `wake` = false if the caller will wait at once, and help. NO_MEMORY: what is
  // not pushed stays recorded, for the next flush.
  Status flush(bool wake) {
    // Nothing is open, but another thread may be pushing what was: it is pushed when this returns.
    if (open_empty() && !flushing_.load(std::memory_order_acquire)) return Status::OK;
    Engine::After after;
    after.hold_wake = !wake;
    Status status = Status::OK;
    {
      std::lock_guard<std::mutex> order(push_mu_);
      flushing_.store(true, std::memory_order_relaxed);  // before the swap, which publishes it
      try {
        if (!segment_.empty()) status = scheduler.push(segment_, after);  // the last flush had no memory
        take_open();
        if (!segment_.empty()) status = scheduler.push(segment_, after);
        flushing_.store(false, std::memory_order_release);
      } catch (const std::bad_alloc&) {
        if (segment_.empty()) flushing_.store(false, std::memory_order_release);
        status = Status::NO_MEMORY;
      }
    }
    engine_->settle(after);  // may run user code: under no lock
    return status;
  }

  // What a program needs, which plans once and pushes often. See program.h.
  InstrPool* pool() { return &pool_; }
  std::mutex& push_order() { return push_mu_; }

 private:
  // An idle worker calls it. The segment that the alarm was set for may be gone, and another be open.
  void on_alarm() {
    const int64_t now = engine_->now();
    if (now >= store_->idle_due()) store_->tidy();
    store_->watch_idle();
    rec_mu_.lock();
    const int64_t due = due_ns_;
    rec_mu_.unlock();
    if (due == 0) return;
    if (now >= due) flush(true);
    else engine_->alarm(due);
  }
  bool open_empty() {
    rec_mu_.lock();
    const bool e = !open_;
    rec_mu_.unlock();
    return e;
  }
  // Swaps the open segment out, into `segment_`, which is empty.
  void take_open() {
    std::unique_lock<SpinLock> lock(rec_mu_);
    while (segment_.capacity() < open_count_.load(std::memory_order_relaxed)) {
      const size_t n = open_count_.load(std::memory_order_relaxed);
      lock.unlock();
      segment_.reserve(std::max<size_t>(n, 256));
      lock.lock();
    }
    Instr* in = open_;
    open_ = last_ = nullptr;
    open_count_.store(0, std::memory_order_relaxed);
    open_ns_.store(0, std::memory_order_relaxed);
    open_bytes_ = 0;
    due_ns_ = 0;  // the alarm stays: it costs less than to take it back, see on_alarm()
    lock.unlock();
    for (; in; in = in->next) segment_.push_back(in);
  }

  Engine* const engine_;
  ChunkStore* const store_;
  InstrPool pool_;
  std::mutex push_mu_;
  SpinLock rec_mu_;
  Instr* scratch_ = nullptr;  // GIL
  Instr *open_ = nullptr, *last_ = nullptr;  // linked by `next`
  std::atomic<size_t> open_count_{0};  // written under rec_mu_
  std::vector<Instr*> segment_;  // push_mu_: what is being pushed
  std::atomic<double> open_ns_{0};  // written under rec_mu_
  int64_t due_ns_ = 0;           // rec_mu_: when an idle worker is to flush the open segment, or 0
  std::atomic<bool> flushing_{false};  // there is something in `segment_`, or about to be
  std::atomic<int64_t> open_bytes_{0};
};

}  // namespace lazyarray
