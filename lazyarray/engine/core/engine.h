// Engine: pushes operators, keeps their order per variable, runs them on worker pools.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device.h"
#include "error.h"
#include "operator.h"
#include "thread.h"
#include "profile.h"
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
  NO_MEMORY = 8,    // nothing happened
};

struct Share;

// A pool of workers and its ready queue.
struct Pool {
  std::string name;
  Device device;
  bool prioritized = false;  // ordered by priority; otherwise first come, first served
  int target = 2;            // workers that are not blocked in a wait
  int threads = 0;
  int idle = 0;              // asleep, and not yet told to wake
  std::atomic<int> signals{0};  // told to wake, and not yet awake; changed under the mutex
  int spinner = -1;          // the worker that watches `signals` for a moment before it sleeps
  int blocked = 0;           // asleep in a wait inside an op
  Operator *head = nullptr, *tail = nullptr;
  int ready = 0, compute = 0;  // how many are queued, and how many of them are Operator::compute()
  Share* shares = nullptr;     // open ones of ops that this pool's workers run, the newest first
  std::unique_ptr<std::condition_variable> wake{new std::condition_variable};

  void put(Operator* op);
  void take(Operator* op);
};

struct Waiter {
  std::atomic<int> remaining{0};
  std::condition_variable cv;
  Waiter *prev = nullptr, *next = nullptr;  // Engine::waiters_
};

// An op's work in which idle workers and waiters take part; it lives in Engine::share(). Open while
// it is in Pool::shares, and its op's: only then may a thread join.
struct Share {
  Operator* op;                      // whose work it is
  void (*work)(void*);
  void* arg;
  int places;                  // how many more may join; none once a call has found no portion left
  std::atomic<int> inside{0};  // joiners in `work`, each with a core; changed under the mutex
  std::condition_variable cv{};  // `inside` is 0
  Share* next = nullptr;
};

// A wait for every op up to `last`, and for what those push.
struct Drainer {
  uint64_t last;
  Drainer* next;
};

// A worker's pool, for who reads a profile.
struct WorkerName {
  std::string role;
  Device device;
};

struct EngineStats {
  uint64_t pushed, completed, helped, waits, threads;
};

// A few things that are to be done once the mutex is released; what finds no place is done at once,
// which is as right, and slower. Never allocates: what holds these can't be undone.
template <class T, void (*done)(T*)>
class Later {
 public:
  Later() = default;
  Later(const Later&) = delete;
  ~Later() { now(); }
  void add(T* x) {
    if (n_ == kMost) done(x);
    else all_[n_++] = x;
  }
  bool empty() const { return n_ == 0; }
  void now() {
    for (int i = 0; i < n_; ++i) done(all_[i]);
    n_ = 0;
  }

 private:
  static constexpr int kMost = 12;
  int n_ = 0;
  T* all_[kMost];
};
inline void notify(std::condition_variable* cv) { cv->notify_one(); }
inline void drop(Error* e) { e->unref(); }
using Wakes = Later<std::condition_variable, notify>;  // each is for one sleeping worker
using Drops = Later<Error, drop>;                      // references

// One mutex, `mu_`, guards the dependency state: variable queues, wait counts, ready queues,
// waiters and pools. Under it a push of any number of variables is atomic and a waiter can walk
// the graph. It is held for list operations only: nothing runs, allocates arrays, drops user
// objects or takes the GIL under it.
//
// Where memory is short, new_op() and the calls that give a vector throw std::bad_alloc, and wait()
// says NO_MEMORY, having done nothing. Everything else that a pushed op needs is there when it is pushed:
// from then on nothing allocates (or it may fail, like one more thread or a line of a profile).
class Engine {
 public:
  using Poll = bool (*)(void*);  // false: stop waiting
  using Alarm = void (*)(void*);

  // What to do once the mutex is released: settle() does it.
  struct After {
    bool hold_wake = false;       // leave the workers asleep
    Pool* own = nullptr;          // the pool of the worker that runs the first op made ready there
    Engine* engine = nullptr;
    After* home = this;           // who runs what becomes ready where ops run at the call
    bool here = false;            // some op of `here_` has this as its home
    bool hands_on = false;        // this thread also runs what becomes ready and is brief
    bool runs_little = false;     // ... and native compute that would be over before a worker came
    Operator *run = nullptr, *run_last = nullptr;    // begun: this thread runs them (linked by queue_next)
    Operator *done = nullptr, *done_last = nullptr;  // completed: drop what they hold (likewise)
    Wakes wake;
    Drops errors;

