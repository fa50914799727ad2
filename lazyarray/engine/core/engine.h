// Engine: pushes operators, keeps their order per variable, runs them on worker pools.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device.h"
#include "error.h"
#include "op.h"
#include "var.h"

namespace lazyarray {

enum class Policy : int { NAIVE, POOLED, PER_DEVICE };

enum class Status : int {
  OK = 0,
  INTERRUPTED = 1,  // the poll function asked to stop (Ctrl-C)
  SELF_WAIT = 2,    // the wait would wait for the op that makes it
  STOPPED = 3,      // pushed after stop()
  DELETED = 4,      // pushed on a deleted variable
  FOREIGN = 5,      // a variable of another engine
  TIMEOUT = 6,
  BROKEN = 7,       // this process was forked while work was in flight
};

// A pool of workers and its ready queue.
struct Pool {
  std::string name;
  Device device;
  bool prioritized = false;  // ordered by priority; otherwise first come, first served
  int target = 2;            // workers that are not blocked in a wait
  int threads = 0;
  int idle = 0;              // asleep, and not yet told to wake
  int signals = 0;           // told to wake, and not yet awake
  int blocked = 0;           // inside an op that waits
  Op *head = nullptr, *tail = nullptr;
  std::unique_ptr<std::condition_variable> wake{new std::condition_variable};

  void put(Op* op);
  void take(Op* op);
};

struct Waiter {
  std::atomic<int> remaining{0};
  std::condition_variable cv;
};

// What one worker did, for the profiler.
struct TraceEvent {
  const char* name;
  uint64_t seq;
  int64_t queued, ready, start, end;  // steady-clock nanoseconds
  int worker;                         // -1: not a worker
  bool skipped;
  Device device;
};

struct EngineStats {
  uint64_t pushed, completed, helped, waits, threads;
};

// One mutex, `mu_`, guards the dependency state: variable queues, wait counts, ready queues,
// waiters and pools. Under it a push of any number of variables is atomic and a waiter can walk
// the graph. It is held for list operations only: nothing runs, allocates arrays, drops user
// objects or takes the GIL under it.
//
// The methods that the upper rooms' extension modules call are virtual, so that they need no
// symbols of this one.
class Engine {
 public:
  using Poll = bool (*)(void*);  // false: stop waiting

  Engine(Policy policy, int workers, int priority_workers, int gpu_workers, int gpu_copy_workers);
  virtual ~Engine();

  // A block to fill with `payload`, `uses`, `device`, ...; push() or discard() takes it back.
  virtual Op* new_op();
  virtual void discard(Op* op);
  // Enqueues on all variables at once. On failure nothing happened and the block is discarded.
  // `wake` = false leaves the workers asleep: the caller is about to wait and helps.
  // A kept block (see `keep`) is the caller's to release.
  virtual Status push(Op* op, bool wake = true, bool keep = false);
  virtual void release(Op* op);
  // Ends an asynchronous op.
  virtual void complete(Op* op, Error* error);

  // Waits for the uses of `var` that were pushed before: its writers, or (`all`) its readers too.
  virtual Status wait(Var* var, bool all, Poll poll, void* arg);
  virtual Status wait_op(Op* op, Poll poll, void* arg);
  virtual Status wait_for_all(Poll poll, void* arg, int64_t timeout_ns = -1);
  // Helps or sleeps while more than `bytes` or `ops` of native work is pending.
  virtual Status throttle(int64_t bytes, int64_t ops, Poll poll, void* arg);

  // What `var` holds now, with a reference; null if it is healthy.
  virtual Error* error_of(Var* var);
  virtual void set_error(Var* var, Error* error);  // takes a reference of its own; null clears
  virtual void report(Error* error);               // a failure for wait_for_all (own reference)
  virtual Error* take_failure();                   // the first unseen one; clears the list
  virtual uint64_t next_seq();

  virtual void start();
  virtual Status stop(Poll poll, void* arg);
  // The process ends: finish everything, join, and from now on run each push at the call.
  virtual void shutdown();

  virtual bool fork_prepare(int64_t timeout_ns);
  virtual void fork_parent();
  virtual void fork_child(bool drained);

