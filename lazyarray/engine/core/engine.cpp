// Engine: op blocks, dependency tracking, completion, errors. Waits and workers have their own files.
#include "engine.h"

#include <algorithm>

#include "internal.h"

namespace lazyarray {

thread_local ThreadState tls;
int machine_cores = 0;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static std::atomic<uint64_t> last_id{0};
std::atomic<Streams*> Engine::streams_{nullptr};

Engine::Engine(Policy policy, int workers, int priority_workers, int gpu_workers,
               int gpu_copy_workers)
    : id_(++last_id),
      policy_(policy),
      workers_(std::max(1, workers)),
      priority_workers_(std::max(1, priority_workers)),
      gpu_workers_(std::max(1, gpu_workers)),
      gpu_copy_workers_(std::max(1, gpu_copy_workers)),
      cores_(std::max(1, machine_cores ? machine_cores
                                        : static_cast<int>(std::thread::hardware_concurrency()))) {
  runs_here_ = policy == Policy::NAIVE;
  if (policy != Policy::NAIVE) pool_for(Operator());  // see pool()
}

Engine::~Engine() {
  if (!broken_) shutdown();
  while (Operator* op = free_ops_) {
    free_ops_ = op->queue_next;
    delete op;
  }
  while (Error* e = failures_) {
    failures_ = e->next;
    e->unref();
  }
}

// ---- op blocks -------------------------------------------------------------------------------

Operator* Engine::new_op() {
  Operator* op = nullptr;
  {
    std::lock_guard<std::mutex> g(free_mu_);
    if ((op = free_ops_)) {
      free_ops_ = op->queue_next;
      free_count_--;
    }
  }
  if (!op) op = new Operator;
  std::vector<Use> uses = std::move(op->uses);
  uses.clear();
  std::unique_ptr<ProfileNote> note = std::move(op->note);
  op->~Operator();
  new (op) Operator;
  op->uses = std::move(uses);
  op->note = std::move(note);
  op->engine = this;
  return op;
}

void Engine::discard(Operator* op) {
  if (op->payload.drop) op->payload.drop(op->payload.arg);
  op->payload = Payload();
  release(op);
}

void Engine::release(Operator* op) {
  if (op->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (op->result) op->result->unref();
  op->result = nullptr;
  std::lock_guard<std::mutex> g(free_mu_);
  if (free_count_ >= 1024) {
    delete op;
    return;
  }
  op->queue_next = free_ops_;
  free_ops_ = op;
  free_count_++;
}

void Engine::recycle(Operator* op) {
  if (op->payload.drop) op->payload.drop(op->payload.arg);
  op->payload = Payload();
  for (Use& u : op->uses) u.var->unref();
  release(op);
}

void Engine::end(Operator* op) {
  // An asynchronous op may complete while its run goes on: what that uses has to stay.
  if (op->payload.async && op->ends.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  recycle(op);
}

// ---- push and completion ---------------------------------------------------------------------

Status Engine::push(Operator* op, bool wake_workers, bool keep) {
  After after;
  after.hold_wake = !wake_workers;
  const Status status = enqueue(op, after, keep);
  settle(after);
  return status;
}

Status Engine::enqueue(Operator* op, After& after, bool keep) {
  Status status = Status::OK;
  if (profiling()) try {
      note(op);
    } catch (const std::bad_alloc&) {
      op->profiled = nullptr;  // it runs, unseen
    }
  {
    Lock lock(mu_);
    Operator* cur = running();
    if (broken_) status = Status::BROKEN;
    // What runs while stop() drains may still push: it is part of the work being drained.
    else if (stopped_ && !cur) status = Status::STOPPED;
    else
      for (Use& u : op->uses) {
        if (!owns(u.var)) status = Status::FOREIGN;
        else if (u.var->deleted) status = Status::DELETED;
        if (status != Status::OK) break;
      }
    if (status == Status::OK) {
      op->seq = ++seq_;
      op->parent = cur ? cur->seq : 0;
      op->kept = keep;
      if (keep) op->refs.fetch_add(1, std::memory_order_relaxed);
      op->root = cur ? cur->root : op->seq;
      op->all_prev = cur ? cur : all_tail_;
      op->all_next = cur ? cur->all_next : nullptr;
      (op->all_prev ? op->all_prev->all_next : all_head_) = op;
      (op->all_next ? op->all_next->all_prev : all_tail_) = op;
      uncompleted_++;
      if (op->payload.native) {
        pending_native_ += 1;
        pending_bytes_ += op->bytes;
      }
      // All variables are enqueued under one lock hold, so two pushes that cross their read and
      // write sets are ordered the same way on each variable (no cycle, no deadlock).
      op->waiting = static_cast<uint32_t>(op->uses.size()) + 1;
      for (Use& u : op->uses) {
        u.var->ref();
        (u.write ? u.var->writers : u.var->readers).fetch_add(1, std::memory_order_relaxed);
        if (op->prop == Prop::DELETE_VAR) u.var->deleted = true;
        u.var->link(&u);
        u.var->advance([](Operator* o) { o->waiting--; });
      }
      if (op->profiled) profile_uses(op);
      if (--op->waiting == 0) ready(op, after, true);
    }
  }
  if (status != Status::OK) discard(op);
  return status;
}

void Engine::ready(Operator* op, After& after, bool pushing) {
  op->state = Operator::READY;
  if (op->profiled) op->profiled->event.ready = now_ns();
  if (runs_here_) {
    // Queued, not begun: another op that this thread runs first may wait for it.
    op->home = after.home;
    after.home->here = true;
    op->pool = &here_;
    here_.put(op);
    if (after.home != &after) tell_waiters();  // which may take a while: a waiter is as good
    return;
  }
  // One that waits on the host for a device's work is for a worker: its pusher goes on.
  const bool by_pusher =
      pushing && (op->prop == Prop::ASYNC || op->prop == Prop::DELETE_VAR || op->hands_over()) &&
      (op->device.has_streams() || !launches(op));
  // Who ends a collective begins the next one: two changes of threads less. (Not so a user's own
  // callable, for which the thread might hold a lock; nor on a device, whose work goes to the
  // stream of the thread.)
  const bool here = (after.hands_on && op->payload.brief) ||
                    (after.runs_little && op->compute() && !op->wide && op->cost_ns < kHandOff);
  if (by_pusher || (here && !launches(op))) {
    begin(op);
    (after.run_last ? after.run_last->queue_next : after.run) = op;
    after.run_last = op;
    return;
  }
  Pool* p = op->pool = pool_for(*op);
  p->put(op);
  if (after.hold_wake) held_.store(true, std::memory_order_relaxed);
  else if (after.own == p) after.own = nullptr;  // no need to wake another
  else if (op->compute() && native_running_ >= cores_) starved_ = true;
  else if (!wake(p, after) && (op->compute() || op->payload.hosted))
    tell_waiters();  // behind opaque work: one that depends on it is sooner there
}

void Engine::begin(Operator* op) {
  op->state = Operator::RUNNING;
  if (op->compute() && has_cores(op)) {
    op->cores = op->wide ? cores() : 1;
    native_running_ += op->cores;
  }
}

// Whether the op runs on a device of streams (or in memory that one copies from), or after something that does.
bool Engine::launches(const Operator* op) const {
  if (!streams_.load(std::memory_order_relaxed)) return false;
  if (!op->device.plain()) return true;
  for (const Use& u : op->uses)
    if (u.var->footprint.load(std::memory_order_acquire)) return true;
  return false;
}

Error* Engine::run(Operator* op) {
  const Payload payload = op->payload;
  Operator* const outer = tls.op;
  op->outer = outer;
  tls.op = op;
  if (op->profiled) {
    ProfileEvent& t = op->profiled->event;
    t.thread = this_thread();
    t.worker = current_worker();
    t.nested = outer != nullptr;
    t.start = now_ns();
  }
  Error* error = nullptr;
  const bool always = op->prop == Prop::NO_SKIP || op->prop == Prop::DELETE_VAR;
  if (!payload.own_errors && !always) {
    // Granted uses order these reads after the writes of every earlier op. The var keeps its
    // reference while this op holds the use, so taking one more is safe.
    for (const Use& u : op->uses) {
      if (u.write && u.overwrite) continue;
      if (Error* e = u.var->error.load(std::memory_order_acquire)) {
        error = e->ref();
        op->skipped = true;
        break;
      }
    }
  }
  if (!error && payload.run) {
    RunContext ctx{this, op, op->device};
    // Here and not in wait(): who waits for an op waits for its launch, and then for its events.
    Streams* const streams = launches(op) ? streams_.load(std::memory_order_acquire) : nullptr;
    if (streams) error = streams->begin(op);
    if (!error) {
      // By its type: what ends a thread that asks for the GIL at exit must not be caught.
      try {
        error = payload.run(payload.arg, ctx);
      } catch (const std::bad_alloc&) {
        error = Error::no_memory();
      }
      // An asynchronous op says itself when its work is launched: see complete().
      if (streams && payload.async) streams->leave();
      else if (streams)
        if (Error* late = streams->end(op)) {
          if (error) late->unref();
          else error = late;
        }
    }
  }
  if (payload.async && (error || !payload.run)) {
    complete(op, error);
    error = nullptr;
  }
  tls.op = outer;
  if (payload.async) end(op);
  return error;
}

void Engine::execute(Operator* op, After& after) {
  const bool async = op->payload.async;
  Error* error = run(op);
  if (async) return;
  Lock lock(mu_);
  finish(op, error, after);
}

void Engine::complete(Operator* op, Error* error) {
  if (op->stream)
    if (Error* late = streams_.load(std::memory_order_acquire)->over(op)) {
      if (error) late->unref();
      else error = late;
    }
  After after;
  // Inside an op that settle() runs, what becomes ready is left to that: a chain of asynchronous
  // ops that complete at once must not recurse.
  after.hands_on = !tls.settling;
  if (auto* outer = static_cast<After*>(tls.settling))
    if (outer->engine == this) after.home = outer;
  Completing here{this, tls.completing};
  tls.completing = &here;
  Lock lock(mu_);
  completing_++;
  finish(op, error, after);
  lock.unlock();
  settle(after);
  lock.lock();
  if (--completing_ == 0 && quit_) drained_.notify_all();
  tls.completing = here.outer;
}

void Engine::finish(Operator* op, Error* error, After& after) {
  if (op->profiled) op->profiled->event.end = now_ns();  // before what it makes ready is
  if (op->offered) {
    op->offered = false;
    offered_--;
  }
  // First of all, or what it makes ready would find no core.
  native_running_ -= op->cores;
  op->cores = 0;
  if (error && !op->skipped) {
    if (!error->seq) error->seq = op->seq;  // else it is published already
    if (!error->op) error->op = op->name;
    fail(error, after.errors);
  }
  for (Use& u : op->uses) {
    Var* v = u.var;
    if (u.write) {
      if (op->profiled) v->written_by = op->seq;
      v->version.fetch_add(u.bumps, std::memory_order_relaxed);
      // An error of an op that keeps its variables' errors itself is the device's.
      if (error || (!op->payload.own_errors && u.overwrite)) set_error_locked(v, error, after.errors);
    }
    v->unlink(&u);
    v->advance([&](Operator* o) {
      if (--o->waiting == 0) ready(o, after, false);
    });
    // Release: whoever reads zero sees what this op wrote.
    (u.write ? v->writers : v->readers).fetch_sub(1, std::memory_order_release);
  }
  if (op->kept && error) op->result = error->ref();
  if (error) after.errors.add(error);
  for (WaitLink* l = op->waiters; l; l = l->next)
    // Notified under the lock: the waiter lives on a stack that it may leave once it has seen 0.
    if (l->waiter->remaining.fetch_sub(1, std::memory_order_acq_rel) == 1) l->waiter->cv.notify_one();
  op->waiters = nullptr;
  const bool oldest = op == all_head_;
  (op->all_prev ? op->all_prev->all_next : all_head_) = op->all_next;
  (op->all_next ? op->all_next->all_prev : all_tail_) = op->all_prev;
  op->state = Operator::DONE;
  completed_++;
  uncompleted_--;
  if (op->payload.native) {
    pending_native_ -= 1;
    pending_bytes_ -= op->bytes;
  }
  if (starved_ && native_running_ < cores_) {
    if (after.hold_wake) held_.store(true, std::memory_order_relaxed);
    else nudge(after);
  }
  if (op->profiled) {
    op->profiled->event.skipped = op->skipped;
    profile_pending(op->profiled->event.end);
    profile_.add(*op->profiled);
  }
  bool notify = throttled_ > 0 && op->payload.native;
  if (oldest)
    for (Drainer* d = drainers_; d; d = d->next)
      if (!all_head_ || all_head_->root > d->last) notify = true;
  if (notify) drained_.notify_all();
  (after.done_last ? after.done_last->queue_next : after.done) = op;
  after.done_last = op;
  unsettled_.fetch_add(1, std::memory_order_relaxed);
  tls.unsettled++;
}

void Engine::settle(After& after) {
  after.engine = this;
  while (after.run || after.here) {
    after.send();  // what others are to do doesn't wait for what this thread runs
    Operator* op = after.run;
    if (op) {
      after.run = op->queue_next;
      if (!after.run) after.run_last = nullptr;
      op->queue_next = nullptr;
    } else {
      Lock lock(mu_);
      op = here_.head;
      while (op && op->home != &after) op = op->queue_next;
      if (!op) {  // a waiter took the rest
        after.here = false;
        break;
      }
      here_.take(op);
      begin(op);
    }
    void* const outer = tls.settling;
    tls.settling = &after;
    execute(op, after);
    tls.settling = outer;
  }
  after.send();
  after.errors.now();
  while (Operator* op = after.done) {
    after.done = op->queue_next;
    if (!after.done) after.done_last = nullptr;
    op->queue_next = nullptr;
    end(op);
    unsettled_.fetch_sub(1, std::memory_order_release);
    tls.unsettled--;
  }
}

// ---- errors ----------------------------------------------------------------------------------

Error* Engine::error_of(Var* var) {
  if (!var->error.load(std::memory_order_acquire)) return nullptr;
  Lock lock(mu_);
  Error* e = var->error.load(std::memory_order_relaxed);
  return e ? e->ref() : nullptr;
}

void Engine::set_error_locked(Var* var, Error* error, Drops& drops) {
  Error* old = var->error.load(std::memory_order_relaxed);
  if (old == error) return;
  var->error.store(error ? error->ref() : nullptr, std::memory_order_release);
  if (old) drops.add(old);
}

void Engine::set_error(Var* var, Error* error) {
  Drops drops;  // after the lock, which is released before
  Lock lock(mu_);
  set_error_locked(var, error, drops);
}

// Lists a failure for wait_for_all. Who never calls that still sees each failure at the waits:
// those need not be kept.
void Engine::fail(Error* error, Drops& drops) {
  if (error->listed) return;
  error->ref();
  error->listed = true;
  error->next = nullptr;
  (last_failure_ ? last_failure_->next : failures_) = error;
  last_failure_ = error;
  if (++failure_count_ < prune_at_) return;
  // A program that never waits must not fill memory with failures: the first ones tell enough.
  constexpr size_t kKeep = 1024;
  Error** link = &failures_;
  failure_count_ = 0;
  last_failure_ = nullptr;
  while (Error* e = *link) {
    if (e->seen || failure_count_ == kKeep) {
      *link = e->next;
      e->listed = false;
      drops.add(e);
    } else {
      failure_count_++;
      last_failure_ = e;
      link = &e->next;
    }
  }
  prune_at_ = std::max<size_t>(16, 2 * failure_count_);
}

void Engine::report(Error* error) {
  Drops drops;
  Lock lock(mu_);
  if (!error->seq) error->seq = ++seq_;
  fail(error, drops);
}

Error* Engine::take_failure() {
  Error* first = nullptr;
  for (Error* e : take_failures()) {
    if (first) e->unref();
    else first = e;
  }
  return first;
}

std::vector<Error*> Engine::take_failures() {
  std::vector<Error*> unseen;
  Drops drops;
  {
    Lock lock(mu_);
    unseen.reserve(failure_count_);  // or the list stays as it is
    for (Error *e = failures_, *next; e; e = next) {
      next = e->next;
      e->listed = false;
      if (e->seen) drops.add(e);
      else unseen.push_back(e);
    }
    failures_ = last_failure_ = nullptr;
    failure_count_ = 0;
    prune_at_ = 16;
  }
  std::sort(unseen.begin(), unseen.end(), [](Error* a, Error* b) { return a->seq < b->seq; });
  return unseen;
}

}  // namespace lazyarray
