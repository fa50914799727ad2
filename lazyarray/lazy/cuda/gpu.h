// Gpu and Stream: the open CUDA devices, each worker thread's stream on them, and what orders streams.
#pragma once
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine.h"
#include "lazy/cuda/driver.h"
#include "storage/chunk.h"

namespace lazyarray::cuda {

class Gpu;

// Whether this process was forked from one that had opened a GPU. CUDA works there no more, and what
// other threads had locked at the fork stays locked: nothing here is then used, and nothing freed.
inline std::atomic<bool>& forked() {
  static auto* f = new std::atomic<bool>(false);
  return *f;
}
inline Error* after_fork() {
  return new Error(Error::RUNTIME,
                   "CUDA can't be used in a process that was forked after a GPU was opened: start it another "
                   "way (multiprocessing's \"spawn\"), or open the GPU there alone");
}

// Makes a device's context the thread's for a while; user threads get back what they had. CUDA refuses
// most calls without one, also those that name a stream or an event.
class Entered {
 public:
  explicit Entered(const Gpu& gpu);
  ~Entered() { driver().SetCurrent(before_); }
  Entered(const Entered&) = delete;

 private:
  Context_t before_ = nullptr;
};

// A thread's queue on a device. Used by that thread alone, but for events, which any thread may record.
struct Stream {
  Gpu* gpu;
  Stream_t handle;
  uint32_t number;
  mutable std::mutex mu{};        // held while an event is recorded, so that their numbers are in order
  mutable uint64_t recorded = 0;  // mu
};

// An event on a stream. Its handle goes back to the device when nobody can ask any more.
class CudaEvent final : public Event {
 public:
  CudaEvent(Gpu* gpu, const Stream& s, Event_t handle)
      : Event(s.number, ++s.recorded), gpu(gpu), handle(handle) {}
  Gpu* const gpu;
  const Event_t handle;
  bool done() override;

 protected:
  void dispose() override;

 private:
  std::atomic<bool> over_{false};
};

// One open device. Never destroyed: the driver ends with the process.
class Gpu {
 public:
  const int id;
  Context_t context = nullptr;
  int multiprocessors = 1;

  explicit Gpu(int id) : id(id) {}

  std::string open() {
    int device = 0, least = 0;
    if (const int r = driver().DeviceGet(&device, id)) return driver().what("cuDeviceGet", r);
    if (const int r = driver().PrimaryRetain(&context, device))
      return driver().what("cuDevicePrimaryCtxRetain", r);
    if (const int r = driver().DeviceGetAttribute(&multiprocessors, kMultiprocessors, device))
      return driver().what("cuDeviceGetAttribute", r);
    Entered here(*this);
    if (const int r = driver().PriorityRange(&least, &greatest_))
      return driver().what("cuCtxGetStreamPriorityRange", r);
    return "";
  }

  // A stream that no thread has, or a new one; null with the failure in `error`.
  Stream* take(bool priority, Error** error) {
    if (forked()) {
      *error = after_fork();
      return nullptr;
    }
    std::lock_guard<std::mutex> g(mu_);
    auto& free = priority ? free_first_ : free_;
    if (!free.empty()) {
      Stream* s = free.back();
      free.pop_back();
      return s;
    }
    Entered here(*this);
    Stream_t handle = nullptr;
    if (const int r = driver().StreamCreate(&handle, kNonBlocking, priority ? greatest_ : 0)) {
      *error = driver().check("cuStreamCreateWithPriority", r);
      return nullptr;
    }
    static std::atomic<uint32_t> numbers{0};
    streams_.emplace_back(new Stream{this, handle, ++numbers});
    return streams_.back().get();
  }
  void give_back(Stream* s, bool priority) {
    if (forked()) return;
    std::lock_guard<std::mutex> g(mu_);
    (priority ? free_first_ : free_).push_back(s);
  }

  // An event after all that `s` was given so far, with a reference; null with the failure in `error`, and
  // then all of that is over: who has no event needs none.
  Event* record(const Stream& s, Error** error) {
    if (forked()) {
      *error = after_fork();
      return nullptr;
    }
    Event_t handle = nullptr;
    {
      std::lock_guard<std::mutex> g(mu_);
      if (!events_.empty()) {
        handle = events_.back();
        events_.pop_back();
      }
    }
    Entered here(*this);
    const char* call = "cuEventCreate";
    int r = handle ? kSuccess : driver().EventCreate(&handle, kDisableTiming);
    if (r == kSuccess) {
      call = "cuEventRecord";
      std::lock_guard<std::mutex> g(s.mu);
      r = driver().EventRecord(handle, s.handle);
      if (r == kSuccess) return new CudaEvent(this, s, handle);
    }
    if (handle) recycle(handle);
    driver().StreamSynchronize(s.handle);
    look();
    *error = driver().check(call, r);
    return nullptr;
  }
  void recycle(Event_t handle) {
    std::lock_guard<std::mutex> g(mu_);
    events_.push_back(handle);
  }
  // Events after all that was launched on any stream.
  void record_all(std::vector<Event*>& out, Error** error) {
    std::vector<Stream*> all;
    {
      std::lock_guard<std::mutex> g(mu_);
      for (auto& s : streams_) all.push_back(s.get());
    }
    for (Stream* s : all) {
      Error* failed = nullptr;
      if (Event* e = record(*s, &failed)) out.push_back(e);
      else if (*error) failed->unref();
      else *error = failed;
    }
  }
  // Waits for all that was launched, by whomever.
  void synchronize() {
    if (forked()) return;
    Entered here(*this);
    driver().Synchronize();
  }