  virtual void trace(bool on);
  virtual std::vector<TraceEvent> take_trace();
  virtual EngineStats stats();
  virtual Op* current();  // the op that the calling thread is running on this engine, or null

  Policy policy() const { return policy_; }
  bool runs_here() const { return runs_here_.load(std::memory_order_acquire); }
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  bool broken() const { return broken_; }
  int64_t pending_bytes() const { return pending_bytes_.load(std::memory_order_relaxed); }
  int64_t pending_ops() const { return pending_native_.load(std::memory_order_relaxed); }

  // Called on a worker thread before it ends (the interpreter's thread state lives there).
  void (*on_thread_exit)() = nullptr;

 private:
  // What to do once the mutex is released.
  struct After {
    std::vector<Op*> run;         // ready ops that this thread runs itself
    std::vector<Pool*> wake;
    std::vector<Op*> done;        // completed: drop what they hold
    bool hold_wake = false;
  };
  using Lock = std::unique_lock<std::mutex>;

  Pool* pool_for(const Op& op);
  Pool* pool(const char* role, Device device, int target, bool prioritized);
  Error* run(Op* op);                               // without mu_: the payload, or the inherited error
  void execute(Op* op, After& after);               // without mu_: run and, if synchronous, finish
  void settle(After& after);                        // without mu_: does what `after` says
  void recycle(Op* op);                             // without mu_
  // The rest is called under mu_.
  void ready(Op* op, After& after, bool pushing);
  void finish(Op* op, Error* error, After& after);
  void set_error_locked(Var* var, Error* error);
  void worker(Pool* p, int id);
  Op* pick(Pool* p);
  void begin(Op* op);
  void wake(Pool* p, After& after);
  void nudge(After& after);
  void spawn(Pool* p);
  bool may_help(const Op* op) const;
  Op* helpable(Op* op, int& budget);
  Op* any_helpable();
  void help(Op* op, Lock& lock);
  bool on_stack(const Op* op) const;
  bool waits_for_stack(Op* op);
  Status drain(Lock& lock, uint64_t last, Poll poll, void* arg, int64_t timeout_ns);
  void signal(Pool* p, After& after);
  // Helps and sleeps until done(); `find` names a ready native op worth running here, or null.
  template <class Done, class Find>
  Status sleep_until(Lock& lock, std::condition_variable& cv, const std::atomic<int>* spin, Done done,
                     Find find, Poll poll, void* arg, int64_t deadline_ns);
  Status wait_ops(Lock& lock, std::vector<Op*>& targets, Poll poll, void* arg);

  const Policy policy_;
  const int workers_, priority_workers_, gpu_workers_, gpu_copy_workers_;
  const int cores_;

  std::mutex life_mu_;  // one stop at a time; taken before mu_
  std::mutex mu_;
  std::condition_variable drained_;  // the oldest uncompleted op completed, and somebody cares
  int drain_waiters_ = 0;
  Op *all_head_ = nullptr, *all_tail_ = nullptr;
  uint64_t seq_ = 0;
  uint32_t walk_ = 0;
  int native_running_ = 0;
  bool starved_ = false;  // a worker left native work in its queue for want of a core
  bool quit_ = false;
  bool broken_ = false;   // a fork caught work in flight
  std::atomic<bool> stopped_{false};
  std::atomic<bool> runs_here_{false};
  std::atomic<int64_t> pending_bytes_{0}, pending_native_{0};
  std::vector<std::unique_ptr<Pool>> pools_;
  std::vector<std::thread> threads_;
  std::vector<std::thread::id> finished_;  // threads that need only be joined
  int thread_count_ = 0;
  std::vector<Op*> free_ops_;
  std::mutex free_mu_;    // guards free_ops_ alone; taken last
  std::vector<Error*> failures_;
  bool tracing_ = false;
  std::vector<TraceEvent> trace_;
  uint64_t completed_ = 0, helped_ = 0, waits_ = 0;
};

Engine* create_engine(Policy policy, int workers, int priority_workers, int gpu_workers,
                      int gpu_copy_workers);

}  // namespace lazyarray
