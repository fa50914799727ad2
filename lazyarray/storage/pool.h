// MemoryPool: a device's memory, in size classes, reused before the system is asked again.
#pragma once
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "streams.h"

namespace lazyarray {

// Held for a few instructions only, by threads that never sleep while they hold it. If the holder
// lost its core meanwhile, spinning would only keep it from coming back: the waiter steps aside.
class SpinLock {
 public:
  void lock();
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

struct PoolStats {
  uint64_t in_use, cached, peak, limit, hits, misses;
};

// When memory goes back to the system. Giving a block of 80 MB back and having it anew costs some 15 ms of
// page faults, more than filling it twice: a loop that needs one in each round must find the last round's. So
// large blocks stay as long as such loops take for a round, and no longer: what a program has done with is
// free for others. Small ones stay.
struct PoolPolicy {
  static constexpr size_t large = size_t(32) << 20;       // from here on glibc, too, gives blocks back at once
  static constexpr int64_t idle_ns = 1'000'000'000;       // how long one lies unused before it goes
  static constexpr uint64_t cached = uint64_t(1) << 30;   // of all sizes; what is above goes at once
  // What NumPy has allocated for a result of at least this size is kept; less is copied into a block of ours,
  // which takes some microseconds.
  static constexpr size_t taken = size_t(64) << 10;
  // Blocks below this that NumPy frees stay in the C library's heap. See warm_heap().
  static constexpr size_t heap = size_t(4) << 20;
};

// Lets the C library keep what NumPy's functions free, their temporaries above all. glibc gives a block of 128
// KiB back at once, until the program has freed a larger one: from then on it keeps what is smaller, and up to
// twice as much at the heap's end. A program on NumPy frees large arrays all the time. One on lazyarray does
// not, as their memory is the pool's, and so each temporary would cost its page faults again (histogram of 4M
// elements: 45 ms, and 27). This frees one of PoolPolicy::heap, of which no page was touched. A program that
// sets glibc's thresholds by itself keeps them.
void warm_heap();
// Has it give back what it keeps.
void trim_heap();

// Size classes: multiples of 64 bytes up to 1 KiB, then four per power of two, so at most a
// quarter is wasted. Nothing is allocated ahead; what is freed stays cached: see PoolPolicy.
class MemoryPool {
 public:
  static constexpr size_t kAlign = 64;                // a cache line, and any SIMD register
  static constexpr size_t kHuge = size_t(2) << 20;    // page size of a huge page
  static constexpr size_t kMapped = 2 * kHuge;        // from here on blocks are mappings of their own
  static constexpr int kClasses = 16 + 4 * 50;
  static constexpr size_t kMost = size_t(1) << 60;    // what the last size class holds

  MemoryPool() = default;
  MemoryPool(const MemoryPool&) = delete;
  virtual ~MemoryPool() = default;
  void set_limit(uint64_t bytes) { limit_ = bytes; }
  uint64_t limit() const { return limit_; }  // 0: none
  // Whether a GPU copies from and to it by itself.
  virtual bool pinned() const { return false; }

  // Null if the limit or the system refuses.
  virtual char* allocate(size_t bytes) { return get(bytes, nullptr); }
  // The same, of a pool of the host's own; `zeroed` says whether it is all zeros. Then it has no pages yet,
  // which cost nothing until they are touched; but then more than to fill pages that are there (80 MB in a
  // loop, zeros and `+= 1`: 21 ms, and 6). So a cached large block gets new ones if few of its pages were used.
  char* allocate_zeroed(size_t bytes, bool* zeroed) { return get(bytes, zeroed); }
  // Memory that came from elsewhere counts as in use, from here to let_go(); false if the limit refuses.
  bool take_in(size_t bytes);
  void let_go(size_t bytes);
  // Whether it would most likely be all zeros now.
  bool zeros_at_hand(size_t bytes);

  // ... that any stream may use at once, not only that of the running op.
  virtual char* allocate_for_all(size_t bytes) { return allocate(bytes); }

  virtual void release(char* p, size_t bytes);

  // When a large block will have lain unused for too long; kNever: there is none.
  static constexpr int64_t kNever = INT64_MAX;
  int64_t due() const;
  // Gives those back that have.
  void tidy() { give_back(clock() - PoolPolicy::idle_ns); }

  // ... once these are over, of which the pool drops the references.
  virtual void release_after(char* p, size_t bytes, std::vector<Event*> last_uses);

  // ... which any op that was launched so far may still use.
  virtual void release_used(char* p, size_t bytes) { release(p, bytes); }

  // ... on which others may be at work, of whom nobody here knows.
  virtual void release_lent(char* p, size_t bytes) { release(p, bytes); }

  // Gives all cached memory back to the system.
  virtual void trim();

  virtual PoolStats stats();

  static int size_class(size_t bytes);
  static size_t class_bytes(int c);

 protected:
  // What the system is asked for counts against the limit, and is in use only once it is there.
  bool reserve(size_t size);
  void settle(size_t size, bool granted);
  void grew(size_t size);
  virtual void system_free(char* p, size_t size);
  virtual char* system_allocate(size_t size);
  // Whether blocks of this size are mappings of their own, all zeros when they are new.
  virtual bool mapped(size_t size) const { return size >= kMapped; }

  SpinLock lock_;

 private:
  // Freed blocks are linked through themselves: who lets go of memory must not need any.
  struct Free {
    Free* next;
  };
  Free* free_[kClasses] = {};
  // But for large ones, which may have no pages yet; oldest first. As many as may be cached.
  struct Idle {
    char* p;
    int size_class;
    int64_t since;
  };
  static constexpr int kIdle = PoolPolicy::cached / PoolPolicy::large;
  Idle idle_[kIdle];
  int idle_count_ = 0;
  std::atomic<int64_t> idle_since_{kNever};  // of the oldest

  static int64_t clock() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  bool large(size_t size) const { return size >= PoolPolicy::large && mapped(size); }

  void put_idle(Idle block);
  char* take_idle(int i);
  // Of large blocks, those that have been idle since then or longer.
  void give_back(int64_t since);

  // Whether most of a block's pages are there, by a few of them. (One that is gone meanwhile counts as filled.)
  static bool filled(const char* p, size_t size);

  // A cached block, or null; with the lock.
  char* reuse(int c, bool big);

  char* get(size_t bytes, bool* zeroed);

  // On huge pages: page faults are much of the time of a fresh large array.
  static char* map(size_t size);

 protected:
  uint64_t in_use_ = 0, asked_ = 0, cached_ = 0, peak_ = 0, hits_ = 0, misses_ = 0;
  std::atomic<uint64_t> limit_{0};
  uint64_t cache_limit_ = PoolPolicy::cached;
};

}  // namespace lazyarray
