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
  void lock() {
    for (int spins = 0; held_.test_and_set(std::memory_order_acquire); ++spins)
      if (spins > 100) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

struct PoolStats {
  uint64_t in_use, cached, peak, limit, hits, misses;
};

// Size classes: multiples of 64 bytes up to 1 KiB, then four per power of two, so at most a
// quarter is wasted. Nothing is allocated ahead; what is freed stays cached up to `cache_limit`.
class MemoryPool {
 public:
  static constexpr size_t kAlign = 64;                // a cache line, and any SIMD register
  static constexpr size_t kHuge = size_t(2) << 20;    // page size of a huge page
  static constexpr int kClasses = 16 + 4 * 50;
  static constexpr size_t kMost = size_t(1) << 60;    // what the last size class holds

  MemoryPool() = default;
  MemoryPool(const MemoryPool&) = delete;
  virtual ~MemoryPool() = default;
  void set_limit(uint64_t bytes) { limit_ = bytes; }
  // Whether a GPU copies from and to it by itself.
  virtual bool pinned() const { return false; }

  // Null if the limit or the system refuses.
  virtual char* allocate(size_t bytes) {
    if (bytes > kMost) return nullptr;
    const int c = size_class(bytes);
    const size_t size = class_bytes(c);
    lock_.lock();
    if (Free* p = free_[c]) {
      free_[c] = p->next;
      cached_ -= size;
      hits_++;
      grew(size);
      lock_.unlock();
      return reinterpret_cast<char*>(p);
    }
    misses_++;
    if (!reserve(size)) {
      lock_.unlock();
      return nullptr;
    }
    const bool crowded = limit_ && in_use_ + asked_ + cached_ > limit_;
    lock_.unlock();
    if (crowded) trim();
    char* p = system_allocate(size);
    if (!p) {
      trim();
      p = system_allocate(size);
    }
    lock_.lock();
    settle(size, p != nullptr);
    lock_.unlock();
    return p;
  }

  // ... that any stream may use at once, not only that of the running op.
  virtual char* allocate_for_all(size_t bytes) { return allocate(bytes); }

  virtual void release(char* p, size_t bytes) {
    const int c = size_class(bytes);
    const size_t size = class_bytes(c);
    lock_.lock();
    in_use_ -= size;
    const bool keep = cached_ + size <= cache_limit_;
    if (keep) {
      free_[c] = new (p) Free{free_[c]};
      cached_ += size;
    }
    lock_.unlock();
    if (!keep) system_free(p);
  }
  // ... once these are over, of which the pool drops the references.
  virtual void release_after(char* p, size_t bytes, std::vector<Event*> last_uses) {
    for (Event* e : last_uses) e->unref();  // no device uses memory of the host's own pools by itself
    release(p, bytes);
  }

  // ... which any op that was launched so far may still use.
  virtual void release_used(char* p, size_t bytes) { release(p, bytes); }

  // ... on which others may be at work, of whom nobody here knows.
  virtual void release_lent(char* p, size_t bytes) { release(p, bytes); }

  // Gives all cached memory back to the system.
  virtual void trim() {
    Free* out[kClasses] = {};
    lock_.lock();
    std::swap(out, free_);
    cached_ = 0;
    lock_.unlock();
    for (Free* p : out)
      while (p) {
        Free* const next = p->next;
        system_free(reinterpret_cast<char*>(p));
        p = next;
      }
  }

  virtual PoolStats stats() {
    lock_.lock();
    PoolStats s{in_use_, cached_, peak_, limit_, hits_, misses_};
    lock_.unlock();
    return s;
  }

  static int size_class(size_t bytes) {
    if (bytes <= 1024) return bytes ? static_cast<int>((bytes - 1) / 64) : 0;
    const int top = 63 - __builtin_clzll(bytes - 1);  // 2^top < bytes <= 2^(top+1)
    const int step = static_cast<int>((bytes - 1) >> (top - 2)) & 3;
    return 16 + 4 * (top - 10) + step;
  }
  static size_t class_bytes(int c) {
    if (c < 16) return 64 * (static_cast<size_t>(c) + 1);
    const int top = (c - 16) / 4 + 10;
    return (size_t(1) << top) + (static_cast<size_t>((c - 16) % 4) + 1) * (size_t(1) << (top - 2));
  }

 protected:
  // What the system is asked for counts against the limit, and is in use only once it is there.
  bool reserve(size_t size) {
    if (limit_ && in_use_ + asked_ + size > limit_) return false;
    asked_ += size;
    return true;
  }
  void settle(size_t size, bool granted) {
    asked_ -= size;
    if (granted) grew(size);
  }
  void grew(size_t size) {
    in_use_ += size;
    if (in_use_ > peak_) peak_ = in_use_;
  }
  virtual void system_free(char* p) { std::free(p); }
  virtual char* system_allocate(size_t size) {
    // Large blocks on huge pages: page faults are much of the time of a fresh large array.
    const size_t align = size >= 2 * kHuge ? kHuge : kAlign;
    void* p = nullptr;
    if (posix_memalign(&p, align, size)) return nullptr;
#ifdef MADV_HUGEPAGE
    if (align == kHuge) madvise(p, size, MADV_HUGEPAGE);
#endif
    return static_cast<char*>(p);
  }

  SpinLock lock_;

 private:
  // Freed blocks are linked through themselves: who lets go of memory must not need any.
  struct Free {
    Free* next;
  };
  Free* free_[kClasses] = {};

 protected:
  uint64_t in_use_ = 0, asked_ = 0, cached_ = 0, peak_ = 0, limit_ = 0, hits_ = 0, misses_ = 0;
  uint64_t cache_limit_ = uint64_t(1) << 30;
};

}  // namespace lazyarray
