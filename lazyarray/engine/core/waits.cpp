// Waits: who waits for what, what a waiter runs itself, and how it sleeps.
#include <algorithm>
#include <climits>

#include "internal.h"

namespace lazyarray {

// ---- the calling thread's stack ---------------------------------------------------------------

Operator* Engine::current() {
  for (Operator* op = tls.op; op; op = op->outer)
    if (op->engine == this) return op;
  return nullptr;
}

Operator* Engine::running() {
  for (Operator* op = tls.op; op; op = op->outer)
    if (op->engine == this && op->state != Operator::DONE) return op;
  return nullptr;
}

bool Engine::on_stack(const Operator* op) const {
  for (const Operator* s = tls.op; s; s = s->outer)
    if (s == op) return true;
  return false;
}

bool Engine::holds(const Var* var) const {
  for (const Operator* s = tls.op; s; s = s->outer)
    for (const Use& u : s->uses)
      if (u.var == var) return true;
  return false;
}

// Whether `op` can't complete before one that the calling thread is running. What earlier calls
// of the same walk saw is not looked at again: it was found not to. After a yes it begins another walk.
bool Engine::waits_for_stack(Operator* op) {
  Operator* walked = nullptr;
  auto visit = [&](Operator* o) {
    if (o->mark == walk_) return;
    o->mark = walk_;
    o->walk_next = walked;
    walked = o;
  };
  visit(op);
  while (Operator* o = walked) {
    walked = o->walk_next;
    if (on_stack(o)) return true;
    if (o->awaits)
      for (Operator* t : *o->awaits) visit(t);
    if (o->state != Operator::WAITING) continue;
    for (Use& u : o->uses) {
      if (u.granted) continue;
      // Back to the nearest write, which itself waits for all that is before it.
      for (Use* b = u.prev; b; b = b->prev) {
        if (!u.write && !b->write && b->op->mark == walk_) break;  // it has led to that write
        if (u.write || b->write) visit(b->op);
        if (b->write) break;
      }
    }
  }
  return false;
}

bool helping() { return tls.helping; }

// ---- helping ---------------------------------------------------------------------------------

bool Engine::may_help(const Operator* op) const {
  if (op->state != Operator::READY || !op->pool) return false;
  if (op->pool == &here_) return true;  // there are no workers for it
  if (tls.helping) return false;
  // A launch is sooner here than by a worker that has to wake; if all of them sleep, none is at it.
  if (op->launch()) return op->pool->idle == op->pool->threads;
  // A waiter that finds no free core may still run what is over sooner than a hand-off.
  return op->compute() && (has_cores(op) || op->cost_ns < kHandOff);
}

// The same of one that the waiter needs: no worker is sooner at a call of NumPy's. (Of any other it might be that
// it wants a lock which this thread has.)
bool Engine::may_take(const Operator* op) const {
  if (may_help(op)) return true;
  return op->state == Operator::READY && op->payload.hosted && op->pool && !tls.helping;
}

// Whether it is one that a waiter may bring on. Not inside an op, whose end others may wait for.
bool Engine::may_assist(const Operator* op) const {
  return op->offered && op->state == Operator::RUNNING && !tls.op && !tls.settling;
}

// Whether it is one in whose work a waiter may take part. Not inside an op: nobody waits for what
// is only joined.
bool Engine::may_join(const Operator* op) const {
  return op->share && op->share->places > 0 && native_running_ < cores_ && !tls.op && !tls.helping && !tls.settling;
}

// There is something that one of them may help with, and no worker comes for it. Who watches sees it by itself.
void Engine::tell_waiters() {
  news_.fetch_add(1, std::memory_order_release);
  for (Waiter* w = waiters_; w; w = w->next) w->cv.notify_one();
  if (drainers_ || throttled_) drained_.notify_all();
}

bool Engine::offer(Operator* op) {
  Lock lock(mu_);
  if (!assist_ || op->state != Operator::RUNNING || op->offered) return false;
  op->offered = true;
  offered_++;
  tell_waiters();
  return waiters_;
}

void Engine::set_assist(void (*assist)()) {
  Lock lock(mu_);
  assist_ = assist;
}

// An op that one of `targets` depends on (or is), and that a waiter may help(). Oldest uses first: they
// are nearest to ready.
Operator* Engine::helpable(const std::vector<Operator*>& targets) {
  int budget = runs_here_ ? INT_MAX : 1024;  // uses looked at, the mutex being held
  walk_++;
  Operator *first = nullptr, *last = nullptr;  // what waits, in the order in which it was met
  auto visit = [&](Operator* op) {
    if (op->mark == walk_) return false;
    op->mark = walk_;
    if (op->state == Operator::WAITING) {
      op->walk_next = nullptr;
      (last ? last->walk_next : first) = op;
      last = op;
    }
    return may_take(op) || may_assist(op) || may_join(op);
  };
  for (Operator* op : targets)
    if (visit(op)) return op;
  for (Operator* o = first; o; o = o->walk_next)
    for (Use& u : o->uses) {
      if (u.granted) continue;
      for (Use* b = u.var->head; b != &u; b = b->next) {
        if (budget-- <= 0) return nullptr;
        if (visit(b->op)) return b->op;
      }
    }
  return nullptr;
}

Operator* Engine::any_helpable() {
  if (here_.head) return here_.head;
  int looks = offered_ ? 64 : 0;  // what runs is among the oldest
  for (Operator* op = all_head_; op && looks-- > 0; op = op->all_next)
    if (may_assist(op)) return op;
  const bool full = native_running_ >= cores_;
  for (auto& p : pools_) {
    if (tls.helping) continue;
    if (p->head && may_help(p->head)) return p->head;
    if (!p->compute) continue;
    int budget = full ? 64 : INT_MAX;  // with a free core the first one found will do
    for (Operator* op = p->head; op && budget-- > 0; op = op->queue_next)
      if (may_help(op)) return op;
  }
  for (auto& p : pools_)
    for (Share* s = p->shares; s; s = s->next)
      if (may_join(s->op)) return s->op;
  return nullptr;
}

void Engine::help(Operator* op, Lock& lock) {
  if (op->offered) {
    op->offered = false;
    offered_--;
    const auto assist = assist_;
    lock.unlock();
    if (assist) assist();
    lock.lock();
    return;
  }
  const bool outer = tls.helping;
  tls.helping = true;
  if (op->share) {
    join(op->share, lock);
  } else {
    op->pool->take(op);
    begin(op);
    helped_++;
    After after;
    // What else is ready doesn't wait for a long one.
    if (held() && op->cost_ns >= kHandOff) nudge(after);
    lock.unlock();
    after.send();
    after.hold_wake = true;  // what it makes ready, this thread most likely runs next
    execute(op, after);
    settle(after);
    lock.lock();
  }
  tls.helping = outer;
}

// ---- waiting ---------------------------------------------------------------------------------

template <class Done, class Over, class Find>
Status Engine::sleep_until(Lock& lock, std::condition_variable& cv, Done done, Over over, Find find,
                           Poll poll, void* arg, int64_t deadline_ns) {
  Status status = Status::OK;
  int64_t watch_ns = cores_ > 1 ? kWaiterSpin : 0;  // how long it may still watch
  bool parked = false;
  int64_t last_poll = now_ns();
  auto interrupted = [&] {
    if (!poll || now_ns() - last_poll < kPollEach / 2) return false;
    lock.unlock();
    const bool go_on = poll(arg);
    last_poll = now_ns();
    lock.lock();
    return !go_on;
  };
  // An op that waits computes nothing: its core is for what it waits for.
  for (Operator* s = tls.op; s; s = s->outer)
    if (s->engine == this && s->cores) {
      native_running_ -= s->cores;
      s->cores = 0;
      if (starved_) held_.store(true, std::memory_order_relaxed);
    }
  while (!done()) {
    if (Operator* op = find()) {
      const bool offered = op->offered;
      help(op, lock);
      // There is more where that came from; but not of what a thread that has no worker's core takes over.
      watch_ns = offered || cores_ == 1 ? 0 : kWaiterSpin;
    } else {
      // The workers have to do the rest; one that sleeps here is replaced first.
      After after;
      if (!parked && tls.pool && !tls.parked) {
        parked = tls.parked = true;
        if (tls.engine != this) {
          lock.unlock();
          After theirs;
          Lock other(tls.engine->mu_);
          tls.engine->park(tls.pool, theirs);
          other.unlock();
          tls.engine->settle(theirs);
          lock.lock();
          continue;
        }
        park(tls.pool, after);
      }
      nudge(after);
      const uint32_t news = news_.load(std::memory_order_relaxed);
      if (!after.wake.empty() || watch_ns > 0) {
        // Where all cores compute it would take one of them, and BLAS's threads wait for each other the longer. (A
        // training step of 784-256-128-10 units, of NumPy's time: 1.0 so, 1.1 to 1.7.)
        const bool watches = watch_ns > 0 && native_running_ < cores_;
        watching_ += watches;
        lock.unlock();
        settle(after);
        if (watches)
          watch_ns -= watch_for(deadline_ns < 0 ? watch_ns : std::min(watch_ns, deadline_ns - now_ns()), [&] {
            return over() || news_.load(std::memory_order_acquire) != news;
          });
        lock.lock();
        watching_ -= watches;
        if (done()) break;
      }
      int64_t slice = kPollEach;
      if (deadline_ns >= 0) slice = std::min(slice, deadline_ns - now_ns());
      if (slice > 0 && news == news_.load(std::memory_order_relaxed))  // else nobody tells it again
        cv.wait_for(lock, std::chrono::nanoseconds(slice));
    }
    if (interrupted()) {
      status = Status::INTERRUPTED;
      break;
    }
    if (deadline_ns >= 0 && now_ns() >= deadline_ns && !done()) {
      status = Status::TIMEOUT;
      break;
    }
  }
  After after;
  if (tls.op && tls.op->engine == this && tls.op->state == Operator::RUNNING) begin(tls.op);
  if (parked) {
    tls.parked = false;
    if (tls.engine == this) {
      unpark(tls.pool, after);
    } else {
      lock.unlock();
      After theirs;
      Lock other(tls.engine->mu_);
      tls.engine->unpark(tls.pool, theirs);
      other.unlock();
      tls.engine->settle(theirs);
      lock.lock();
    }
  }
  if (held()) nudge(after);  // what was not ours to run
  if (!after.wake.empty()) {
    lock.unlock();
    settle(after);
    lock.lock();
  }
  return status;
}

Status Engine::wait_ops(Lock& lock, std::vector<Operator*>& targets, Poll poll, void* arg) {
  Waiter waiter;
  std::vector<WaitLink> links(targets.size());  // all that may fail
  waiter.remaining = static_cast<int>(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    Operator* op = targets[i];
    op->refs.fetch_add(1, std::memory_order_relaxed);
    links[i] = {&waiter, op, op->waiters};
    op->waiters = &links[i];
  }
  waiter.next = waiters_;
  if (waiters_) waiters_->prev = &waiter;
  waiters_ = &waiter;
  for (Operator* s = tls.op; s; s = s->outer)
    if (s->engine == this && !s->awaits) s->awaits = &targets;
  auto done = [&] { return waiter.remaining.load(std::memory_order_acquire) == 0; };
  const Status status =
      sleep_until(lock, waiter.cv, done, done, [&] { return helpable(targets); }, poll, arg, -1);
  for (Operator* s = tls.op; s; s = s->outer)
    if (s->awaits == &targets) s->awaits = nullptr;
  (waiter.prev ? waiter.prev->next : waiters_) = waiter.next;
  if (waiter.next) waiter.next->prev = waiter.prev;
  if (status != Status::OK)
    for (WaitLink& mine : links)
      for (WaitLink** l = &mine.op->waiters; *l; l = &(*l)->next)
        if (*l == &mine) {
          *l = mine.next;
          break;
        }
  lock.unlock();
  for (Operator* op : targets) release(op);
  return status;
}

// What the var's ops launched: they are complete, their work may not be.
Status Engine::wait_streams(Var* var, bool all, Poll poll, void* arg) {
  Footprint* const f = var->footprint.load(std::memory_order_acquire);
  Streams* const streams = streams_.load(std::memory_order_acquire);
  if (!f || !streams) return Status::OK;
  std::vector<Event*> events;
  f->before(all, events);
  Error* error = nullptr;
  const bool waited = streams->wait(events, poll, arg, &error);
  for (Event* e : events) e->unref();
  if (error) {
    if (!var->error.load(std::memory_order_acquire)) {  // else each wait would list the same once more
      set_error(var, error);
      report(error);
    }
    error->unref();
  }
  return waited ? Status::OK : Status::INTERRUPTED;
}

Status Engine::drain_streams(Poll poll, void* arg) {
  Streams* const streams = streams_.load(std::memory_order_acquire);
  if (!streams) return Status::OK;
  Error* error = nullptr;
  const bool waited = streams->wait_for_all(poll, arg, &error);
  if (error) {
    report(error);
    error->unref();
  }
  return waited ? Status::OK : Status::INTERRUPTED;
}

void Engine::set_streams(Streams* streams) { streams_.store(streams, std::memory_order_release); }

Status Engine::wait(Var* var, bool all, Poll poll, void* arg) try {
  const Status status = wait_uses(var, all, poll, arg);
  return status == Status::OK ? wait_streams(var, all, poll, arg) : status;
} catch (const std::bad_alloc&) {
  return Status::NO_MEMORY;
}

Status Engine::wait_uses(Var* var, bool all, Poll poll, void* arg) {
  if (!owns(var)) return Status::FOREIGN;
  // Even if there is nothing to wait for: who pushed without waking anyone relies on this call.
  if (!held() && (all ? var->idle() : var->readable())) return Status::OK;
  After after;
  Lock lock(mu_);
  if (broken_) return Status::BROKEN;
  waits_++;
  walk_++;
  Status status = Status::OK;
  // The innermost op is what waits; an outer one of this engine may only have helped another's.
  Operator* cur = running();
  if (cur != tls.op && tls.op && tls.op->engine != this) cur = nullptr;
  std::vector<Operator*> targets;
  for (Use* u = var->tail; u; u = u->prev) {
    if (!all && !u->write) continue;
    if (tls.op && waits_for_stack(u->op)) {
      // Inside an op: what was pushed after it, and not by it, waits for it as others do, and has not begun.
      if (cur && !on_stack(u->op) && u->op->seq > cur->seq && u->op->parent != cur->seq) {
        walk_++;
        continue;
      }
      status = Status::SELF_WAIT;
      break;
    }
    targets.push_back(u->op);
    if (u->write) break;  // what is before a write completes before it
  }
  if (status == Status::OK && !targets.empty()) return wait_ops(lock, targets, poll, arg);
  if (held()) nudge(after);
  lock.unlock();
  settle(after);
  return status;
}

Status Engine::wait_op(Operator* op, Poll poll, void* arg) try {
  Lock lock(mu_);
  if (op->state == Operator::DONE) return Status::OK;
  if (broken_) return Status::BROKEN;
  walk_++;
  if (tls.op && waits_for_stack(op)) return Status::SELF_WAIT;
  std::vector<Operator*> targets{op};
  return wait_ops(lock, targets, poll, arg);
} catch (const std::bad_alloc&) {
  return Status::NO_MEMORY;
}

Status Engine::drain(Lock& lock, uint64_t last, Poll poll, void* arg, int64_t timeout_ns) {
  Drainer mine{last, drainers_};
  drainers_ = &mine;
  const Status status = sleep_until(
      lock, drained_, [&] { return !all_head_ || all_head_->root > last; },
      [&] { return pending_native_.load(std::memory_order_acquire) == 0; },
      [&] { return any_helpable(); }, poll, arg, timeout_ns < 0 ? -1 : now_ns() + timeout_ns);
  Drainer** d = &drainers_;
  while (*d != &mine) d = &(*d)->next;
  *d = mine.next;
  return status;
}

Status Engine::wait_for_all(Poll poll, void* arg, int64_t timeout_ns) {
  if (current()) return Status::SELF_WAIT;
  Lock lock(mu_);
  if (broken_) return Status::BROKEN;
  waits_++;
  const Status status = drain(lock, seq_, poll, arg, timeout_ns);
  lock.unlock();
  if (status != Status::OK) return status;
  await_releases();  // so that the caller finds the memory free
  return drain_streams(poll, arg);
}

// An op completes first, and is let go of after that by the thread that ran it, which may be put in line.
// What this thread itself is yet to let go of is not waited for.
bool Engine::await_releases(int64_t most_ns) {
  const int own = tls.unsettled;
  auto over = [&] { return unsettled_.load(std::memory_order_acquire) <= own; };
  if (over()) return false;
  watch_for(most_ns, over);
  return true;
}

Status Engine::throttle(int64_t bytes, int64_t ops, Poll poll, void* arg, int64_t timeout_ns) {
  auto under = [&] { return pending_bytes() <= bytes && pending_ops() <= ops; };
  // Who waits for so long has no time for an op that takes longer.
  auto find = [&]() -> Operator* {
    Operator* const op = any_helpable();
    return op && timeout_ns >= 0 && op->cost_ns > timeout_ns ? nullptr : op;
  };
  if (under() || current()) return Status::OK;
  Lock lock(mu_);
  if (broken_) return Status::BROKEN;
  throttled_++;
  const Status status = sleep_until(
      lock, drained_,
      // If no native op runs, all that is pending waits for opaque ones, which may themselves
      // wait for this thread: going on is the only safe thing, unless the wait ends by itself.
      [&] { return under() || (timeout_ns < 0 && native_running_ == 0 && !any_helpable()); },
      [&] { return timeout_ns < 0 || under(); }, find, poll, arg,
      timeout_ns < 0 ? -1 : now_ns() + timeout_ns);
  throttled_--;
  return status;
}

}  // namespace lazyarray