    After() = default;
    After(const After&) = delete;
    void send() { wake.now(); }
  };

  Engine(Policy policy, int workers, int priority_workers, int gpu_workers, int gpu_copy_workers);
  ~Engine();

  // A block to fill with `payload`, `uses`, `device`, ...; push() or discard() takes it back.
  Operator* new_op();
  void discard(Operator* op);
  // Enqueues on all variables at once. On failure nothing happened and the block is discarded.
  // `wake` = false leaves the workers asleep: the caller is about to wait and helps.
  // A kept block (see `keep`) is the caller's to release.
  Status push(Operator* op, bool wake = true, bool keep = false);
  // The same in two steps, for a caller that pushes under a lock of its own: what is to run or to
  // wake is added to `after`, for settle() once that lock is released.
  Status enqueue(Operator* op, After& after, bool keep);
  void settle(After& after);
  void release(Operator* op);
  // Ends an asynchronous op.
  void complete(Operator* op, Error* error);
  // An asynchronous op that has begun may go on in a thread that waits for it, and does nothing else:
  // such a thread calls assist() once, without a lock. Whether one waits now, for this or another.
  bool offer(Operator* op);
  void set_assist(void (*assist)());

  // Waits for the uses of `var` that were pushed before: its writers, or (`all`) its readers too.
  Status wait(Var* var, bool all, Poll poll, void* arg);
  Status wait_op(Operator* op, Poll poll, void* arg);
  Status wait_for_all(Poll poll, void* arg, int64_t timeout_ns = -1);
  // Waits, but not for longer, until completed ops have let go of what they hold. Whether there were any.
  bool await_releases(int64_t most_ns = 20'000'000);
  // Helps or sleeps while more than `bytes` or `ops` of native work is pending, or for `timeout_ns` (-1: without a
  // limit), and then with no op that takes longer.
  Status throttle(int64_t bytes, int64_t ops, Poll poll, void* arg, int64_t timeout_ns = -1);

  // What `var` holds now, with a reference; null if it is healthy.
  Error* error_of(Var* var);
  void set_error(Var* var, Error* error);  // takes a reference of its own; null clears
  void report(Error* error);               // a failure for wait_for_all (own reference)
  Error* take_failure();                   // the first unseen one; clears the list
  std::vector<Error*> take_failures();     // all of them, in push order; clears the list

  // From inside the run of `op`, native and synchronous, by the thread that runs it: calls
  // work(arg) there and, at the same time, on up to `most` other threads, each on a core of its own:
  // workers of the op's pool that have nothing else to do, and threads that wait for the op. With
  // the caller, whoever it is, these are never more threads than the pool's target. `work` claims
  // portions by itself, returns when none is left or called_away(), and neither pushes nor waits; a
  // joiner runs no op, so current() is null in it. Returns when every call has returned.
  void share(Operator* op, void (*work)(void*), void* arg, int most);
  // Whether the calling thread is to leave the portions to others for a moment: it is one that waits,
  // and a Ctrl-C may have come.
  static bool called_away();

  // Once, before the first alarm(): what an alarm calls. That happens on a worker, without a lock,
  // and it may push; two calls may overlap.
  void set_alarm(Alarm fn, void* arg);
  // Has an idle worker of the CPU's normal pool call it at `when` (see now()) or soon after; if all
  // are busy, the first one that finds nothing ready does. One alarm is pending at a time, the
  // earliest one asked for. It is over before its call begins: who changes what the call looks at,
  // under the lock that this takes, and then asks for an alarm, is not overlooked. Does nothing
  // where ops run at the call; waits for start() while the engine is stopped.
  void alarm(int64_t when);
  void cancel_alarm();  // a call that has begun goes on
  int64_t now();        // steady-clock nanoseconds

  void start();
  Status stop(Poll poll, void* arg);
  // The process ends: finish everything, join, and from now on run each push at the call. Does
  // nothing inside an op or on a worker of this engine. If interrupted, the engine is given up:
  // its workers stay, and destroy_engine() leaves it alone.
  Status shutdown(Poll poll = nullptr, void* arg = nullptr);

  // Drains, and returns with the engine's locks held whether or not that ended in time. Whoever
  // holds the GIL may block on these locks, so from then on the GIL may not be let go of: see
  // fork_comes(). fork_parent() lets go of the locks.
  bool fork_prepare(int64_t timeout_ns);
  void fork_parent();
  void fork_child(bool drained);

  // Once, when the first device is opened: who keeps order there, for every engine of the process.
  void set_streams(Streams* streams);

