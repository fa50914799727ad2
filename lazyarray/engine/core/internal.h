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
  Op* op = nullptr;          // the op being run, innermost
  Pool* pool = nullptr;      // whose worker this is
  Engine* engine = nullptr;  // that pool's engine
  int worker = -1;
  bool helping = false;      // inside help(): a nested wait doesn't
  bool parked = false;       // counted in pool->blocked
  void* settling = nullptr;  // the Engine::After whose op it is running
  Completing* completing = nullptr;
};
extern thread_local ThreadState tls;

int64_t now_ns();

// How long a thread watches for what it waits for before it sleeps: about what going to sleep and
// being woken costs.
constexpr int64_t kSpin = 20'000;

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Watches for about kSpin, at most until `done()`. The thread that is waited for may have been put on
// this very core: after a while this one steps aside, which costs little and saves the other a whole
// time slice.
template <class Done>
inline void watch_for(Done done) {
  const int64_t begun = now_ns();
  for (int64_t passed = 0; passed < kSpin && !done(); passed = now_ns() - begun) {
    for (int i = 0; i < 16; ++i) cpu_relax();
    if (passed > kSpin / 4) std::this_thread::yield();
  }
}

}  // namespace lazyarray
