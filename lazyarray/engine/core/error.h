// Error: a failure that travels with the variables it poisoned.
#pragma once
#include <atomic>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "interpreter.h"

namespace lazyarray {

// Shared by every variable that the failure reached, so a wait on any of them raises the same
// thing. Immutable after it is published except `seen` (atomic) and `exception`, which is
// filled in by whoever holds the GIL (the engine itself knows no Python).
struct Error {
  // The Python type that the failure is raised as when `exception` is null.
  enum Kind : int { RUNTIME, VALUE, MEMORY, FLOATING_POINT, ZERO_DIVISION, OVERFLOW_, LINALG, INDEX };

  std::atomic<int> refs{1};
  std::atomic<bool> seen{false};  // some wait has raised it
  uint64_t seq = 0;               // push order of the op that failed
  Kind kind = RUNTIME;
  std::string message;
  void* exception = nullptr;      // the interpreter's: a reference, or null
  uint32_t site = 0;              // where it was pushed (see ProfileEvent), if that is known
  const char* op = nullptr;       // interned name of the op that failed
  Error* next = nullptr;          // Engine's list of failures, in which it is once: its mutex
  bool listed = false;
  bool shared = false;            // stands for any failure without memory: says of none where it was

  Error(Kind k, std::string text) : kind(k), message(std::move(text)) {}
  // What an op fails with where an allocation does. Needs no memory; nothing here may throw.
  static Error* no_memory() noexcept;

  Error* ref() {
    refs.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  void unref() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    graveyard().bury(exception);  // this may be under the engine's mutex, where no user code may run
    delete this;
  }
};

}  // namespace lazyarray
