// Engine: dependency tracking, completion, waits. The workers are in workers.cpp.
#include "engine.h"

#include <algorithm>

#include "internal.h"

namespace lazyarray {

thread_local ThreadState tls;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Engine::Engine(Policy policy, int workers, int priority_workers, int gpu_workers,
               int gpu_copy_workers)
    : policy_(policy),
      workers_(std::max(1, workers)),
      priority_workers_(std::max(1, priority_workers)),
      gpu_workers_(std::max(1, gpu_workers)),
      gpu_copy_workers_(std::max(1, gpu_copy_workers)),
      cores_(std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {
  runs_here_ = policy == Policy::NAIVE;
}

Engine::~Engine() {
  if (!broken_) shutdown();
  for (Op* op : free_ops_) delete op;
  for (Error* e : failures_) e->unref();
}

// ---- op blocks -------------------------------------------------------------------------------

Op* Engine::new_op() {
  Op* op = nullptr;
  {
    std::lock_guard<std::mutex> g(free_mu_);
    if (!free_ops_.empty()) {
      op = free_ops_.back();
      free_ops_.pop_back();
    }
  }
  if (!op) op = new Op;
  std::vector<Use> uses = std::move(op->uses);
  uses.clear();
  op->~Op();
  new (op) Op;
  op->uses = std::move(uses);
  op->engine = this;
  return op;
}

void Engine::discard(Op* op) {
  if (op->payload.drop) op->payload.drop(op->payload.arg);
  op->payload = Payload();
  release(op);
}

void Engine::release(Op* op) {
  if (op->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (op->result) op->result->unref();
  op->result = nullptr;
  std::lock_guard<std::mutex> g(free_mu_);
  if (free_ops_.size() < 1024) free_ops_.push_back(op);
  else delete op;
}

void Engine::recycle(Op* op) {
  if (op->payload.drop) op->payload.drop(op->payload.arg);
  op->payload = Payload();
  for (Use& u : op->uses) u.var->unref();
  release(op);
}

// ---- push and completion ---------------------------------------------------------------------

Status Engine::push(Op* op, bool wake_workers, bool keep) {
  After after;
  after.hold_wake = !wake_workers;
  Op* cur = current();
  Status status = Status::OK;
  {
    Lock lock(mu_);
    if (broken_) status = Status::BROKEN;
    // What runs while stop() drains may still push: it is part of the work being drained.
    else if (stopped_ && !cur) status = Status::STOPPED;
    else
      for (Use& u : op->uses) {
        if (u.var->engine != this) status = Status::FOREIGN;
        else if (u.var->deleted) status = Status::DELETED;
        if (status != Status::OK) break;
      }
    if (status == Status::OK) {
      op->seq = ++seq_;
      op->parent = cur ? cur->seq : 0;
      op->kept = keep;
      if (keep) op->refs.fetch_add(1, std::memory_order_relaxed);
      if (tracing_) op->queued_ns = now_ns();
      op->all_prev = all_tail_;
      (all_tail_ ? all_tail_->all_next : all_head_) = op;
      all_tail_ = op;
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
        u.var->advance([](Op* o) { o->waiting--; });
      }
      if (--op->waiting == 0) ready(op, after, true);
    }
  }
  if (status != Status::OK) {
    discard(op);
    return status;
  }
  settle(after);
  return Status::OK;
}

void Engine::ready(Op* op, After& after, bool pushing) {
  op->state = Op::READY;
  if (tracing_) op->ready_ns = now_ns();
  const bool on_pusher = pushing && (op->prop == Prop::ASYNC || op->prop == Prop::DELETE_VAR);
  if (runs_here_ || on_pusher) {
    begin(op);
    after.run.push_back(op);
    return;
  }
  op->pool = pool_for(*op);
  op->pool->put(op);
  if (!after.hold_wake) wake(op->pool, after);
}

void Engine::begin(Op* op) {
  op->state = Op::RUNNING;
  if (op->payload.native && native_running_ < cores_) {
    native_running_++;
    op->has_core = true;
  }
}

Error* Engine::run(Op* op) {
  const Payload payload = op->payload;  // an asynchronous op may be gone when run() returns
  op->outer = tls.op;
  tls.op = op;
  if (op->queued_ns) op->start_ns = now_ns();
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
  Op* outer = op->outer;
  if (!error) {
    RunContext ctx{this, op, op->device};
    error = payload.run(payload.arg, ctx);
  } else if (payload.async) {
    complete(op, error);
    error = nullptr;
  }
  tls.op = outer;
  return error;
}

void Engine::execute(Op* op, After& after) {
  const bool async = op->payload.async;
  Error* error = run(op);
  if (async) return;
  Lock lock(mu_);
  finish(op, error, after);
}

void Engine::complete(Op* op, Error* error) {
  After after;
  {
    Lock lock(mu_);
    finish(op, error, after);
  }
  settle(after);
}

void Engine::set_error_locked(Var* var, Error* error) {
  Error* old = var->error.load(std::memory_order_relaxed);
  if (old == error) return;
  var->error.store(error ? error->ref() : nullptr, std::memory_order_release);
  if (old) old->unref();
}

void Engine::finish(Op* op, Error* error, After& after) {
  if (error && !op->skipped) {
    error->seq = op->seq;
    if (!error->op) error->op = op->name;
    failures_.push_back(error->ref());
  }
  for (Use& u : op->uses) {
    Var* v = u.var;
    if (u.write) {
      v->version.fetch_add(u.bumps, std::memory_order_relaxed);
      if (op->payload.own_errors) {
      } else if (error) {
        set_error_locked(v, error);
      } else if (u.overwrite) {
        set_error_locked(v, nullptr);
      }
    }
    v->unlink(&u);
    v->advance([&](Op* o) {
      if (--o->waiting == 0) ready(o, after, false);
    });
    // Release: whoever reads zero sees what this op wrote.
    (u.write ? v->writers : v->readers).fetch_sub(1, std::memory_order_release);
  }
  if (op->kept && error) op->result = error->ref();
  if (error) error->unref();
  for (WaitLink* l = op->waiters; l; l = l->next)
    // Notified under the lock: the waiter lives on a stack that it may leave once it has seen 0.
    if (l->waiter->remaining.fetch_sub(1, std::memory_order_acq_rel) == 1) l->waiter->cv.notify_one();
  op->waiters = nullptr;
  (op->all_prev ? op->all_prev->all_next : all_head_) = op->all_next;
  (op->all_next ? op->all_next->all_prev : all_tail_) = op->all_prev;
  op->state = Op::DONE;
  completed_++;
  if (op->payload.native) {
    pending_native_ -= 1;
    pending_bytes_ -= op->bytes;
  }
  if (op->has_core) {
    native_running_--;
    if (starved_) {
      starved_ = false;
      nudge(after);
    }
  }
  if (tracing_ && op->queued_ns)
    trace_.push_back({op->name, op->seq, op->queued_ns, op->ready_ns, op->start_ns, now_ns(),
                      tls.worker, op->skipped, op->device});
  if (drain_waiters_) drained_.notify_all();
  after.done.push_back(op);
}

void Engine::settle(After& after) {
  for (size_t i = 0; i < after.run.size(); ++i) {
    Op* op = after.run[i];  // execute() may append
    execute(op, after);
  }
  for (Pool* p : after.wake) p->wake->notify_one();
  for (Op* op : after.done) recycle(op);
}

// ---- errors ----------------------------------------------------------------------------------

Error* Engine::error_of(Var* var) {
  if (!var->error.load(std::memory_order_acquire)) return nullptr;
  Lock lock(mu_);
  Error* e = var->error.load(std::memory_order_relaxed);
  return e ? e->ref() : nullptr;
}

void Engine::set_error(Var* var, Error* error) {
  Lock lock(mu_);
  set_error_locked(var, error);
}

void Engine::report(Error* error) {
  Lock lock(mu_);
  if (!error->seq) error->seq = ++seq_;
  failures_.push_back(error->ref());
}

Error* Engine::take_failure() {
  std::vector<Error*> all;
  {
    Lock lock(mu_);
    all.swap(failures_);
  }
  Error* first = nullptr;
  for (Error* e : all)
    if (!e->seen && (!first || e->seq < first->seq)) first = e;
  for (Error* e : all)
    if (e != first) e->unref();
  return first;
}

uint64_t Engine::next_seq() {
  Lock lock(mu_);
  return ++seq_;
}

// ---- waits -----------------------------------------------------------------------------------

Op* Engine::current() {
  for (Op* op = tls.op; op; op = op->outer)
    if (op->engine == this) return op;
  return nullptr;
}

bool Engine::on_stack(const Op* op) const {
  for (const Op* s = tls.op; s; s = s->outer)
    if (s == op) return true;
  return false;
}

// Whether `op` can't complete before one that the calling thread is running.
bool Engine::waits_for_stack(Op* op) {
  if (on_stack(op)) return true;
  if (op->mark == walk_ || op->state != Op::WAITING) return false;
  op->mark = walk_;
  for (Use& u : op->uses) {
    if (u.granted) continue;
    for (Use* b = u.prev; b; b = b->prev)
      if (waits_for_stack(b->op)) return true;
  }
  return false;
}

bool Engine::may_help(const Op* op) const {
  // A waiter that finds no free core may still run what is over sooner than a hand-off.
  return op->state == Op::READY && op->pool && op->payload.native &&
         (native_running_ < cores_ || op->cost_ns < 50000);
}

// A ready native op that `op` depends on (or is). Oldest uses first: they are nearest to ready.
Op* Engine::helpable(Op* op, int& budget) {
  if (op->mark == walk_ || budget-- <= 0) return nullptr;
  op->mark = walk_;
  if (may_help(op)) return op;
  if (op->state != Op::WAITING) return nullptr;
  for (Use& u : op->uses) {
    if (u.granted) continue;
    for (Use* b = u.var->head; b != &u; b = b->next)
      if (Op* found = helpable(b->op, budget)) return found;
  }
  return nullptr;
}

Op* Engine::any_helpable() {
  for (auto& p : pools_)
    for (Op* op = p->head; op; op = op->queue_next)
      if (may_help(op)) return op;
  return nullptr;
}

void Engine::help(Op* op, Lock& lock) {
  op->pool->take(op);
  begin(op);
  helped_++;
  lock.unlock();
  tls.helping = true;
  After after;
  after.hold_wake = true;  // what it makes ready, this thread most likely runs next
  execute(op, after);
  settle(after);
  tls.helping = false;
  lock.lock();
}

template <class Done, class Find>
Status Engine::sleep_until(Lock& lock, std::condition_variable& cv, const std::atomic<int>* spin,
                           Done done, Find find, Poll poll, void* arg, int64_t deadline_ns) {
  constexpr int64_t kSlice = 50'000'000;  // how late a Ctrl-C may be noticed
  constexpr int64_t kSpin = 20'000;       // about what going to sleep and waking costs
  Status status = Status::OK;
  bool spun = false;
  int64_t last_poll = now_ns();
  auto interrupted = [&] {
    if (!poll || now_ns() - last_poll < kSlice / 2) return false;
    lock.unlock();
    const bool go_on = poll(arg);
    last_poll = now_ns();
    lock.lock();
    return !go_on;
  };
  while (!done()) {
    Op* op = tls.helping ? nullptr : find();
    if (op) {
      help(op, lock);
    } else {
      After after;
      nudge(after);  // the workers have to do the rest
      if (!after.wake.empty() || (spin && !spun && cores_ > 1)) {
        lock.unlock();
        settle(after);
        if (spin && !spun) {
          spun = true;
          const int64_t until = now_ns() + kSpin;
          while (spin->load(std::memory_order_acquire) > 0 && now_ns() < until) cpu_relax();
        }
        lock.lock();
        if (done()) break;
      }
      cv.wait_for(lock, std::chrono::nanoseconds(kSlice));
    }
    if (interrupted()) {
      status = Status::INTERRUPTED;
      break;
    }
    if (deadline_ns >= 0 && now_ns() > deadline_ns && !done()) {
      status = Status::TIMEOUT;
      break;
    }
  }
  After after;
  nudge(after);  // what was made ready without waking anyone and was not ours to run
  if (!after.wake.empty()) {
    lock.unlock();
    settle(after);
    lock.lock();
  }
  return status;
}

Status Engine::wait_ops(Lock& lock, std::vector<Op*>& targets, Poll poll, void* arg) {
  Waiter waiter;
  std::vector<WaitLink> links(targets.size());
  waiter.remaining = static_cast<int>(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    Op* op = targets[i];
    op->refs.fetch_add(1, std::memory_order_relaxed);
    links[i] = {&waiter, op, op->waiters};
    op->waiters = &links[i];
  }
  // A worker that waits is replaced while it waits, so waits inside ops can't exhaust a pool.
  Pool* p = tls.pool;
  const bool blocks = p && tls.op && !tls.helping && tls.engine == this;
  if (blocks) {
    p->blocked++;
    After after;
    if (p->head) wake(p, after);
    for (Pool* q : after.wake) q->wake->notify_one();
  }
  auto find = [&]() -> Op* {
    walk_++;
    int budget = 512;
    for (Op* op : targets)
      if (op->state != Op::DONE)
        if (Op* found = helpable(op, budget)) return found;
    return nullptr;
  };
  Status status =
      sleep_until(lock, waiter.cv, &waiter.remaining, [&] { return waiter.remaining == 0; }, find,
                  poll, arg, -1);
  if (blocks) {
    p->blocked--;
    After after;
    if (p->threads - p->blocked > p->target && p->idle > 0) signal(p, after);  // it ends
    for (Pool* q : after.wake) q->wake->notify_one();
  }
  if (status != Status::OK)
    for (WaitLink& mine : links)
      for (WaitLink** l = &mine.op->waiters; *l; l = &(*l)->next)
        if (*l == &mine) {
          *l = mine.next;
          break;
        }
  lock.unlock();
  for (Op* op : targets) release(op);
  return status;
}

Status Engine::wait(Var* var, bool all, Poll poll, void* arg) {
  if (all ? var->idle() : var->readable()) return Status::OK;
  Op* cur = current();
  Lock lock(mu_);
  if (broken_) return Status::BROKEN;
  waits_++;
  std::vector<Op*> targets;
  for (Use* u = var->tail; u; u = u->prev) {
    if (!all && !u->write) continue;
    if (cur) {
      if (on_stack(u->op)) return Status::SELF_WAIT;
      // Inside an op: what was pushed before it, or by it. Anything later may wait for it.
      if (u->op->seq > cur->seq && u->op->parent != cur->seq) continue;
      walk_++;
      if (waits_for_stack(u->op)) return Status::SELF_WAIT;
    }
    targets.push_back(u->op);
    if (!all) break;  // writers complete in order: the last one covers the earlier ones
  }
  if (targets.empty()) return Status::OK;
  return wait_ops(lock, targets, poll, arg);
}

Status Engine::wait_op(Op* op, Poll poll, void* arg) {
  Lock lock(mu_);
  if (op->state == Op::DONE) return Status::OK;
  std::vector<Op*> targets{op};
  return wait_ops(lock, targets, poll, arg);
}

Status Engine::drain(Lock& lock, uint64_t last, Poll poll, void* arg, int64_t timeout_ns) {
  drain_waiters_++;
  Status status = sleep_until(
      lock, drained_, nullptr, [&] { return !all_head_ || all_head_->seq > last; },
      [&] { return any_helpable(); }, poll, arg, timeout_ns < 0 ? -1 : now_ns() + timeout_ns);
  drain_waiters_--;
  return status;
}

Status Engine::wait_for_all(Poll poll, void* arg, int64_t timeout_ns) {
  if (current()) return Status::SELF_WAIT;
  Lock lock(mu_);
  if (broken_) return Status::BROKEN;
  waits_++;
  return drain(lock, seq_, poll, arg, timeout_ns);
}

Status Engine::throttle(int64_t bytes, int64_t ops, Poll poll, void* arg) {
  auto under = [&] { return pending_bytes() <= bytes && pending_ops() <= ops; };
  if (under() || current()) return Status::OK;
  Lock lock(mu_);
  drain_waiters_++;
  Status status = sleep_until(
      lock, drained_, nullptr,
      // If no native op runs, all that is pending waits for opaque ones, which may themselves
      // wait for this thread: going on is the only safe thing.
      [&] { return under() || (native_running_ == 0 && !any_helpable()); },
      [&] { return any_helpable(); }, poll, arg, -1);
  drain_waiters_--;
  return status;
}

}  // namespace lazyarray
