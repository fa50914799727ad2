// Profile: what was pushed and run when, and what waited: collected while profiling, read by the profiler.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "device.h"

namespace lazyarray {

// Names in a profile are interned: they outlive what they name. A site is a number that stands for the
// line that pushed (the room above makes them, see engine/sites.h), 0 where it is unknown. Times are
// steady-clock nanoseconds, threads those of this_thread().

// As Python's threading.get_ident().
inline uint64_t this_thread() { return (uint64_t)pthread_self(); }

// One instruction of an operator.
struct ProfileStep {
  const char* name;
  uint32_t site;
  uint16_t stage;   // which of the operator's stages it belongs to
  bool fused;       // its stage is one pass over the memory
  bool temporary;   // its output never got memory
};

// One operator that has ended.
struct ProfileEvent {
  const char* name = "";
  uint64_t seq = 0, parent = 0;
  int64_t queued = 0, ready = 0, start = 0, end = 0;
  uint64_t pusher = 0, thread = 0;  // who pushed it, and who ran it
  int worker = -1;                  // which of the engine's workers ran it; -1: none of them
  uint32_t site = 0;
  Device device;
  bool skipped = false, async = false;
  bool nested = false;              // it ran inside another op, on the same thread
  // What its payload said of itself (Payload::describe).
  int64_t moved = 0;                // bytes of memory read and written
  uint32_t first_step = 0, steps = 0;  // in the block's; none, if it said nothing
};

// What is known so far of an op under way. Its memory is used again, with the op's.
struct ProfileNote {
  ProfileEvent event;
  std::vector<ProfileStep> steps;
};

// Something else that took time, or (a marker) none.
struct ProfileSpan {
  enum Kind : uint8_t {
    INLINE,  // a tiny op that its caller ran, without the engine
    SHARE,   // a worker, or a thread that waited, took part in operator `seq`
    WAIT, EVENT, TASK, FRAME, MARKER
  };
  Kind kind = INLINE;
  const char* name = "";
  const char* domain = "";
  int64_t start = 0, end = 0;
  uint64_t thread = 0, seq = 0;
  int worker = -1;
  uint32_t site = 0;
  int64_t moved = 0;
};

// Operator `to` had to wait for operator `from`, or would have if that had not been over.
struct ProfileEdge {
  uint64_t from, to;
};

// What a counter showed at a time.
struct ProfileSample {
  const char* name;
  const char* domain;
  int64_t when;
  double value;
};

struct ProfileBlock {
  std::vector<ProfileEvent> ops;
  std::vector<ProfileStep> steps;
  std::vector<ProfileSpan> spans;
  std::vector<ProfileEdge> edges;
  std::vector<ProfileSample> samples;
  size_t size() const {
    return ops.size() + spans.size() + edges.size() + samples.size() + steps.size() / 4;
  }
};

// An engine's. Its mutex is taken last (under Engine::mu_, or with the GIL held) and held for one
// append or for taking the blocks away. What finds no memory is lost, like what finds no space.
class Profile {
 public:
  enum What : int { OPS = 1, COUNTERS = 2, SCOPES = 4 };  // SCOPES: waits, and what users name
  static constexpr size_t kBlock = 8192, kMostBlocks = 256;  // 2M entries, some 200 MB

  // Relaxed: who sees an old value records one op too many, which add() then refuses, or too few.
  bool on() const { return what_.load(std::memory_order_relaxed) != 0; }
  bool on(int what) const { return what_.load(std::memory_order_relaxed) & what; }

  // 0 stops. What was collected stays until it is taken.
  void set(int what) {
    std::lock_guard<std::mutex> g(mu_);
    what_.store(what, std::memory_order_relaxed);
  }

  void add(ProfileNote& n) {
    append(OPS, [&](ProfileBlock& b) {
      n.event.first_step = static_cast<uint32_t>(b.steps.size());
      n.event.steps = static_cast<uint32_t>(n.steps.size());
      b.steps.insert(b.steps.end(), n.steps.begin(), n.steps.end());
      b.ops.push_back(n.event);
    });
  }
  void add(const ProfileSpan& s) {
    append(s.kind < ProfileSpan::WAIT ? OPS : ANY, [&](ProfileBlock& b) { b.spans.push_back(s); });
  }
  void add(const ProfileEdge* e, int n) {
    append(OPS, [&](ProfileBlock& b) { b.edges.insert(b.edges.end(), e, e + n); });
  }
  void add(const ProfileSample& s) {
    append(ANY, [&](ProfileBlock& b) { b.samples.push_back(s); });
  }

  // Whether the latest figure of `what` differs from the one before, of whatever.
  bool changed(const void* what, uint64_t figure) {
    const uint64_t now = figure ^ reinterpret_cast<uintptr_t>(what);
    return figure_.exchange(now, std::memory_order_relaxed) != now;
  }

  // Everything so far, oldest first.
  std::vector<std::unique_ptr<ProfileBlock>> take() {
    std::lock_guard<std::mutex> g(mu_);
    return std::move(blocks_);
  }
  // How many blocks are full, for who would rather take them than lose what comes next.
  size_t full() {
    std::lock_guard<std::mutex> g(mu_);
    return blocks_.empty() ? 0 : blocks_.size() - 1;
  }
  // How many entries found no space since the last call.
  uint64_t take_lost() {
    std::lock_guard<std::mutex> g(mu_);
    const uint64_t n = lost_;
    lost_ = 0;
    return n;
  }

  // A fork: held across it, and in the child made anew and empty.
  void lock() { mu_.lock(); }
  void unlock() { mu_.unlock(); }
  void reset() {
    new (&mu_) std::mutex;  // in a forked child: another thread may wait for the old one, in the parent
    what_ = 0;
    blocks_.clear();
    lost_ = 0;
  }

 private:
  static constexpr int ANY = OPS | COUNTERS | SCOPES;
  template <class Put>
  void append(int wanted, Put put) {
    std::lock_guard<std::mutex> g(mu_);
    try {
      if (ProfileBlock* b = open(wanted)) put(*b);
    } catch (const std::bad_alloc&) {
      lost_++;
    }
  }
  // Where to append, if any of `wanted` is being profiled and there is space.
  ProfileBlock* open(int wanted) {
    if (!(what_.load(std::memory_order_relaxed) & wanted)) return nullptr;
    if (blocks_.empty() || blocks_.back()->size() >= kBlock) {
      if (blocks_.size() >= kMostBlocks) {
        lost_++;
        return nullptr;
      }
      blocks_.push_back(std::make_unique<ProfileBlock>());
    }
    return blocks_.back().get();
  }

  std::atomic<int> what_{0};
  std::atomic<uint64_t> figure_{0};  // see changed()
  std::mutex mu_;
  std::vector<std::unique_ptr<ProfileBlock>> blocks_;
  uint64_t lost_ = 0;
};

}  // namespace lazyarray
