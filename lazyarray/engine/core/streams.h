// Streams: how the engine keeps order where work goes on after the op that launched it has returned.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "device.h"
#include "error.h"

namespace lazyarray {

class Engine;
struct Operator;
class Var;

// A point of a device's stream: over once all that was launched there before it is.
class Event {
 public:
  const uint32_t stream;  // the stream's number, unique in the process
  const uint64_t number;  // its place among the stream's: a later one is over after all earlier ones

  Event(uint32_t stream, uint64_t number) : stream(stream), number(number) {}
  Event(const Event&) = delete;
  void ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) dispose();
  }
  // Whether it is over; asks the device until it is. Any thread.
  virtual bool done() = 0;

 protected:
  virtual ~Event() = default;
  virtual void dispose() { delete this; }
  std::atomic<int> refs_{1};
};

// The events of a variable's last uses on devices: what a next use has to come after.
//
// Invariant: whoever uses the variable next comes after `written_`, and who writes it after every one of
// `read_`, too. A use that is noted has itself come after all that it replaces here, so replacing loses
// nothing. Uses are noted by ops that hold them, so only reads are noted at the same time; the lock is
// for those, and for waiters that look on. Reads of one stream may be noted in another order than that
// of their events (an asynchronous op completes on any thread): the later event stays.
class Footprint {
 public:
  ~Footprint() { clear(); }
  void note(Event* e, bool write) {
    std::vector<Event*> old;
    {
      std::lock_guard<std::mutex> g(mu_);
      e->ref();
      if (write) {
        old.swap(read_);
        if (written_) old.push_back(written_);
        written_ = e;
      } else {
        Event** same = nullptr;
        for (Event*& r : read_)
          if (r->stream == e->stream) same = &r;
        if (!same) read_.push_back(e);
        else if ((*same)->number < e->number) old.push_back(std::exchange(*same, e));
        else old.push_back(e);
      }
    }
    for (Event* o : old) o->unref();
  }
  // What a use must come after, each with a reference for the caller to drop: one of each stream.
  void before(bool write, std::vector<Event*>& out) {
    std::lock_guard<std::mutex> g(mu_);
    auto add = [&](Event* e) {
      for (Event*& known : out)
        if (known->stream == e->stream) {
          if (known->number < e->number) {
            known->unref();
            known = e;
            e->ref();
          }
          return;
        }
      e->ref();
      out.push_back(e);
    };
    if (written_) add(written_);
    if (write)
      for (Event* r : read_) add(r);
  }
  // Returns when all its events are over.
  void wait() {
    std::vector<Event*> all;
    before(true, all);
    for (Event* e : all) {
      while (!e->done()) std::this_thread::sleep_for(std::chrono::microseconds(50));
      e->unref();
    }
  }
  // Takes over all its events, with their references.
  std::vector<Event*> take() {
    std::lock_guard<std::mutex> g(mu_);
    std::vector<Event*> out;
    out.swap(read_);
    if (written_) out.push_back(written_);
    written_ = nullptr;
    return out;
  }

 private:
  void clear() {
    for (Event* e : take()) e->unref();
  }
  std::mutex mu_;
  Event* written_ = nullptr;
  std::vector<Event*> read_;
};

// What a device's room does for the engine. An op on such a device is complete, for the engine, when
// its work is launched; footprints carry the rest of the order, on the device where they can.
class Streams {
 public:
  virtual ~Streams() = default;
  // On the thread that runs `op`, before it does: whatever this thread's stream is given from now on
  // comes after the earlier uses of the op's variables. An op of the CPU waits for them here.
  virtual Error* begin(Operator* op) = 0;
  // ... and after it ran: notes what it launched on its variables. A failure of the device's is the op's.
  virtual Error* end(Operator* op) = 0;
  // An asynchronous op has two ends. On the thread that began it, when its run returned: ...
  virtual void leave() = 0;
  // ... and on any thread, when it completes: what its stream was given until now is its work.
  virtual Error* over(Operator* op) = 0;
  // Waits on the host for the events, in slices; false if `poll` said to stop. A device's failure
  // comes back in `error`.
  virtual bool wait(const std::vector<Event*>& events, bool (*poll)(void*), void* arg, Error** error) = 0;
  // ... for all that was launched.
  virtual bool wait_for_all(bool (*poll)(void*), void* arg, Error** error) = 0;
};

}  // namespace lazyarray