  EngineStats stats();
  Operator* current();  // the op that the calling thread is running on this engine, or null
  // Whether an op that the calling thread is running uses `var`: then nobody writes to it meanwhile. (A running op's
  // uses don't change, so no lock is needed.)
  bool holds(const Var* var) const;
  int current_worker();   // which worker of this engine the calling thread is, or -1
  std::vector<WorkerName> worker_names();  // by number

  Profile& profile() { return profile_; }
  bool profiling() const { return profile_.on(); }

  // How many cores native compute may hold from now on; what runs goes on.
  void set_cores(int n);
  int cores() const { return cores_; }
  Policy policy() const { return policy_; }
  uint64_t id() const { return id_; }  // never used again, unlike an address
  bool owns(const Var* v) const { return v->engine == this && v->engine_id == id_; }
  bool runs_here() const { return runs_here_.load(std::memory_order_acquire); }
  // Whether something ready was left to a caller that waits: wait() must then be called, even if
  // there is nothing to wait for.
  bool held() const { return held_.load(std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  bool broken() const { return broken_; }
  bool given_up() const { return given_up_.load(std::memory_order_acquire); }
  // What ops that haven't run will write, and memory that they alone still use (hold()).
  int64_t pending_bytes() const { return pending_bytes_.load(std::memory_order_relaxed); }
  // A pusher that is too far ahead looks again as an op completes, or goes on if none is left: nobody is woken here.
  void hold(int64_t bytes) { pending_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t pending_ops() const { return pending_native_.load(std::memory_order_relaxed); }

  // Whether the calling thread's stack needs this engine, so that it can't wait for its end.
  bool entered() const;

  // Called on a worker thread before it ends (the interpreter's thread state lives there).
  void (*on_thread_exit)() = nullptr;

 private:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr int64_t kNever = INT64_MAX;
  static std::atomic<Streams*> streams_;

  Status wait_uses(Var* var, bool all, Poll poll, void* arg);
  Status wait_streams(Var* var, bool all, Poll poll, void* arg);
  Status drain_streams(Poll poll, void* arg);
  Pool* pool_for(const Operator& op);
  Pool* pool(const char* role, Device device, int target, bool prioritized);
  void note(Operator* op);                                // without mu_: begins the op's profile
  bool launches(const Operator* op) const;
  Error* run(Operator* op);                               // without mu_: the payload, or the inherited error
  void execute(Operator* op, After& after);               // without mu_: run and, if synchronous, finish
  void end(Operator* op);                                 // without mu_: recycles what is wholly over
  void recycle(Operator* op);                             // without mu_
  void worker(Pool* p, int id);
  // The rest is called under mu_.
  Operator* running();  // like current(), less asynchronous ops that have completed
  void ready(Operator* op, After& after, bool pushing);
  void finish(Operator* op, Error* error, After& after);
  void profile_uses(Operator* op);
  void profile_pending(int64_t now);
  void set_error_locked(Var* var, Error* error, Drops& drops);
  void fail(Error* error, Drops& drops);
  Operator* pick(Pool* p);
  bool has_cores(const Operator* op) const {
    return native_running_ + (op->wide ? cores() : 1) <= cores_;
  }
  void begin(Operator* op);
  bool wake(Pool* p, After& after);
  void nudge(After& after);
  void signal(Pool* p, After& after);
  void spawn(Pool* p);
  Share* joinable(const Pool* p);
  void join(Share* s, Lock& lock);
  // When the next alarm is to be called; kNever while nobody may push.
  int64_t alarm_due() const { return stopped_ ? kNever : alarm_at_.load(std::memory_order_relaxed); }
  void watch(After& after);
  void hand_over(Pool* p, bool computes, After& after);
  void ring(Lock& lock);
  void park(Pool* p, After& after);
  void unpark(Pool* p, After& after);
  void tell_waiters();
  bool may_help(const Operator* op) const;
  bool may_take(const Operator* op) const;
  bool may_assist(const Operator* op) const;
  bool may_join(const Operator* op) const;
  Operator* helpable(const std::vector<Operator*>& targets);
  Operator* any_helpable();
  void help(Operator* op, Lock& lock);
  bool on_stack(const Operator* op) const;
  bool waits_for_stack(Operator* op);
  Status drain(Lock& lock, uint64_t last, Poll poll, void* arg, int64_t timeout_ns);
  void join_workers(Lock& lock);
  // Helps and sleeps until done(); `find` names an op to help(), or null. What is awaited is watched
  // for a while first, without the mutex: over() says when it isn't worth it any more.
  template <class Done, class Over, class Find>
  Status sleep_until(Lock& lock, std::condition_variable& cv, Done done, Over over, Find find, Poll poll, void* arg,
                     int64_t deadline_ns);
  Status wait_ops(Lock& lock, std::vector<Operator*>& targets, Poll poll, void* arg);
  static bool alone(Lock& one, Poll poll, void* arg);

  const uint64_t id_;
  const Policy policy_;
  const int workers_, priority_workers_, gpu_workers_, gpu_copy_workers_;
  std::atomic<int> cores_;   // set_cores()

  std::mutex life_mu_;  // one stop at a time; taken before mu_
  std::mutex mu_;
  std::condition_variable drained_;  // what a Drainer, a throttled pusher, start() or stop() awaits
  Drainer* drainers_ = nullptr;
  int throttled_ = 0;
  Waiter* waiters_ = nullptr;
  Operator *all_head_ = nullptr, *all_tail_ = nullptr;
  uint64_t seq_ = 0;
  uint32_t walk_ = 0;
  int native_running_ = 0;   // cores that native ops and joiners of shares hold: at most cores_
  std::atomic<int> unsettled_{0};  // completed ops that still hold things: a fork waits for them
  int completing_ = 0;       // calls of complete(): they still use the engine when all is drained
  bool starved_ = false;     // nobody was woken for queued compute or a share, for want of a core
  std::atomic<bool> held_{false};  // something is queued that nobody was woken for (hold_wake)
  bool quit_ = false;        // the workers are being joined
  bool broken_ = false;      // a fork caught work in flight
  std::atomic<bool> given_up_{false};  // shutdown() was interrupted
  std::atomic<bool> stopped_{false};
  std::atomic<bool> runs_here_{false};
  std::atomic<int64_t> pending_bytes_{0}, pending_native_{0};
  void (*assist_)() = nullptr;
  int offered_ = 0;          // ops that are
  std::atomic<uint32_t> news_{0};  // of what a waiter may help with: one that watches looks again
  int watching_ = 0;         // such waiters
  Alarm alarm_ = nullptr;
  void* alarm_arg_ = nullptr;
  Pool* alarm_pool_ = nullptr;             // whose workers call it; known once one was asked for
  std::atomic<int64_t> alarm_at_{kNever};  // the pending one; changed under the mutex
  int alarming_ = 0;                       // calls of it; none begins in a stopped engine
  // At most one idle worker of that pool, the watcher, sleeps on `alarm_cv_`, until `watch_`
  // (kNever: there is none). It is told last of the pool's sleepers when there is work.
  std::condition_variable alarm_cv_;
  int64_t watch_ = kNever;
  Pool here_;  // ready ops where each runs at the call; has no workers
  std::vector<std::unique_ptr<Pool>> pools_;
  std::vector<Thread> threads_;
  std::vector<pthread_t> finished_;  // threads that need only be joined
  int thread_count_ = 0;
  Operator* free_ops_ = nullptr;  // linked by queue_next
  int free_count_ = 0;
  std::mutex free_mu_;    // guards these two; taken last
  Error *failures_ = nullptr, *last_failure_ = nullptr;
  size_t failure_count_ = 0;
  size_t prune_at_ = 16;  // from this many failures on, the seen ones are let go
  Profile profile_;
  int64_t uncompleted_ = 0, sampled_ns_ = 0;  // when profile_pending() last noted something
  std::vector<WorkerName> worker_names_;
  uint64_t completed_ = 0, helped_ = 0, waits_ = 0;
};

inline Var::Var(Engine* e) : engine(e), engine_id(e->id()) {}

// How many cores a new engine finds; 0: the machine's. For tests.
extern int machine_cores;
Engine* create_engine(Policy policy, int workers, int priority_workers, int gpu_workers,
                      int gpu_copy_workers);
// Drains and deletes. On a thread that the engine still needs (its worker, one inside its op or
// inside complete()) a thread of its own does that; join_destroyers() waits for all of those.
void destroy_engine(Engine* engine);

// A fork is to come, by the calling thread: from now on other threads that would push wait for it
// (fork_first), alarms too, and fork() itself will take the locks of these engines, which should be
// drained before. Once it is over, or isn't to come after all: fork_over().
void fork_comes(const std::vector<Engine*>& engines);
void fork_over();
// Whether the calling thread must not push now. Never inside an op: the fork waits for it.
bool fork_first();
// Whether the calling thread runs an op for which it waits, or that it brings on as it waits.
bool helping();
void join_destroyers();

}  // namespace lazyarray
