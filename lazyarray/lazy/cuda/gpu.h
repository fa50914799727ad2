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
class Launches;

inline bool is_gpu(const Device& d) { return d.kind == Device::GPU; }

// Whether this process was forked from one that had opened a GPU. CUDA works there no more, and what
// other threads had locked at the fork stays locked: nothing here is then used, and nothing freed.
std::atomic<bool>& forked();
Error* after_fork();

// Makes a device's context the thread's for a while; user threads get back what they had. CUDA refuses
// most calls without one, also those that name a stream or an event. So it does where another library captures in mode
// "global", and its capture fails, unless the calling thread is relaxed about captures: its work is none of theirs.
class Entered {
 public:
  explicit Entered(const Gpu& gpu);
  ~Entered() {
    driver().ExchangeCaptureMode(&mode_);
    driver().SetCurrent(before_);
  }
  Entered(const Entered&) = delete;

 private:
  Context_t before_ = nullptr;
  int mode_ = kRelaxed;  // the thread's before
};

// A thread's queue on a device. Used by that thread alone, but for events, which any thread may record.
struct Stream {
  Gpu* gpu;
  Stream_t raw;
  uint32_t number;
  // Held while an event is recorded, so that their numbers are in order; and while the stream is captured: an event on
  // it would be the graph's then, and asking for that one is an error that the device never gets over.
  mutable std::mutex mu{};
  mutable uint64_t recorded = 0;  // mu
};

// An event on a stream. What the driver made goes back to the device when nobody can ask any more.
class CudaEvent final : public Event {
 public:
  CudaEvent(Gpu* gpu, const Stream& s, Event_t raw)
      : Event(s.number, ++s.recorded), gpu(gpu), raw(raw) {}
  Gpu* const gpu;
  const Event_t raw;
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
  size_t memory = 0;  // bytes
  // Held while one of its streams is captured, for some 0.1 ms: CUDA then refuses to wait for the device, and the
  // capture fails. Taken before a stream's mu, and without the GIL; nothing under it asks for that.
  mutable std::mutex capturing;

  explicit Gpu(int id) : id(id) {}

  std::string open();

  // A stream that no thread has, or a new one; null with the failure in `error`.
  Stream* take(bool priority, Error** error);
  void give_back(Stream* s, bool priority);

  // An event after all that `s` was given so far, with a reference; null with the failure in `error`, and
  // then all of that is over: who has no event needs none.
  Event* record(const Stream& s, Error** error);
  void recycle(Event_t raw);
  // Events after all that was launched on any stream.
  void record_all(std::vector<Event*>& out, Error** error);
  // Waits for all that was launched, by whomever. An error: CUDA refuses, as while another library captures a stream.
  Error* synchronize();

  // Waits for what a stream was given.
  void synchronize(const Stream& s);

  // A failure of the device's own (an illegal address, say) is met by whoever asks next, and stays. Who
  // waits for the device waits no more: a kernel may run for ever.
  void fail(int code);
  // After a call that failed: whether the device did. One that has says so at each call.
  void look();
  bool failed() const { return failure_.load() != kSuccess; }
  Error* failure() const;

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
  driver().ExchangeCaptureMode(&mode_);
}

inline bool CudaEvent::done() {
  if (over_.load(std::memory_order_acquire) || forked() || gpu->failed()) return true;
  Entered here(*gpu);
  const int r = driver().EventQuery(raw);
  if (r == kNotReady || r == kCaptureForbids) return false;
  if (r != kSuccess) gpu->fail(r);
  over_.store(true, std::memory_order_release);
  return true;
}
inline void CudaEvent::dispose() {
  if (forked()) return;
  gpu->recycle(raw);
  delete this;
}

// The open devices, by number. Opened with the GIL held; read by any thread.
class Gpus {
 public:
  static constexpr int kMost = 64;
  Gpu* find(int id) const { return id < kMost ? all_[id].load(std::memory_order_acquire) : nullptr; }
  // One whose context will do where any does; null if none is open.
  Gpu* any() const;
  std::string open(int id);
  bool failed() const;  // one of them

 private:
  // Where the hardware can, copies between devices go straight; elsewhere the driver takes the host's way.
  static void let_in(const Gpu& to, const Gpu& from);
  std::atomic<Gpu*> all_[kMost] = {};
};
Gpus& gpus();

// The streams of a thread; they go back to their devices when it ends.
class ThreadStreams {
 public:
  ~ThreadStreams() {
    for (auto& [s, priority] : mine_) s->gpu->give_back(s, priority);
  }
  Stream* of(Gpu* gpu, bool priority, Error** error);

  // An op that runs on this thread; one may run inside another.
  struct Running {
    Stream* stream;                   // null: it runs on the host
    bool launched;                    // something
    std::vector<Chunk*> temporaries;  // what it used besides its variables; a reference each
    Launches* collected = nullptr;    // kernels and products go there, and are launched later
  };
  std::vector<Running> running;

 private:
  std::vector<std::pair<Stream*, bool>> mine_;
};
ThreadStreams& thread_streams();

// The stream that work of the calling thread goes to: the running op's, if it is on that device.
Stream* stream_on(Gpu* gpu, Error** error);

// Whether a device reads and writes the chunk's memory, which is the host's, by itself.
inline bool is_pinned(const Chunk& c) {
  return c.device.kind == Device::CPU_PINNED && !c.owner && c.pool->pinned();
}

// Order between streams, for the engine.
class CudaStreams final : public Streams {
 public:
  Error* begin(Operator* op) override;

  Error* end(Operator* op) override;
  void leave() override {
    for (Chunk* c : left().temporaries) c->unref();
  }
  Error* over(Operator* op) override { return note(op, *static_cast<Stream*>(op->stream), {}); }

  // Work is often over within microseconds, so it is watched for a moment; then in naps that grow.
  bool wait(const std::vector<Event*>& events, bool (*poll)(void*), void* arg, Error** error) override;

  bool wait_for_all(bool (*poll)(void*), void* arg, Error** error) override;

 private:
  static Error* gpu_failure(Gpu* gpu) { return gpu->failure(); }
  static ThreadStreams::Running left();
  // Whoever uses what the op used comes after all that the stream was given until now.
  static Error* note(Operator* op, const Stream& stream, const std::vector<Chunk*>& temporaries);
  static bool uses_cuda(const Operator* op);
  // The host's own memory is read and written while the op runs, by way of staging: then it is over.
  static bool used_by_device(Var* v);
};

}  // namespace lazyarray::cuda
