// What idle threads do besides ready operators: they join in large ones, and answer the alarm.
#include <algorithm>

#include "internal.h"

namespace lazyarray {

// ---- shares ----------------------------------------------------------------------------------

void Engine::share(Operator* op, void (*work)(void*), void* arg, int most) {
  Share mine{op, work, arg, std::min(most, cores_ - 1)};
  if (mine.places <= 0 || op->wide || runs_here()) return work(arg);
  After after;
  Lock lock(mu_);
  Pool* const p = pool_for(*op);
  mine.places = std::min(mine.places, p->target - 1);
  if (mine.places <= 0 || runs_here_) {
    lock.unlock();
    return work(arg);
  }
  mine.next = p->shares;
  p->shares = op->share = &mine;
  news_.fetch_add(1, std::memory_order_release);
  const int free = cores_ - native_running_;
  if (mine.places > free) starved_ = true;
  // Who watches is awake, and comes by itself, or has workers woken if it may not join.
  if (watching_) held_.store(true, std::memory_order_relaxed);
  int n = std::min(mine.places, free) - watching_;
  while (n > 0 && wake(p, after)) n--;
  if (n > 0) tell_waiters();  // all workers are at other things
  lock.unlock();
  settle(after);
  work(arg);
  lock.lock();
  Share** s = &p->shares;
  while (*s != &mine) s = &(*s)->next;
  *s = mine.next;
  op->share = nullptr;
  if (mine.inside == 0) return;
  lock.unlock();
  watch_for(kWaiterSpin, [&] { return mine.inside.load(std::memory_order_acquire) == 0; });
  lock.lock();  // even if none is inside: the last one still notified `mine.cv`
  mine.cv.wait(lock, [&] { return mine.inside == 0; });
}

bool Engine::called_away() {
  if (tls.away_at == INT64_MAX || now_ns() < tls.away_at) return false;
  return tls.away = true;
}

void Engine::set_cores(int n) {
  After after;
  Lock lock(mu_);
  cores_ = std::max(1, n);
  nudge(after);  // what found too few
  lock.unlock();
  settle(after);
}

Share* Engine::joinable(const Pool* p) {
  for (Share* s = p->shares; s; s = s->next) {
    if (s->places <= 0) continue;
    if (native_running_ < cores_) return s;
    starved_ = true;
    break;
  }
  return nullptr;
}

// By a worker that found nothing ready, or nothing that may start before others have ended: then
// they end the sooner for it. Or by a waiter: its core is free at once, where a worker that was
// woken may have been put in line behind the thread that woke it, for as long as that computes.
void Engine::join(Share* s, Lock& lock) {
  After after;
  s->places--;
  s->inside++;
  native_running_++;
  if (tls.pool) hand_over(tls.pool, true, after);
  if (held()) nudge(after);  // for other shares
  lock.unlock();
  after.send();
  const int64_t start = profiling() ? now_ns() : 0;
  tls.away = false;
  if (!tls.pool) tls.away_at = now_ns() + kPollEach;
  s->work(s->arg);
  tls.away_at = INT64_MAX;
  if (start) {
    ProfileSpan t;
    t.kind = ProfileSpan::SHARE;
    t.name = s->op->name;
    t.seq = s->op->seq;
    t.thread = this_thread();
    t.worker = tls.worker;
    t.start = start;
    t.end = now_ns();
    profile_.add(t);
  }
  lock.lock();
  native_running_--;
  if (tls.away) s->places++;  // for itself, or another
  else s->places = 0;
  // Notified under the lock: `s` is gone once its owner has seen 0 with the lock held.
  if (--s->inside == 0) s->cv.notify_one();
  if (!starved_) return;
  nudge(after);
  lock.unlock();
  settle(after);
  lock.lock();
}

// ---- the alarm -------------------------------------------------------------------------------

int64_t Engine::now() { return now_ns(); }

void Engine::set_alarm(Alarm fn, void* arg) {
  Lock lock(mu_);
  alarm_ = fn;
  alarm_arg_ = arg;
}

void Engine::alarm(int64_t when) {
  // In one order with what the caller stored before: if this one is too late for it, another is seen.
  if (alarm_at_.load(std::memory_order_seq_cst) <= when || runs_here()) return;
  After after;
  Lock lock(mu_);
  if (alarm_at_ <= when || !alarm_ || runs_here_ || broken_) return;
  alarm_at_ = when;
  if (!alarm_pool_) alarm_pool_ = pool_for(Operator());
  if (tls.pool == alarm_pool_ && !tls.op) return;  // the worker that calls it: it looks again itself
  watch(after);
  lock.unlock();
  settle(after);
}

void Engine::cancel_alarm() {
  if (alarm_at_.load(std::memory_order_relaxed) == kNever) return;
  Lock lock(mu_);
  alarm_at_ = kNever;  // the watcher finds out when it would have called
}

// Sees to it that one of the workers that are or could be idle sleeps no longer than until the
// alarm. Called when one is asked for, and when a worker that might have been that one has found
// something else to do; the others, awake, see for themselves before they sleep.
void Engine::watch(After& after) {
  const int64_t due = alarm_due();
  if (due >= watch_) return;
  Pool* const p = alarm_pool_;
  if (watch_ != kNever) {
    watch_ = due;
    after.wake.add(&alarm_cv_);
  } else if (p->signals == 0 && p->spinner < 0) {  // else one is about to see for itself
    wake(p, after);
  }
}

// A worker that may have been the watcher goes to work. If that takes the last core, the alarm waits
// until it is done: one more thread would only take a core from the others.
void Engine::hand_over(Pool* p, bool computes, After& after) {
  if (p == alarm_pool_ && !(computes && native_running_ >= cores_)) watch(after);
}

void Engine::ring(Lock& lock) {
  if (fork_under_way()) {  // see fork.cpp: its call would push
    alarm_at_ = now_ns() + 1'000'000;
    return;
  }
  alarm_at_ = kNever;
  alarming_++;
  lock.unlock();
  alarm_(alarm_arg_);
  lock.lock();
  if (--alarming_ == 0) drained_.notify_all();
}

}  // namespace lazyarray
