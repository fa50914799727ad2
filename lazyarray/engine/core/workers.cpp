// Pools, workers, and the engine's life: start, stop, exit, fork, trace.
#include <algorithm>
#include <cstdio>
#include <new>

#include "internal.h"

namespace lazyarray {

// ---- the ready queue -------------------------------------------------------------------------

void Pool::put(Op* op) {
  Op* after = tail;
  if (op->prop == Prop::DELETE_VAR) after = nullptr;  // a deletion jumps its queue
  else if (prioritized)
    while (after && after->priority < op->priority && after->prop != Prop::DELETE_VAR)
      after = after->queue_prev;
  op->queue_prev = after;
  op->queue_next = after ? after->queue_next : head;
  (op->queue_next ? op->queue_next->queue_prev : tail) = op;
  (after ? after->queue_next : head) = op;
}

void Pool::take(Op* op) {
  (op->queue_prev ? op->queue_prev->queue_next : head) = op->queue_next;
  (op->queue_next ? op->queue_next->queue_prev : tail) = op->queue_prev;
  op->queue_prev = op->queue_next = nullptr;
  op->pool = nullptr;
}

// ---- policies: which pool runs an op ---------------------------------------------------------

Pool* Engine::pool(const char* role, Device device, int target, bool prioritized) {
  for (auto& p : pools_)
    if (p->device == device && p->name == role) return p.get();
  pools_.emplace_back(new Pool);
  Pool* p = pools_.back().get();
  p->name = role;
  p->device = device;
  p->target = target;
  p->prioritized = prioritized;
  return p;
}

Pool* Engine::pool_for(const Op& op) {
  const bool copies = op.prop == Prop::COPY_FROM_GPU || op.prop == Prop::COPY_TO_GPU;
  const bool priority = op.prop == Prop::CPU_PRIORITIZED || op.prop == Prop::GPU_PRIORITIZED;
  const Device shared;
  if (policy_ == Policy::POOLED)
    return copies ? pool("io", shared, 1, false) : pool("normal", shared, workers_, false);
  if (op.device.is_gpu()) {
    if (copies) return pool("copy", op.device, gpu_copy_workers_, false);
    if (priority) return pool("priority", op.device, gpu_workers_, true);
    return pool("normal", op.device, gpu_workers_, false);
  }
  if (priority) return pool("priority", shared, priority_workers_, true);
  if (copies) return pool("copy", op.device, gpu_copy_workers_, false);
  return pool("normal", op.device, workers_, false);
}

// ---- workers ---------------------------------------------------------------------------------

// Native compute never occupies more threads than cores; opaque ops don't count.
Op* Engine::pick(Pool* p) {
  for (Op* op = p->head; op; op = op->queue_next) {
    if (op->payload.native && native_running_ >= cores_) {
      starved_ = true;
      continue;
    }
    p->take(op);
    begin(op);
    return op;
  }
  return nullptr;
}

// A signal is a token for one sleeping worker: it leaves `idle` now, not when it runs, so two
// pushes in a row wake two workers.
void Engine::signal(Pool* p, After& after) {
  p->idle--;
  p->signals++;
  after.wake.push_back(p);
}

void Engine::wake(Pool* p, After& after) {
  if (p->idle > 0) signal(p, after);
  else if (p->threads - p->blocked < p->target) spawn(p);
}

// Wakes workers for everything that is ready (some of it was pushed without waking anyone).
void Engine::nudge(After& after) {
  for (auto& p : pools_) {
    int need = -p->signals;
    for (Op* op = p->head; op && need < p->target; op = op->queue_next) need++;
    for (; need > 0; need--) wake(p.get(), after);
  }
}

void Engine::spawn(Pool* p) {
  // A thread that listed itself as finished holds no lock and only returns: joining is short.
  for (std::thread::id id : finished_) {
    auto t = std::find_if(threads_.begin(), threads_.end(),
                          [&](std::thread& x) { return x.get_id() == id; });
    if (t != threads_.end()) {
      t->join();
      threads_.erase(t);
    }
  }
  finished_.clear();
  p->threads++;
  threads_.emplace_back(&Engine::worker, this, p, thread_count_++);
}

void Engine::worker(Pool* p, int id) {
  tls.pool = p;
  tls.engine = this;
  tls.worker = id;
  Lock lock(mu_);
  for (;;) {
    if (p->threads - p->blocked > p->target) break;  // a spare one whose worker came back
    Op* op = pick(p);
    if (!op) {
      if (quit_) break;
      p->idle++;
      p->wake->wait(lock, [&] { return p->signals > 0 || quit_; });
      if (p->signals > 0) p->signals--;
      else p->idle--;
      continue;
    }
    lock.unlock();
    const bool async = op->payload.async;
    Error* error = run(op);
    After after;
    lock.lock();
    if (!async) finish(op, error, after);
    // One of what became ready in this pool is run by this worker: no need to wake another.
    auto own = std::find(after.wake.begin(), after.wake.end(), p);
    if (own != after.wake.end()) {
      after.wake.erase(own);
      p->signals--;
      p->idle++;
    }
    if (after.wake.empty() && after.done.empty() && after.run.empty()) continue;
    lock.unlock();
    settle(after);
    lock.lock();
  }
  p->threads--;
  lock.unlock();
  if (on_thread_exit) on_thread_exit();
  lock.lock();
  finished_.push_back(std::this_thread::get_id());
}

// ---- life ------------------------------------------------------------------------------------

void Engine::start() {
  Lock lock(mu_);
  stopped_ = false;
}

Status Engine::stop(Poll poll, void* arg) {
  if (current()) return Status::SELF_WAIT;
  std::lock_guard<std::mutex> one(life_mu_);
  {
    Lock lock(mu_);
    stopped_ = true;
    // Ops that run meanwhile may push more.
    const Status status = drain(lock, UINT64_MAX, poll, arg, -1);
    if (status != Status::OK) return status;
    quit_ = true;
    for (auto& p : pools_) p->wake->notify_all();
  }
  // No op is left and no push is let in, so no thread is started while these are joined.
  for (std::thread& t : threads_) t.join();
  Lock lock(mu_);
  threads_.clear();
  finished_.clear();
  quit_ = false;
  return Status::OK;
}

void Engine::shutdown() {
  stop(nullptr, nullptr);
  Lock lock(mu_);
  runs_here_ = true;
  stopped_ = false;
}

bool Engine::fork_prepare(int64_t timeout_ns) {
  const int64_t deadline = now_ns() + timeout_ns;
  bool drained = true;
  if (current()) drained = false;
  for (;;) {
    if (drained) {
      const Status s = wait_for_all(nullptr, nullptr, std::max<int64_t>(0, deadline - now_ns()));
      drained = s == Status::OK;
    }
    mu_.lock();
    if (!drained || !all_head_) break;
    mu_.unlock();  // somebody pushed in between
    if (now_ns() > deadline) drained = false;
  }
  free_mu_.lock();
  return drained;
}

void Engine::fork_parent() {
  free_mu_.unlock();
  mu_.unlock();
}

// Only the forking thread exists here. What the others held is left behind, never destroyed:
// a mutex or condition that a vanished thread used can't be destroyed safely.
void Engine::fork_child(bool drained) {
  new (&life_mu_) std::mutex;
  new (&mu_) std::mutex;
  new (&free_mu_) std::mutex;
  new (&drained_) std::condition_variable;
  new std::vector<std::thread>(std::move(threads_));  // leaked on purpose
  threads_.clear();
  finished_.clear();
  for (auto& p : pools_) {
    (void)p->wake.release();
    p->wake.reset(new std::condition_variable);
    p->threads = p->idle = p->signals = p->blocked = 0;
  }
  native_running_ = 0;
  drain_waiters_ = 0;
  starved_ = quit_ = false;
  broken_ = !drained;
  tls = ThreadState();
}

// ---- profiler --------------------------------------------------------------------------------

void Engine::trace(bool on) {
  Lock lock(mu_);
  tracing_ = on;
}

std::vector<TraceEvent> Engine::take_trace() {
  Lock lock(mu_);
  return std::move(trace_);
}

EngineStats Engine::stats() {
  Lock lock(mu_);
  return {seq_, completed_, helped_, waits_, static_cast<uint64_t>(threads_.size() - finished_.size())};
}

Engine* create_engine(Policy policy, int workers, int priority_workers, int gpu_workers,
                      int gpu_copy_workers) {
  return new Engine(policy, workers, priority_workers, gpu_workers, gpu_copy_workers);
}

}  // namespace lazyarray
