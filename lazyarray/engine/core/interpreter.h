// The interpreter above the core: references that native code holds, and the user's lines, as numbers.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace lazyarray {

// What only the interpreter can do. Set once, at import; whoever calls one holds the interpreter's lock.
struct Interpreter {
  void* (*refer)(void* object) = nullptr;   // the object, with one more reference
  void (*release)(void* object) = nullptr;  // lets go of a reference
  void* (*copy_context)(void* context) = nullptr;  // of contextvars, or null without memory
  uint32_t (*here)() = nullptr;             // the site (see ProfileEvent) that runs now, or 0
};
Interpreter& interpreter();

// What the interpreter keeps of the calling thread, if that is a worker that has met it; else null.
void*& worker_thread_state();

// References dropped by a thread that doesn't hold the interpreter's lock wait here for one that does. A
// worker never takes it just to drop something.
class Graveyard {
 public:
  Graveyard();
  void bury(void* object);
  // With the interpreter's lock. Destructors of user objects run here, under no lock of ours.
  void sweep() {
    if (any_.load(std::memory_order_acquire)) release_all();
  }

 private:
  static constexpr size_t kReserved = 1024;
  void release_all();
  std::mutex mu_;
  std::atomic<bool> any_{false};
  std::vector<void*> dead_;
  std::vector<void*> spare_;  // empty: the space for the next, so that burying rarely needs memory
};
Graveyard& graveyard();

// Names live as long as the process, so a profile may be read after its ops are gone.
const char* intern_name(const std::string& name);

}  // namespace lazyarray
