// Pools, workers, and the engine's life: start, stop, exit, fork.
#include <algorithm>
#include <memory>
#include <new>
#include <system_error>

#include "internal.h"

namespace lazyarray {

namespace {

// Threads that delete engines. Never destroyed: they may outlive static destructors.
struct Destroyers {
  std::mutex mu;
  std::vector<Thread> threads;
};
Destroyers& destroyers() {
  static Destroyers* d = new Destroyers;
  return *d;
}

extern "C" void* run_thread(void* work) {
  const std::unique_ptr<std::function<void()>> f(static_cast<std::function<void()>*>(work));
  (*f)();
  return nullptr;
}

}  // namespace

Thread::Thread(std::function<void()> work) {
  auto kept = std::make_unique<std::function<void()>>(std::move(work));
  pthread_attr_t attr;
  size_t stack = 0;
  int failed = pthread_attr_init(&attr);
  if (!failed) {
    // More than enough, if the C library or `ulimit -s` says so.
    if (!pthread_attr_getstacksize(&attr, &stack) && stack < kThreadStack)
      pthread_attr_setstacksize(&attr, kThreadStack);
    failed = pthread_create(&id_, &attr, run_thread, kept.get());
    pthread_attr_destroy(&attr);
  }
  if (failed) throw std::system_error(failed, std::generic_category());
  (void)kept.release();  // the thread's
}

void Thread::join() { pthread_join(id_, nullptr); }

// ---- the ready queue -------------------------------------------------------------------------

void Pool::put(Operator* op) {
  Operator* after = tail;
  if (op->prop == Prop::DELETE_VAR) after = nullptr;  // a deletion jumps its queue
  else if (prioritized)
    while (after && after->priority < op->priority && after->prop != Prop::DELETE_VAR)
      after = after->queue_prev;
  op->queue_prev = after;
  op->queue_next = after ? after->queue_next : head;
  (op->queue_next ? op->queue_next->queue_prev : tail) = op;
  (after ? after->queue_next : head) = op;
  ready++;
  compute += op->compute();
}

void Pool::take(Operator* op) {
  (op->queue_prev ? op->queue_prev->queue_next : head) = op->queue_next;
  (op->queue_next ? op->queue_next->queue_prev : tail) = op->queue_prev;
  op->queue_prev = op->queue_next = nullptr;
  op->pool = nullptr;
  ready--;
  compute -= op->compute();
}

// ---- policies: which pool runs an op ---------------------------------------------------------

// Made when the first op comes for it, which is enqueued by then: without memory another pool will do, if
// there is one. (The engine's constructor makes the first.)
Pool* Engine::pool(const char* role, Device device, int target, bool prioritized) {
  for (auto& p : pools_)
    if (p->device == device && p->name == role) return p.get();
  try {
    pools_.reserve(pools_.size() + 1);
    auto fresh = std::make_unique<Pool>();
    fresh->name = role;
    fresh->device = device;
    fresh->target = target;
    fresh->prioritized = prioritized;
    pools_.push_back(std::move(fresh));
  } catch (const std::bad_alloc&) {
    if (pools_.empty()) throw;
    return pools_[0].get();
  }
  return pools_.back().get();
}

Pool* Engine::pool_for(const Operator& op) {
  const bool copies = op.prop == Prop::COPY_FROM_GPU || op.prop == Prop::COPY_TO_GPU;
  const bool priority =
      op.prop == Prop::CPU_PRIORITIZED || op.prop == Prop::GPU_PRIORITIZED || op.hands_over();
  const Device shared;
  Device host = op.device;
  host.kind = Device::CPU;  // pinned memory is the host's
  if (policy_ == Policy::POOLED)
    return copies ? pool("io", shared, 1, false) : pool("normal", shared, workers_, false);
  if (op.device.has_streams()) {
    // A pool for each direction, so that neither waits behind the other: the device does both at once.
    if (copies)
      return pool(op.prop == Prop::COPY_TO_GPU ? "copy to" : "copy from", op.device,
                  std::max(1, gpu_copy_workers_ / 2), false);
    if (priority) return pool("priority", op.device, gpu_workers_, true);
    return pool("normal", op.device, gpu_workers_, false);
  }
  if (priority) return pool("priority", shared, priority_workers_, true);
  if (copies) return pool("copy", host, gpu_copy_workers_, false);
  return pool("normal", host, workers_, false);
}

// ---- workers ---------------------------------------------------------------------------------

// Native compute never occupies more threads than cores; opaque ops don't count. A wide op takes
// them all, and one that can't start yet lets no later compute of its queue overtake it, or it
// might never find the cores free.
Operator* Engine::pick(Pool* p) {
  bool full = native_running_ >= cores_;
  if (full && p->compute) starved_ = true;
  if (p->ready == (full ? p->compute : 0)) return nullptr;
  Operator* op = p->head;
  for (; op && op->compute(); op = op->queue_next) {
    if (!full && has_cores(op)) break;
    full = starved_ = true;
  }
  if (!op) return nullptr;
  p->take(op);
  begin(op);
  return op;
}

// A signal is a token for one sleeping worker: it leaves `idle` now, not when it runs, so two
// pushes in a row wake two workers.
void Engine::signal(Pool* p, After& after) {
  p->idle--;
  p->signals++;
  const bool watched = p == alarm_pool_ && watch_ != kNever;
  if (p->spinner >= 0) p->spinner = -1;  // it sees the token by itself
  else after.wake.add(watched && p->idle == 0 ? &alarm_cv_ : p->wake.get());
}

// False: all workers are awake, and will see for themselves.
bool Engine::wake(Pool* p, After& after) {
  if (p->idle > 0) signal(p, after);
  else if (p->threads - p->blocked < p->target) spawn(p);
  else return false;
  return true;
}

// Wakes workers for everything that is ready (some of it was pushed without waking anyone), and
// for the open shares.
void Engine::nudge(After& after) {
  held_.store(false, std::memory_order_relaxed);
  starved_ = false;
  const int free = std::max(0, cores_ - native_running_);
  for (auto& p : pools_) {
    int places = 0;
    for (Share* s = p->shares; s; s = s->next) places += s->places;
    if (places > free || (!free && p->compute)) starved_ = true;
    const int runnable = p->ready - (free ? 0 : p->compute) + std::min(places, free);
    for (int need = std::min(runnable, p->target) - p->signals; need > 0; need--) wake(p.get(), after);
  }
}

void Engine::spawn(Pool* p) {
  // A thread that listed itself as finished holds no lock and only returns: joining is short.
  for (pthread_t id : finished_) {
    auto t = std::find_if(threads_.begin(), threads_.end(), [&](Thread& x) { return x.is(id); });
    if (t != threads_.end()) {
      t->join();
      threads_.erase(t);
    }
  }
  finished_.clear();
  try {
    finished_.reserve(threads_.size() + 1);  // for the thread's own note, as it ends
    worker_names_.reserve(worker_names_.size() + 1);
    WorkerName name{p->name, p->device};
    threads_.emplace_back([this, p, id = thread_count_] { worker(p, id); });
    worker_names_.push_back(std::move(name));
  } catch (const std::system_error&) {
    return;  // no more threads to be had: those that are there go on, and each wait tries again
  } catch (const std::bad_alloc&) {
    return;
  }
  thread_count_++;
  p->threads++;
}

// The calling worker goes to sleep inside an op, and another takes its place; and back.
void Engine::park(Pool* p, After& after) {
  p->blocked++;
  if (p->ready) wake(p, after);
  if (p == alarm_pool_) watch(after);
}

void Engine::unpark(Pool* p, After& after) {
  p->blocked--;
  if (p->threads - p->blocked > p->target && p->idle > 0) signal(p, after);  // it ends
}

void Engine::worker(Pool* p, int id) {
  tls.pool = p;
  tls.engine = this;
  tls.worker = id;
  Lock lock(mu_);
  bool worked = false;  // since it last slept
  for (;;) {
    After after;
    if (p->threads - p->blocked > p->target) {
      // A spare one whose worker came back. What it was woken for is for another.
      p->threads--;
      if (p->ready) wake(p, after);
      if (p == alarm_pool_) watch(after);
      lock.unlock();
      settle(after);
      break;
    }
    Operator* op = pick(p);
    if (!op) {
      if (quit_) {
        p->threads--;
        lock.unlock();
        break;
      }
      if (p == alarm_pool_ && alarm_due() != kNever && alarm_due() <= now_ns()) {
        ring(lock);
        continue;
      }
      if (Share* s = joinable(p)) {
        join(s, lock);
        worked = true;
        continue;
      }
      p->idle++;
      if (p->spinner < 0 && worked) {
        // Work often comes in a stream: to go to sleep and be woken costs both sides more than to
        // watch for a moment. One worker of a pool does, so that little time is burnt.
        p->spinner = id;
        lock.unlock();
        watch_for(kWorkerSpin, [&] { return p->signals > 0; });
        lock.lock();
        if (p->spinner == id) p->spinner = -1;
      }
      worked = false;
      while (p->signals == 0 && !quit_) {
        const int64_t due = p == alarm_pool_ ? alarm_due() : kNever;
        if (due == kNever || watch_ != kNever) {
          p->wake->wait(lock);
          continue;
        }
        if (due <= now_ns()) break;
        watch_ = due;
        alarm_cv_.wait_until(lock, std::chrono::steady_clock::time_point(
                                       std::chrono::nanoseconds(due)));
        watch_ = kNever;
      }
      if (p->signals > 0) p->signals--;
      else p->idle--;
      continue;
    }
    hand_over(p, op->cores > 0, after);
    worked = true;
    lock.unlock();
    after.send();
    const bool async = op->payload.async;
    Error* error = run(op);
    lock.lock();
    if (async) continue;
    after.own = p;
    finish(op, error, after);
    lock.unlock();
    settle(after);
    lock.lock();
  }
  if (on_thread_exit) on_thread_exit();
  lock.lock();
  finished_.push_back(pthread_self());
}

// ---- life ------------------------------------------------------------------------------------

bool Engine::entered() const {
  if (tls.engine == this) return true;
  for (const Operator* op = tls.op; op; op = op->outer)
    if (op->engine == this) return true;
  for (const Completing* c = tls.completing; c; c = c->outer)
    if (c->engine == this) return true;
  return false;
}

void Engine::start() {
  Lock lock(mu_);
  drained_.wait(lock, [&] { return !quit_ || entered(); });
  if (quit_) return;
  stopped_ = false;
  After after;
  watch(after);
  lock.unlock();
  settle(after);
}

// When no op is left that needs a worker, and none is let in that would.
void Engine::join_workers(Lock& lock) {
  quit_ = true;
  for (auto& p : pools_) p->wake->notify_all();
  alarm_cv_.notify_all();
  std::vector<Thread> all;
  all.swap(threads_);
  lock.unlock();
  for (Thread& t : all) t.join();
  lock.lock();
  finished_.clear();
  drained_.wait(lock, [&] { return completing_ == 0; });
  quit_ = false;
  drained_.notify_all();
}

// One stop at a time: false if the caller was interrupted while it waited for another's.
// (No timed mutex: the ThreadSanitizer of GCC 12 doesn't see how the standard library locks one.)
bool Engine::alone(Lock& one, Poll poll, void* arg) {
  while (!one.try_lock()) {
    if (poll && !poll(arg)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

Status Engine::stop(Poll poll, void* arg) {
  if (entered()) return Status::SELF_WAIT;
  Lock one(life_mu_, std::defer_lock);
  if (!alone(one, poll, arg)) return Status::INTERRUPTED;
  Lock lock(mu_);
  if (broken_) return Status::BROKEN;
  // Nobody may push any more, not even an alarm's call that is in the midst of it.
  drained_.wait(lock, [&] { return alarming_ == 0; });
  stopped_ = true;
  // Ops that run meanwhile may push more.
  Status status = drain(lock, UINT64_MAX, poll, arg, -1);
  if (status != Status::OK) return status;
  lock.unlock();
  status = drain_streams(poll, arg);
  if (status != Status::OK) return status;
  lock.lock();
  if (stopped_) join_workers(lock);  // else start() was called meanwhile
  return Status::OK;
}

Status Engine::shutdown(Poll poll, void* arg) {
  if (entered()) return Status::SELF_WAIT;
  if (broken_) return Status::BROKEN;
  Lock one(life_mu_, std::defer_lock);
  if (!alone(one, poll, arg)) return Status::INTERRUPTED;
  Lock lock(mu_);
  runs_here_ = true;
  stopped_ = false;
  alarm_at_ = kNever;  // a call that has begun ends before its worker is joined
  // Ops that run meanwhile may push more; what other threads push, they run themselves, and as
  // they might do so for ever, the patience with them is bounded.
  for (int i = 0; i < 100 && all_head_; ++i) {
    const Status status = drain(lock, seq_, poll, arg, -1);
    if (status == Status::OK) continue;
    given_up_ = true;
    return status;
  }
  lock.unlock();
  drain_streams(poll, arg);
  lock.lock();
  join_workers(lock);
  return Status::OK;
}

void destroy_engine(Engine* engine) {
  if (engine->given_up()) return;
  if (!engine->entered()) {
    delete engine;
    return;
  }
  std::lock_guard<std::mutex> g(destroyers().mu);
  destroyers().threads.emplace_back([engine] { delete engine; });
}

void join_destroyers() {
  for (;;) {
    std::vector<Thread> all;
    {
      std::lock_guard<std::mutex> g(destroyers().mu);
      all.swap(destroyers().threads);
    }
    if (all.empty()) return;
    for (Thread& t : all) t.join();
  }
}

// ---- figures -----------------------------------------------------------------------------------

EngineStats Engine::stats() {
  Lock lock(mu_);
  int threads = 0;
  for (auto& p : pools_) threads += p->threads;
  // Not seq_, which failures that no op has are numbered by, too.
  return {completed_ + static_cast<uint64_t>(uncompleted_), completed_, helped_, waits_,
          static_cast<uint64_t>(threads)};
}

std::vector<WorkerName> Engine::worker_names() {
  Lock lock(mu_);
  return worker_names_;
}

Engine* create_engine(Policy policy, int workers, int priority_workers, int gpu_workers,
                      int gpu_copy_workers) {
  return new Engine(policy, workers, priority_workers, gpu_workers, gpu_copy_workers);
}

}  // namespace lazyarray
