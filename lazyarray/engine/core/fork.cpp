// Forks: nothing is under way at one, its thread holds the engines' locks across it, and the child makes anew
// what was the other threads'.
#include <pthread.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "internal.h"

namespace lazyarray {

// ---- one engine --------------------------------------------------------------------------------

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
    // Whoever lets go of a completed op's things, or is called by an alarm, may hold a lock of the
    // rooms above.
    if (!drained || (!all_head_ && alarming_ == 0 && unsettled_.load(std::memory_order_acquire) == 0))
      break;
    mu_.unlock();  // or somebody pushed in between
    if (now_ns() > deadline) drained = false;
  }
  free_mu_.lock();
  profile_.lock();
  return drained;
}

void Engine::fork_parent() {
  profile_.unlock();
  free_mu_.unlock();
  mu_.unlock();
}

// Only the forking thread exists here. What the others held is left behind, never destroyed:
// a mutex or condition that a vanished thread used can't be destroyed safely.
void Engine::fork_child(bool drained) {
  new (&life_mu_) std::mutex;
  new (&mu_) std::mutex;
  new (&free_mu_) std::mutex;
  profile_.reset();
  new (&drained_) std::condition_variable;
  new (&alarm_cv_) std::condition_variable;
  threads_.clear();
  finished_.clear();
  for (auto& p : pools_) {
    (void)p->wake.release();
    p->wake.reset(new std::condition_variable);
    p->threads = p->idle = p->signals = p->blocked = 0;
    p->spinner = -1;
    p->shares = nullptr;
  }
  native_running_ = completing_ = throttled_ = unsettled_ = alarming_ = offered_ = watching_ = 0;
  alarm_at_ = watch_ = kNever;
  drainers_ = nullptr;
  waiters_ = nullptr;
  starved_ = quit_ = false;
  broken_ = !drained;
  tls = ThreadState();
}

// ---- all of them -------------------------------------------------------------------------------

namespace {

// The locks can't be taken any sooner than inside fork(): until then other code of the forking thread may
// run Python (the hooks of other modules), another thread have the GIL meanwhile, and block on one of
// them with it. So pushers step aside from the moment when all is drained.
struct Forking {
  std::atomic<bool> on{false};
  pthread_t by{};                                  // changed before `on` is set
  std::vector<std::pair<Engine*, bool>> engines;   // and whether each is drained
};
Forking& forking() {
  static Forking* f = new Forking;
  return *f;
}
bool forking_here() { return forking().on && pthread_equal(forking().by, pthread_self()); }

// What the threads are at that didn't step aside needs no GIL: it ends.
constexpr int64_t kLast = 1'000'000'000;

void prepare() {
  if (!forking_here()) return;
  for (auto& [engine, drained] : forking().engines) drained = engine->fork_prepare(kLast);
}
void in_parent() {
  if (!forking_here()) return;
  for (auto& [engine, drained] : forking().engines) engine->fork_parent();
}
void in_child() {
  if (!forking_here()) return;
  for (auto& [engine, drained] : forking().engines) engine->fork_child(drained);
}

}  // namespace

void fork_comes(const std::vector<Engine*>& engines) {
  static const int installed = pthread_atfork(prepare, in_parent, in_child);
  (void)installed;
  Forking& f = forking();
  f.engines.clear();
  for (Engine* e : engines) f.engines.emplace_back(e, false);
  f.by = pthread_self();
  f.on = true;
}

void fork_over() { forking().on = false; }

bool fork_first() { return forking().on && !forking_here() && !tls.op && !tls.completing; }

bool fork_under_way() { return forking().on; }

}  // namespace lazyarray
