// What engine.cpp and workers.cpp share and nobody else sees.
#pragma once
#include <chrono>
#include <cstdint>
#include <thread>

#include "engine.h"

namespace lazyarray {

// A call of Engine::complete on the calling thread's stack.
struct Completing {
  Engine* engine;
  Completing* outer;
};

// What the calling thread is doing.
struct ThreadState {
  Operator* op = nullptr;          // the op being run, innermost
  Pool* pool = nullptr;      // whose worker this is
  Engine* engine = nullptr;  // that pool's engine
  int worker = -1;
  bool helping = false;      // inside help(): a nested wait doesn't
  bool parked = false;       // counted in pool->blocked
  int64_t away_at = INT64_MAX;  // when it has to leave the share that it joined
  bool away = false;         // it was told so
  void* settling = nullptr;  // the Engine::After whose op it is running
  int unsettled = 0;         // completed ops that it is yet to let go of
  Completing* completing = nullptr;
};
extern thread_local ThreadState tls;

int64_t now_ns();
bool fork_under_way();

// How long a thread watches for what it waits for before it sleeps. To sleep and be woken costs 5 us,
// and 50 to 200 where the core has been halted meanwhile (a virtual machine's). Work comes in streams,
// so a worker watches for as long as a short gap; a waiter, who has nothing else to do, for longer.
constexpr int64_t kWorkerSpin = 50'000, kWaiterSpin = 200'000;

// About what it costs to have another thread run an op.
constexpr int64_t kHandOff = 50'000;

// How late a Ctrl-C may be noticed.
constexpr int64_t kPollEach = 50'000'000;

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Watches for at most `limit`; returns for how long. The thread that is waited for may have been put
// on this very core, or another may need it: after a moment this one steps aside, again and again.
template <class Done>
inline int64_t watch_for(int64_t limit, Done done) {
  const int64_t begun = now_ns();
  int64_t passed = 0;
  for (; passed < limit && !done(); passed = now_ns() - begun) {
    for (int i = 0; i < 16; ++i) cpu_relax();
    if (passed > 5'000) std::this_thread::yield();
  }
  return passed;
}

}  // namespace lazyarray