  // Waits for what a stream was given.
  void synchronize(const Stream& s) {
    if (forked()) return;
    Entered here(*this);
    driver().StreamSynchronize(s.handle);
  }

  // A failure of the device's own (an illegal address, say) is met by whoever asks next, and stays.
  void fail(int code) {
    int none = 0;
    failure_.compare_exchange_strong(none, code);
  }
  // After a call that failed: whether the device did. One that has says so at each call.
  void look() {
    Entered here(*this);
    size_t free, total;
    if (const int r = driver().GetInfo(&free, &total); r && r != kOutOfMemory) fail(r);
  }
  bool failed() const { return failure_.load() != kSuccess; }
  Error* failure() const {
    const int code = failure_.load();
    return code ? driver().check("the device", code) : nullptr;
  }

 private:
  friend class CudaEvent;
  int greatest_ = 0;
  std::atomic<int> failure_{0};
  std::mutex mu_;  // guards the lists; nothing but creation happens under it
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> free_, free_first_;
  std::vector<Event_t> events_;
};

inline Entered::Entered(const Gpu& gpu) {
  driver().GetCurrent(&before_);
  driver().SetCurrent(gpu.context);
}

inline bool CudaEvent::done() {
  if (over_.load(std::memory_order_acquire) || forked()) return true;
  Entered here(*gpu);
  const int r = driver().EventQuery(handle);
  if (r == kNotReady) return false;
  if (r != kSuccess) gpu->fail(r);
  over_.store(true, std::memory_order_release);
  return true;
}
inline void CudaEvent::dispose() {
  if (forked()) return;
  gpu->recycle(handle);
  delete this;
}

// The open devices, by number. Opened with the GIL held; read by any thread.
class Gpus {
 public:
  static constexpr int kMost = 64;
  Gpu* find(int id) const { return id < kMost ? all_[id].load(std::memory_order_acquire) : nullptr; }
  // One whose context will do where any does; null if none is open.
  Gpu* any() const {
    for (const auto& gpu : all_)
      if (Gpu* g = gpu.load(std::memory_order_acquire)) return g;
    return nullptr;
  }
  std::string open(int id) {
    if (id >= kMost) return "too many devices";
    if (find(id)) return "";
    static const int once = pthread_atfork(nullptr, nullptr, [] { forked() = true; });
    if (once) return "the process can't be watched for forks";
    std::unique_ptr<Gpu> gpu(new Gpu(id));
    std::string failure = gpu->open();
    if (!failure.empty()) return failure;
    for (int other = 0; other < kMost; ++other)
      if (Gpu* peer = find(other)) let_in(*gpu, *peer), let_in(*peer, *gpu);
    all_[id].store(gpu.release(), std::memory_order_release);
    return "";
  }

 private:
  // Where the hardware can, copies between devices go straight; elsewhere the driver takes the host's way.
  static void let_in(const Gpu& to, const Gpu& from) {
    int can = 0;
    if (driver().CanAccessPeer(&can, to.id, from.id) || !can) return;
    Entered here(to);
    driver().EnablePeerAccess(from.context, 0);
  }
  std::atomic<Gpu*> all_[kMost] = {};
};
inline Gpus& gpus() {
  static Gpus* g = new Gpus;
  return *g;
}

// The streams of a thread; they go back to their devices when it ends.
class ThreadStreams {
 public:
  ~ThreadStreams() {
    for (auto& [s, priority] : mine_) s->gpu->give_back(s, priority);
  }
  Stream* of(Gpu* gpu, bool priority, Error** error) {
    for (auto& [s, p] : mine_)
      if (s->gpu == gpu && p == priority) return s;
    Stream* s = gpu->take(priority, error);
    if (s) mine_.emplace_back(s, priority);
    return s;
  }

  // An op that runs on this thread; one may run inside another.
  struct Running {
    Stream* stream;                   // null: it runs on the host
    bool launched;                    // something
    std::vector<Chunk*> temporaries;  // what it used besides its variables; a reference each
  };
  std::vector<Running> running;

