// Recorder: the open segment, the inline tier, and when the segment is flushed.
#pragma once
#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>
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
      : executor(e), scheduler(e, &executor, &pool_, &policy, &tiles, store), engine_(e), store_(store) {
    e->set_alarm([](void* me) { static_cast<Recorder*>(me)->on_alarm(); }, this);
  }

  FlushPolicy policy;
  TilePolicy tiles;
  Executor executor;
  Scheduler scheduler;
  Tape tape;
  bool compiles = false;  // passes may be compiled; GIL
  int captures = 0;  // threads that capture a program now; GIL
  uint64_t recorded = 0, inlined = 0;  // GIL
  std::atomic<uint64_t> kernels_made{0};  // written under the GIL
  int64_t max_pending_bytes = int64_t(1) << 30;
  bool limited = false;  // the user has set it: it holds on all devices
  // What the machine has. An output of more is handed over while somebody wants it: else it might die, and be a
  // temporary, which needs no memory, only for ever.
  int64_t memory = std::numeric_limits<int64_t>::max();
  int64_t max_pending_ops = 100000;

  Engine* engine() const { return engine_; }
  ChunkStore* store() const { return store_; }

  // GIL.
  void made_kernel() { kernels_made.store(kernels_made.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  // A cleared instruction with space for its operands. The one that ran inline last is used again.
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
  void price(Instr& in) const;

  // Whether the instruction may run now in this thread: all it touches is complete.
  bool ready(const Instr& in) const {
    if (in.wide && engine_->pending_ops() > 0) return false;  // it would not have the cores alone
    for (int k = 0; k < in.nop; ++k) {
      const Chunk* c = in.ops[k].chunk;
      if (c && (!(in.writes(k) ? c->idle() : c->readable()) || !c->plain())) return false;
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

  // Whether a ready op had better be recorded: the program has run ops for a while without asking for a value, so
  // it is likely to go on like that, and a pass of several, compiled, takes less time than one by one (what is never
  // compiled doesn't). What it asks for costs a flush and a wait, which is little beside what ran since the last time.
  // As long as passes are not compiled they take longer, so there are few, from which the compiler learns of them. As
  // long as their plans are new each time, which costs more than a pass gains, there are still fewer: see in_vain().
  bool in_stretch(const Instr& in) {
    if (!compiles || in.cost_ns < policy.mid_ns || in.zeros) return false;
    if (!in.kernel->code && in.kernel->kind != Kernel::ROLL) return false;
    if (stretch_ns_ >= policy.stretch_ns) return !awaits_round_ || begins_round(in);
    const int compiled = executor.runtime.compiled.load(std::memory_order_relaxed);
    const int64_t one_of = compiled > 0 ? 1 : compiled == 0 ? policy.cold_stretches : policy.new_stretches;
    const double likely = std::min(worked_before_[0], worked_before_[1]);  // work until a value is asked for
    // (Of more work one of many stretches is enough to learn from, and there may be no other.)
    const bool sure = likely >= kSure * policy.stretch_ns && likely < kRound * policy.stretch_ns;
    if (sure && worked_ns_ == 0 && ++stretches_ % one_of == 0) {
      stretch_ns_ = policy.stretch_ns;
      round_missed_ = false;  // it begins where it always will
      return true;
    }
    worked_ns_ += in.cost_ns;
    if (sure && worked_ns_ < 2 * likely) return false;
    stretch_ns_ += in.cost_ns;
    if (stretch_ns_ < policy.stretch_ns) return false;
    if (!round_missed_ && ++stretches_ % one_of != 0) {
      stretch_ns_ = 0;
      return false;
    }
    awaits_round_ = one_of > 1 && !round_missed_;
    round_missed_ = false;
    site_before_ = 0;
    return false;
  }
  // After an op of this cost was recorded: whether a stretch has gone on for long enough with plans that are new each
  // time. It ends, once what is pending has run: as long as operands are pending, there is no other way.
  bool in_vain(double cost_ns) {
    if (cost_ns >= policy.mid_ns) worked_ns_ += cost_ns;
    const bool serves = stretch_ns_ < policy.stretch_ns || awaits_round_ ||
                        executor.runtime.compiled.load(std::memory_order_relaxed) >= 0;
    in_vain_ns_ = serves ? 0 : in_vain_ns_ + cost_ns;
    if (in_vain_ns_ < policy.flush_ns) return false;
    stretch_ns_ = in_vain_ns_ = 0;
    return true;
  }
  // The program asks for a value, which is there or is waited for. GIL.
  void asked() {
    if (worked_ns_ > 0) worked_before_[1] = std::exchange(worked_before_[0], std::exchange(worked_ns_, 0));
    stretch_ns_ = 0;
    round_missed_ |= awaits_round_;
    awaits_round_ = false;
  }

  // Inline tier. A ready op that its pusher runs is still the engine's op: versions and errors
  // are kept as if a worker had run it.
  // False: it would let go of the GIL, so that other threads could use its arrays meanwhile, and
  // must be recorded.
  bool run_inline(Instr& in) {
    if (engine_->profiling()) return run_profiled(in);
    executor.step(in);
    if (in.put_off) return false;
    inlined++;
    return true;
  }

  // The same, with a note in the profile.
  bool run_profiled(Instr& in);

  // Takes over a heap instruction and its references. Returns whether the segment should be flushed now: it
  // has `bulk` instructions (MANY), or this one has nothing to wait for (ENDED). If there may be more, `most`, it waits
  // for the end of a round of a loop, up to twice as many: what a GPU gets each round had better be the same. Needs no
  // memory: the tape and the versions know of the instruction already.
  enum Full : int { NOT_FULL, MANY, ENDED };
  Full append(Instr* in, int bulk, int most);

  // Whether it can't begin a pass, and is no call of Python's that is worth a worker for its own sake.
  bool is_tiny(const Instr& in) const {
    const bool call = in.kernel->kind == Kernel::PYTHON && in.device().plain();
    return in.cost_ns < (call ? policy.gil_ns : policy.fuse_ns);
  }

  // How long the pusher of tiny ops in a row had better help and wait: kAsLongAsItTakes, or so many nanoseconds, or 0.
  // They would have run at once, had not the first of them needed what was pending; so is the result of each, and a loop
  // over elements goes on being recorded, at several times the cost. That it will go on for as long as it has, and no
  // longer, is the best guess that there is. So they wait once they have lost as much time as the wait takes: what is
  // open is known; what is under way gets as long as they have lost, or catch_up_ns, and if this was too short, they are
  // twice as many before they wait again.
  static constexpr int64_t kAsLongAsItTakes = -1;
  int64_t lag() const {
    const size_t tiny = tiny_before_ + tiny_count_.load(std::memory_order_relaxed);
    const double lost = static_cast<double>(tiny) * policy.late_ns;
    if (tiny < policy.catch_up || lost < open_cost_.load(std::memory_order_relaxed)) return 0;
    if (engine_->pending_ops() == 0) return kAsLongAsItTakes;
    if (tiny < policy.late_ops || (tiny < patience_ && engine_->now() < patient_until_)) return 0;
    return static_cast<int64_t>(std::max(lost, policy.catch_up_ns));
  }
  // What came of such a wait. GIL.
  void caught_up(bool in_time) {
    patience_ = in_time ? policy.late_ops : std::min<size_t>(2 * patience_, 1 << 20);
    patient_until_ = in_time ? 0 : engine_->now() + kPatient;
    if (in_time) tiny_before_.store(0, std::memory_order_relaxed);
  }
  // Whether all that is pending is open, and costs less than to hand a call under the GIL to a worker: then who asks
  // for such a call had better run what is open, and the call at once. (Of NumPy's time, recorded and so: `delete(x * 2, 5)`
  // of 15,000 elements 5.1 and 1.05, `fft.ifftn(1j * k * f)` of 80 x 80 1.4 and 1.15.)
  bool nearly_done() const {
    return open_ns_.load(std::memory_order_relaxed) < policy.gil_ns && engine_->pending_ops() == 0 && !open_empty();
  }
  // How many bytes may be pending before more is recorded for a device: a few ops may have large outputs, many
  // together no more than keeps the workers busy.
  int64_t budget(const Device& d) const;
  bool over_budget(const Device& d);
  // How many ops of a device are recorded before they are handed over, if so many are at most.
  int bulk_on(const Device& d, int most) const {
    return is_small(d) ? static_cast<int>(std::min<int64_t>(most, policy.gpu_ops)) : most;
  }

  // A figure of the policies was changed.
  void replan();

  // Pushes everything recorded. `wake` = false if the caller will wait at once, and help. NO_MEMORY: what is
  // not pushed stays recorded, for the next flush.
  // What is pushed: everything; without a loop's last, unfinished round; or, of cheap ops, so many of its rounds as are a
  // power of two, at least half of them, which are the same plans and compiled loops, whenever they are taken.
  enum Cut { ALL, ROUNDS, EVEN };
  Status flush(bool wake, Cut cut = ALL);
  // In the child of a fork, to which no alarm comes: what other threads recorded once all was drained is due no more, so
  // that what is recorded next asks for one. GIL.
  void forked() { due_ns_ = 0; }

  // What a program needs, which plans once and pushes often. See program.h.
  InstrPool* pool() { return &pool_; }
  std::mutex& push_order() { return push_mu_; }

 private:
  // Whether an op is a round's first: a stretch from which the compiler is to learn begins with a round of a loop, if
  // one begins soon. Where it began is a new plan else, each time.
  bool begins_round(const Instr& in) {
    const uint32_t site = interpreter().here(), before = std::exchange(site_before_, site);
    stretch_ns_ += in.cost_ns;
    awaits_round_ = site >= before && stretch_ns_ < kRound * policy.stretch_ns;
    return !awaits_round_;
  }
  // Whether what is open takes a GPU little more than the launches.
  bool is_small(const Device& d) const {
    const double small = 2 * policy.launch_ns * static_cast<double>(open_count_.load(std::memory_order_relaxed));
    return d.has_streams() && open_ns_.load(std::memory_order_relaxed) <= small;
  }
  // Whether it can't be fused with anything, and is worth a worker.
  bool is_long_call(const Instr& in) const {
    return in.kernel->kind == Kernel::PYTHON ? in.cost_ns >= policy.gil_ns
                                             : in.kernel->kind == Kernel::GUFUNC && in.cost_ns >= policy.flush_ns;
  }
  // Whether what is open may lie for another while, as more is being recorded: a segment that time cuts anywhere is
  // another one in each round of a loop, with plans and loops, or a GPU's kernels, of its own. rec_mu_.
  bool may_wait(const Device& d) const {
    if (d.has_streams()) return put_off_ < kPutOff && is_small(d);
    const double waited = static_cast<double>((put_off_ + 1) * policy.age_ns);
    return waited <= policy.age_share * open_ns_.load(std::memory_order_relaxed);
  }
  // What an instruction counts for in what is worth a worker: a call of NumPy's always is.
  double worth_ns(const Instr& in) const {
    return in.kernel->kind == Kernel::PYTHON ? std::max<double>(in.cost_ns, policy.flush_ns) : in.cost_ns;
  }
  // Sets the time at which what is open is handed over, and returns it. rec_mu_.
  int64_t fall_due(const Device& d, bool call = false);
  // An idle worker calls it. The segment that the alarm was set for may be gone, and another be open.
  void on_alarm();
  bool open_empty() const {
    rec_mu_.lock();
    const bool e = !open_;
    rec_mu_.unlock();
    return e;
  }
  // Swaps the open segment out, into `segment_`, which is empty; or whole rounds of a loop, if they are the larger part:
  // their plans and compiled loops serve again.
  void take_open(Cut cut);

  Engine* const engine_;
  ChunkStore* const store_;
  InstrPool pool_;
  std::mutex push_mu_;
  mutable SpinLock rec_mu_;
  Instr* scratch_ = nullptr;  // GIL
  size_t patience_ = policy.late_ops;  // GIL: so many tiny ops in a row wait for what is under way, ...
  int64_t patient_until_ = 0;          // GIL: ... until then; then as many as at first
  static constexpr int64_t kPatient = 1'000'000'000;
  double stretch_ns_ = 0;  // GIL: the work of ops of mid_ns that ran at once since a value was asked for
  // GIL: all work of ops of mid_ns since then, and before the last two such times: a loop that has asked for a value
  // after so much is likely to do so again, so nothing of it need run at once.
  double worked_ns_ = 0, worked_before_[2] = {0, 0};
  static constexpr double kSure = 0.8;    // stretches of work before each of the two
  static constexpr double kRound = 16;  // stretches of work in which a round begins, or none is awaited
  bool awaits_round_ = false;  // GIL: ... enough of it, but the round has not begun
  bool round_missed_ = false;  // GIL: a value was asked for before it began: the next stretch has the same beginning as any
  uint32_t site_before_ = 0;   // GIL: of the op before, while it is awaited
  double in_vain_ns_ = 0;  // GIL: what a stretch has recorded while plans were new each time
  int64_t stretches_ = 0;  // GIL
  Instr *open_ = nullptr, *last_ = nullptr;  // linked by `next`
  // Where the rounds of a loop end in the open segment: where the program went back to an earlier line; or, if it never
  // has, where it may have gone back in its line: to the op that this began with. rec_mu_.
  struct Rounds {
    Instr *end = nullptr, *even = nullptr;  // of the last one, and of the last that was a power of two; null: nowhere
    size_t until_end = 0;  // instructions
    size_t n = 0;          // rounds
    bool went_back = false;
    const Kernel* line = nullptr;  // of the line's first op
    // The next instruction, behind so many.
    void see(const Instr* in, Instr* last, size_t before);
    // Whether most of so many instructions came before the round that is open.
    bool most(size_t count) const { return end && 2 * until_end >= count; }
  } rounds_;
  std::atomic<size_t> open_count_{0};  // written under rec_mu_
  std::atomic<size_t> tiny_count_{0};  // written under rec_mu_: of these, tiny ones
  std::atomic<size_t> tiny_before_{0};  // of the segments before, as far as they had no others; pushers may lose a count
  std::atomic<double> open_cost_{0};  // written under rec_mu_: what the open ones cost
  std::vector<Instr*> segment_;  // push_mu_: what is being pushed
  std::atomic<double> open_ns_{0};  // written under rec_mu_
  static constexpr int kFewCalls = 4;
  int calls_open_ = 0;           // rec_mu_: long ones among what is open
  int64_t due_ns_ = 0;           // rec_mu_: when an idle worker is to flush the open segment, or 0
  bool due_late_ = false;        // rec_mu_: it was set for one call, which others may follow
  size_t due_count_ = 0;  // rec_mu_: how many were open when that was set, ...
  uint64_t due_kernels_ = 0;  // rec_mu_: ... and how many kernels there were
  int64_t put_off_ = 0;   // rec_mu_: how often it was
  static constexpr int64_t kPutOff = 16;
  std::atomic<bool> flushing_{false};  // there is something in `segment_`, or about to be
  std::atomic<int64_t> open_bytes_{0};
};

}  // namespace lazyarray
