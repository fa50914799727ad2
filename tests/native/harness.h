// What stress.cpp is made with: checked cells, random operators, threads that finish and watch.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <random>

#include "engine.h"
#include "interpreter.h"

namespace lazyarray {

static std::string section;  // what is under test
static uint64_t seed = 1;
static std::atomic<int> live_cells{0}, live_tasks{0}, live_errors{0};

#define CHECK(c) ((c) ? (void)0 : check_failed(__FILE__, __LINE__, #c))
static void check_failed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: %s (%s, seed %llu)\n", file, line, what, section.c_str(),
               static_cast<unsigned long long>(seed));
  std::abort();
}

// Says what comes next; a hang ends the run.
static void begin(const char* what, Policy policy, int workers) {
  static const char* names[] = {"naive", "pooled", "per device"};
  section = std::string(what) + ", " + names[static_cast<int>(policy)] + ", workers " +
            std::to_string(workers);
  std::signal(SIGALRM, [](int) {
    std::fprintf(stderr, "stress hangs (%s, seed %llu)\n", section.c_str(),
                 static_cast<unsigned long long>(seed));
    std::abort();
  });
  alarm(60);
}

struct Random : std::mt19937_64 {
  using std::mt19937_64::mt19937_64;
  int below(int n) { return static_cast<int>((*this)() % static_cast<uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
};

static void pause(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }
template <class Done>
static void until(Done done) {
  while (!done()) pause(50);
}
static bool stop_waiting(void*) { return false; }
static bool go_on(void*) { return true; }

// A variable and the state that it guards: plain, so that a sanitizer sees every missing edge.
struct Cell : Var {
  int64_t value = 0;
  uint64_t last_write = 0;  // seq
  std::atomic<uint64_t> last_read{0};
  std::atomic<int> reading{0}, writing{0};
  explicit Cell(Engine* e) : Var(e) { live_cells++; }
  ~Cell() override { live_cells--; }
};
using Cells = std::vector<Cell*>;

static Cells make_cells(Engine* e, int n) {
  Cells out;
  for (int i = 0; i < n; ++i) out.push_back(new Cell(e));
  return out;
}
static size_t place(const Cells& cells, Cell* c) {
  return static_cast<size_t>(std::find(cells.begin(), cells.end(), c) - cells.begin());
}
static void drop(const Cells& cells) {
  for (Cell* c : cells) c->unref();
}

// Cells to which many threads add, and what they should come to.
struct Sums {
  Cells cells;
  std::vector<std::atomic<int64_t>> total;
  explicit Sums(Engine* e) : cells(make_cells(e, 6)), total(6) {}
  void add(const Cells& to, int64_t n) {
    for (Cell* c : to) total[place(cells, c)] += n;
  }
};

static const bool released = (interpreter().release = [](void*) { live_errors--; }, true);

static Error* failure(int64_t id) {
  live_errors++;
  auto* e = new Error(Error::VALUE, std::to_string(id));
  e->exception = &live_errors;  // what an interpreter's reference would be
  return e;
}
// The id of the failure that `e` stands for, or 0; drops the reference.
static int64_t id_of(Error* e) {
  if (!e) return 0;
  const int64_t id = std::stoll(e->message);
  e->unref();
  return id;
}

// ---- pushing --------------------------------------------------------------------------------------

using Body = std::function<Error*(RunContext&)>;
struct Task {
  struct Count {
    Count() { live_tasks++; }
    ~Count() { live_tasks--; }
  } count;  // before `body`: counted down when all is gone
  Body body;
};

struct Spec {
  Cells overwrites, writes, reads;
  Body body = [](RunContext&) -> Error* { return nullptr; };
  Prop prop = Prop::NORMAL;
  Device device;
  int priority = 0;
  bool native = false, async = false, wake = true, wide = false;
  int64_t cost_ns = 0, bytes = 0;
};

static Status push(Engine* e, const Spec& s, Operator** kept = nullptr) {
  Operator* op = e->new_op();
  for (Cell* c : s.overwrites) op->add_use(c, true, true);
  for (Cell* c : s.writes) op->merge_use(c, true);
  for (Cell* c : s.reads) op->merge_use(c, false);
  op->prop = s.prop;
  op->device = s.device;
  op->priority = s.priority;
  op->bytes = s.bytes;
  op->cost_ns = s.cost_ns;
  op->wide = s.wide;
  op->payload.native = s.native;
  op->payload.async = s.async;
  op->payload.arg = new Task{{}, s.body};
  op->payload.run = [](void* t, RunContext& c) { return static_cast<Task*>(t)->body(c); };
  op->payload.drop = [](void* t) { delete static_cast<Task*>(t); };
  op->payload.describe = [](void* t, ProfileNote& to) {
    to.steps.push_back({"task", static_cast<Task*>(t)->body ? 1u : 0u, 0, false, false});
  };
  if (kept) *kept = op;
  return e->push(op, s.wake, kept != nullptr);
}

static Status push(Engine* e, Cells writes, Cells reads, Body body, bool native = false,
                   bool async = false) {
  Spec s;
  s.writes = std::move(writes);
  s.reads = std::move(reads);
  s.body = std::move(body);
  s.native = native;
  s.async = async;
  return push(e, s);
}

static Error* nothing(RunContext&) { return nullptr; }
static Status wait(Cell* c) { return c->engine->wait(c, false, nullptr, nullptr); }

// Pushes an asynchronous op on `cells` and returns it once it has started.
static Operator* hold(Engine* e, const Cells& cells) {
  std::atomic<Operator*> started{nullptr};
  push(e, cells, {}, [&](RunContext& c) {
    started = c.op;
    return nullptr;
  }, false, true);
  while (!started) pause(20);
  return started;
}

// Rule 1, from inside an op: alone with what it writes, later than every earlier use.
struct Holding {
  Cells writes, reads;
  Holding(Cells w, Cells r, uint64_t seq) : writes(std::move(w)), reads(std::move(r)) {
    for (Cell* c : writes) {
      CHECK(c->writing.fetch_add(1) == 0 && c->reading == 0);
      CHECK(seq > c->last_write && seq > c->last_read);
      c->last_write = seq;
    }
    for (Cell* c : reads) {
      c->reading++;
      CHECK(c->writing == 0 && seq > c->last_write);
      uint64_t seen = c->last_read;
      while (seen < seq && !c->last_read.compare_exchange_weak(seen, seq)) continue;
    }
  }
  ~Holding() {
    for (Cell* c : writes) c->writing--;
    for (Cell* c : reads) c->reading--;
  }
};

// A thread that is nobody's worker, and completes asynchronous ops. Where ops run at the call it runs
// what it makes ready, which then can't wait for what only this thread completes.
class Finisher {
  std::mutex mu_;
  std::condition_variable cv_;
  std::deque<std::function<void()>> jobs_;
  bool quit_ = false;
  std::thread thread_{[this] {
    here() = true;
    std::unique_lock<std::mutex> lock(mu_);
    for (;;) {
      cv_.wait(lock, [&] { return quit_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      job = nullptr;
      lock.lock();
    }
  }};

 public:
  static bool& here() {
    static thread_local bool is = false;
    return is;
  }
  void operator()(std::function<void()> job) {
    std::lock_guard<std::mutex> g(mu_);
    jobs_.push_back(std::move(job));
    cv_.notify_one();
  }
  ~Finisher() {
    {
      std::lock_guard<std::mutex> g(mu_);
      quit_ = true;
      cv_.notify_one();
    }
    thread_.join();
  }
};

static Spec random_spec(Random& r, const Cells& cells) {
  static const Prop props[] = {Prop::NORMAL, Prop::NORMAL, Prop::NORMAL, Prop::COPY_FROM_GPU,
                               Prop::COPY_TO_GPU, Prop::CPU_PRIORITIZED, Prop::GPU_PRIORITIZED,
                               Prop::ASYNC, Prop::NO_SKIP};
  static const Device devices[] = {{Device::CPU, 0}, {Device::CPU, 0}, {Device::CPU, 1},
                                   {Device::GPU, 0}, {Device::CPU_PINNED, 0}};
  Spec s;
  Cells all(cells);
  std::shuffle(all.begin(), all.end(), r);
  const int uses = r.below(6);
  for (int i = 0; i < uses; ++i)
    (r.one_in(2) ? s.reads : r.one_in(3) ? s.overwrites : s.writes).push_back(all[i]);
  s.prop = props[r.below(9)];
  s.device = devices[r.below(5)];
  s.priority = r.below(5);
  s.native = r.one_in(2);
  s.async = r.one_in(5);
  s.wake = !r.one_in(4);
  s.cost_ns = r.one_in(2) ? 1000 : 1000000;
  s.bytes = r.below(100);
  return s;
}

// Makes of `work`, which takes the op's seq, a body that ends in one of the ways there are.
template <class Work>
static Body make_body(Engine* e, bool async, int how, Finisher& finish, Work work) {
  if (!async) return [=](RunContext& c) { return work(c.op->seq); };
  return [=, &finish](RunContext& c) -> Error* {
    Operator* op = c.op;
    const uint64_t seq = op->seq;
    if (how == 0) {  // at once; the op, its payload and `this` engine must survive until it returns
      e->complete(op, work(seq));
      CHECK(op->seq == seq && e->current() == op);
    } else if (how == 1) {  // fails to start, if it fails
      if (Error* error = work(seq)) return error;
      finish([=] { e->complete(op, nullptr); });
    } else {
      finish([=] { e->complete(op, work(seq)); });
    }
    return nullptr;
  };
}

// Threads that wait in every way for what others push, look, and turn profiling on and off.
struct Onlookers {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  Cells cells;
  Onlookers(Engine* e, const Cells& watched, int n) : cells(watched) {
    for (Cell* c : cells) c->ref();
    for (int t = 0; t < n; ++t)
      threads.emplace_back([=] {
        for (Random r(seed + static_cast<uint64_t>(t)); !over; pause(r.below(300))) {
          Cell* c = cells[r.below(static_cast<int>(cells.size()))];
          Engine::Poll poll = r.one_in(3) ? stop_waiting : r.one_in(2) ? go_on : nullptr;
          const int what = r.below(7);
          Status s = Status::OK;
          if (what == 0) s = e->wait_for_all(poll, nullptr);
          if (what == 1) s = e->wait_for_all(poll, nullptr, r.below(1000000));
          if (what == 2) s = e->throttle(r.below(200), r.below(20), poll, nullptr);
          if (what == 3) id_of(e->error_of(c));
          if (what == 4) e->profile().set(r.below(4)), e->profile().take(), e->stats();
          if (what >= 5) s = e->wait(c, what == 5, poll, nullptr);
          CHECK(s == Status::OK || (s == Status::INTERRUPTED && poll == stop_waiting) ||
                (s == Status::TIMEOUT && what == 1));
        }
      });
  }
  ~Onlookers() {
    over = true;
    for (std::thread& t : threads) t.join();
    drop(cells);
  }
};

}  // namespace lazyarray
