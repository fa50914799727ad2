// Var: an engine variable, and the queue of the uses that pushed operators make of it.
#pragma once
#include <atomic>
#include <cstdint>

#include "error.h"
#include "streams.h"

namespace lazyarray {

class Engine;
struct Operator;
class Var;

// One operator's place in one variable's queue.
struct Use {
  Operator* op = nullptr;
  Var* var = nullptr;
  Use* prev = nullptr;
  Use* next = nullptr;
  uint32_t bumps = 1;      // how many instructions of the op write the var (its version grows so much)
  bool write = false;
  bool overwrite = false;  // the op writes all of it without reading: heals a poisoned var
  bool granted = false;
};

// Invariants (all but the atomics are guarded by the engine's mutex):
//  * [head, tail] holds every use of a pushed, uncompleted op in push order;
//  * granted uses form a prefix: either any number of reads, or one write;
//  * first_waiting is the first use after that prefix, or null.
// `writers` and `readers` count uncompleted uses, *recorded ones included*, so that a thread
// that holds the GIL (every recorder does) and sees zero knows that nobody touches the memory.
class Var {
 public:
  // What the mutex guards comes first, what each element asks for after it: a cache line each (see Chunk).
  Engine* const engine;                // whose mutex guards it, if it lives still:
  const uint64_t engine_id;            // another may have come to live at its address
  Use* head = nullptr;
  Use* tail = nullptr;
  Use* first_waiting = nullptr;
  uint32_t granted_reads = 0;
  bool granted_write = false;

  std::atomic<int32_t> refs{1};
  std::atomic<int32_t> writers{0};
  std::atomic<int32_t> readers{0};
  // While this is not zero someone outside the engine can touch the memory, so an op on it ends
  // before its push returns. Pushers count and look with the GIL held.
  std::atomic<int32_t> exports{0};
  std::atomic<uint64_t> version{0};
  uint64_t issued = 0;  // GIL: what the version will be when all that was issued so far has run
  std::atomic<Error*> error{nullptr};  // changed under the engine's mutex only
  uint64_t written_by = 0;             // seq of the last profiled op that wrote it, or 0
  // What devices may still be doing with it; null if none ever used it. Set by an op that holds a use.
  std::atomic<Footprint*> footprint{nullptr};
  std::atomic<bool> deleted{false};

  explicit Var(Engine* e);
  Var(const Var&) = delete;
  Var& operator=(const Var&) = delete;

  void ref() { refs.fetch_add(1, std::memory_order_relaxed); }
  void unref() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) dispose();
  }
  // Acquire: whoever sees zero also sees what the completed writers wrote.
  bool readable() const { return writers.load(std::memory_order_acquire) == 0; }
  bool idle() const { return readable() && readers.load(std::memory_order_acquire) == 0; }

  void link(Use* u) {
    u->prev = tail;
    u->next = nullptr;
    (tail ? tail->next : head) = u;
    tail = u;
    if (!first_waiting) first_waiting = u;
  }
  void unlink(Use* u) {
    (u->prev ? u->prev->next : head) = u->next;
    (u->next ? u->next->prev : tail) = u->prev;
    if (u->write) granted_write = false;
    else granted_reads--;
  }
  Footprint& leave_footprint() {
    Footprint* f = footprint.load(std::memory_order_acquire);
    if (f) return *f;
    Footprint* fresh = new Footprint;
    if (footprint.compare_exchange_strong(f, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;  // another reader's op was first
    return *f;
  }
  // Grants what has become grantable and calls granted(op) for each.
  template <class F>
  void advance(F&& granted) {
    while (Use* u = first_waiting) {
      if (granted_write || (u->write && granted_reads)) return;
      if (u->write) granted_write = true;
      else granted_reads++;
      u->granted = true;
      first_waiting = u->next;
      granted(u->op);
    }
  }

 protected:
  virtual ~Var() {
    if (Error* e = error.load()) e->unref();
    delete footprint.load();
  }
  virtual void dispose() { delete this; }  // a chunk returns to its free list instead
};

}  // namespace lazyarray