 private:
  std::vector<std::pair<Stream*, bool>> mine_;
};
inline ThreadStreams& thread_streams() {
  static thread_local ThreadStreams t;
  return t;
}

// The stream that work of the calling thread goes to: the running op's, if it is on that device.
inline Stream* stream_on(Gpu* gpu, Error** error) {
  if (forked()) {
    *error = after_fork();
    return nullptr;
  }
  ThreadStreams& mine = thread_streams();
  if (!mine.running.empty())
    if (Stream* s = mine.running.back().stream; s && s->gpu == gpu) return s;
  return mine.of(gpu, false, error);
}

// Whether a device reads and writes the chunk's memory, which is the host's, by itself.
inline bool is_pinned(const Chunk& c) {
  return c.device.kind == Device::CPU_PINNED && !c.owner && c.pool->pinned();
}

// Order between streams, for the engine.
class CudaStreams final : public Streams {
 public:
  Error* begin(Op* op) override {
    std::vector<Event*> before;
    for (const Use& u : op->uses)
      if (Footprint* f = u.var->footprint.load(std::memory_order_acquire)) f->before(u.write, before);
    Error* error = nullptr;
    Stream* stream = nullptr;
    if (forked()) {
      if (uses_cuda(op)) error = after_fork();
    } else if (op->device.is_gpu()) {
      if (Gpu* gpu = gpus().find(op->device.id))
        stream = thread_streams().of(gpu, op->prop == Prop::GPU_PRIORITIZED, &error);
      if (stream) {
        error = gpu_failure(stream->gpu);
        Entered here(*stream->gpu);
        for (Event* e : before) {
          if (error || e->stream == stream->number || e->done()) continue;  // in the order of one stream
          error = driver().check("cuStreamWaitEvent",
                                 driver().StreamWaitEvent(stream->handle, static_cast<CudaEvent*>(e)->handle, 0));
        }
      }
    }
    if (!stream && !error) wait(before, nullptr, nullptr, &error);
    // What a callable launches can't be seen. An op that only comes after others passes their order on.
    if (!error) {
      thread_streams().running.push_back({stream, !op->payload.native || !before.empty(), {}});
      op->stream = stream;
    }
    for (Event* e : before) e->unref();
    return error;
  }

  Error* end(Op* op) override {
    ThreadStreams::Running ran = left();
    Error* error = ran.stream && ran.launched ? note(op, *ran.stream, ran.temporaries) : nullptr;
    for (Chunk* c : ran.temporaries) c->unref();
    return error;
  }
  void leave() override {
    for (Chunk* c : left().temporaries) c->unref();
  }
  Error* over(Op* op) override { return note(op, *static_cast<Stream*>(op->stream), {}); }

  // Work is often over within microseconds, so it is watched for a moment; then in naps that grow.
  bool wait(const std::vector<Event*>& events, bool (*poll)(void*), void* arg, Error** error) override {
    using Clock = std::chrono::steady_clock;
    constexpr Clock::duration kSpin = std::chrono::microseconds(30), kPoll = std::chrono::milliseconds(25);
    const auto start = Clock::now();
    auto polled = start;
    for (Event* e : events)
      while (!e->done()) {
        const auto now = Clock::now();
        if (now - start < kSpin) continue;
        if (poll && now - polled > kPoll) {
          if (!poll(arg)) return false;
          polled = now;
        }
        std::this_thread::sleep_for(std::min<Clock::duration>((now - start) / 16, std::chrono::milliseconds(1)));
      }
    for (Event* e : events)
      if (!*error) *error = gpu_failure(static_cast<CudaEvent*>(e)->gpu);
    return true;
  }

  bool wait_for_all(bool (*poll)(void*), void* arg, Error** error) override {
    if (forked()) return true;
    std::vector<Event*> events;
    for (int i = 0; i < Gpus::kMost; ++i)
      if (Gpu* gpu = gpus().find(i)) gpu->record_all(events, error);
    const bool waited = wait(events, poll, arg, error);
    for (Event* e : events) e->unref();
    return waited;
  }

 private:
  static Error* gpu_failure(Gpu* gpu) { return gpu->failure(); }
  static ThreadStreams::Running left() {
    ThreadStreams::Running ran = std::move(thread_streams().running.back());
    thread_streams().running.pop_back();
    return ran;
  }
  // Whoever uses what the op used comes after all that the stream was given until now.
  static Error* note(Op* op, const Stream& stream, const std::vector<Chunk*>& temporaries) {
    Error* error = nullptr;
    Event* e = stream.gpu->record(stream, &error);
    if (!e) return error;
    for (const Use& u : op->uses)
      if (used_by_device(u.var)) u.var->leave_footprint().note(e, u.write);
    for (Chunk* c : temporaries) c->leave_footprint().note(e, true);
    e->unref();
    return nullptr;
  }
  static bool uses_cuda(const Op* op) {
    if (op->device.is_gpu()) return true;
    for (const Use& u : op->uses)
      if (const Chunk* c = dynamic_cast<const Chunk*>(u.var); c && !c->plain()) return true;
    return false;
  }
  // The host's own memory is read and written while the op runs, by way of staging: then it is over.
  static bool used_by_device(Var* v) {
    const Chunk* c = dynamic_cast<const Chunk*>(v);
    return !c || c->device.is_gpu() || is_pinned(*c);
  }
};

}  // namespace lazyarray::cuda
