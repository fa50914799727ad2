// Operator: one pushed operator, from push to completion, and what it runs.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "device.h"
#include "profile.h"
#include "var.h"

namespace lazyarray {

class Engine;
struct Operator;
struct Pool;

enum class Prop : int {
  NORMAL, COPY_FROM_GPU, COPY_TO_GPU, CPU_PRIORITIZED, GPU_PRIORITIZED, ASYNC, DELETE_VAR, NO_SKIP
};

struct RunContext {
  Engine* engine;
  Operator* op;
  Device device;
};

// What an operator does. `run` is called without any lock and returns the failure (owned) or null.
// An asynchronous payload that returns a failure did not start: the engine completes the op with
// it, and nobody else may. `drop` is called once, without any lock, after the op completed and
// `run` returned, or when it was refused.
struct Payload {
  Error* (*run)(void* arg, RunContext& ctx) = nullptr;
  void (*drop)(void* arg) = nullptr;
  // For the profile, or null. Called at the push, while profiling, under no lock of the engine.
  void (*describe)(void* arg, ProfileNote& to) = nullptr;
  void* arg = nullptr;
  bool native = false;      // needs no interpreter: a waiter may run it, and it counts as compute
  bool async = false;       // completes by Engine::complete, not by returning
  bool own_errors = false;  // reads and sets its variables' errors itself, per instruction
  bool brief = false;       // asynchronous, and `run` is ours: it only puts something into a line
  bool hosted = false;      // a call of NumPy's on the host: it waits for nothing, so a waiter may run it
};

struct Share;
struct Waiter;
struct WaitLink {
  Waiter* waiter;
  Operator* op;
  WaitLink* next;
};

struct Operator {
  enum State : uint8_t { WAITING, READY, RUNNING, DONE };

  std::atomic<int> refs{1};
  std::atomic<int> ends{2};  // asynchronous: its run has yet to return, it has yet to complete
  Engine* engine = nullptr;
  State state = WAITING;
  bool skipped = false;     // an input was poisoned, so it did not run
  bool kept = false;        // its pusher holds a reference and wants `result`
  bool offered = false;     // it runs, and a waiter may bring it on: see Engine::offer()
  bool wide = false;        // computes on every core at once (a BLAS call with threads of its own)
  int cores = 0;            // held now, out of Engine::native_running_
  int priority = 0;
  Prop prop = Prop::NORMAL;
  Device device;
  uint64_t seq = 0;         // push order
  uint64_t parent = 0;      // seq of the op that pushed it, or 0
  uint64_t root = 0;        // seq of its outermost ancestor: who waits for that waits for this
  uint32_t waiting = 0;     // ungranted uses, plus one while it is being pushed
  uint32_t mark = 0;        // last graph walk that saw it
  Operator* walk_next = nullptr;  // ... and what that looks at next
  int64_t bytes = 0;        // output bytes, for the run-ahead budget
  int64_t cost_ns = 0;      // estimate, for deciding who runs it
  const char* name = "";    // interned
  Payload payload;
  std::vector<Use> uses;    // capacity is kept when the block is reused
  Error* result = nullptr;  // the failure, for the pusher that kept the block
  Operator* outer = nullptr;      // the op that this thread was running when it began this one
  Operator *all_prev = nullptr, *all_next = nullptr;      // every uncompleted op, by root
  Operator *queue_prev = nullptr, *queue_next = nullptr;  // the ready queue of `pool`
  Pool* pool = nullptr;     // while it is in a ready queue
  void* stream = nullptr;   // of its device, where its work goes while it runs: see Streams
  void* home = nullptr;     // who will run it (Engine::After), if it runs where it became ready
  WaitLink* waiters = nullptr;
  Share* share = nullptr;   // its work, while others may join in it: see Engine::share()
  const std::vector<Operator*>* awaits = nullptr;  // what the thread that runs it is waiting for
  uint32_t site = 0;        // the line that pushed it, for the profile
  ProfileNote* profiled = nullptr;  // if it was pushed while profiling: what is known so far
  std::unique_ptr<ProfileNote> note;  // where; kept when the block is reused

  // What a waiter may run, and what occupies a core.
  bool compute() const { return payload.native && !payload.async && !device.has_streams(); }

  // It gives work to a device, and is soon done: a waiter may run it, too, and it occupies no core.
  bool launch() const { return payload.native && prop == Prop::NORMAL && device.has_streams(); }

  // It always runs and is over elsewhere (a collective): it only tells somebody, so it is soon done.
  bool hands_over() const { return payload.async && prop == Prop::NO_SKIP; }

  // The same variable twice is one use; in both sets it is a write.
  // What is used otherwise, too, is not overwritten.
  void merge_use(Var* v, bool write, bool overwrite = false) {
    for (Use& u : uses)
      if (u.var == v) {
        u.write |= write;
        return;
      }
    add_use(v, write, overwrite);
  }
  void add_use(Var* v, bool write, bool overwrite = false, uint32_t bumps = 1) {
    Use u;
    u.op = this;
    u.var = v;
    u.write = write;
    u.overwrite = overwrite;
    u.bumps = bumps;
    uses.push_back(u);
  }
};

}  // namespace lazyarray
