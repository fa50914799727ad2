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

// When memory goes back to the system. Giving a block of 80 MB back and having it anew costs some 15 ms of
// page faults, more than filling it twice: a loop that needs one in each round must find the last round's. So
// large blocks stay as long as such loops take for a round, and no longer: what a program has done with is
// free for others. Small ones stay.
struct PoolPolicy {
  static constexpr size_t large = size_t(32) << 20;       // from here on glibc, too, gives blocks back at once
  static constexpr int64_t idle_ns = 1'000'000'000;       // how long one lies unused before it goes
  static constexpr uint64_t cached = uint64_t(1) << 30;   // of all sizes; what is above goes at once
};

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
  // Whether a GPU copies from and to it by itself.
  virtual bool pinned() const { return false; }

  // Null if the limit or the system refuses.
  virtual char* allocate(size_t bytes) { return get(bytes, nullptr); }
  // The same, of a pool of the host's own; `zeroed` says whether it is all zeros. Then it has no pages yet,
  // which cost nothing until they are touched; but then more than to fill pages that are there (80 MB in a
  // loop, zeros and `+= 1`: 21 ms, and 6). So a cached large block gets new ones if few of its pages were used.
  char* allocate_zeroed(size_t bytes, bool* zeroed) { return get(bytes, zeroed); }
  // Whether it would most likely be all zeros now.
  bool zeros_at_hand(size_t bytes) {
    if (bytes > kMost) return false;
    const int c = size_class(bytes);
    const size_t size = class_bytes(c);
    if (!mapped(size)) return false;
    const char* cached = reinterpret_cast<char*>(free_[c]);
    if (large(size)) {
      const std::lock_guard<SpinLock> g(lock_);
      for (int i = idle_count_ - 1; i >= 0 && !cached; --i)
        if (idle_[i].size_class == c) cached = idle_[i].p;
    }
    return !cached || (large(size) && !filled(cached, size));
  }

  // ... that any stream may use at once, not only that of the running op.
  virtual char* allocate_for_all(size_t bytes) { return allocate(bytes); }

  virtual void release(char* p, size_t bytes) {
    const int c = size_class(bytes);
    const size_t size = class_bytes(c);
    const bool big = large(size);
    const int64_t now = big ? clock() : 0;
    lock_.lock();
    in_use_ -= size;
    const bool keep = cached_ + size <= cache_limit_ && !(big && idle_count_ == kIdle);
    if (keep) {
      if (big) put_idle({p, c, now});
      else free_[c] = new (p) Free{free_[c]};
      cached_ += size;
    }
    lock_.unlock();
    if (!keep) system_free(p, size);
  }

  // When a large block will have lain unused for too long; kNever: there is none.
  static constexpr int64_t kNever = INT64_MAX;
  int64_t due() const {
    const int64_t since = idle_since_.load(std::memory_order_relaxed);
    return since == kNever ? kNever : since + PoolPolicy::idle_ns;
  }
  // Gives those back that have.
  void tidy() { give_back(clock() - PoolPolicy::idle_ns); }

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
    for (int c = 0; c < kClasses; ++c)
      for (Free* p = out[c]; p; p = p->next) cached_ -= class_bytes(c);
    lock_.unlock();
    for (int c = 0; c < kClasses; ++c)
      while (Free* const p = out[c]) {
        out[c] = p->next;
        system_free(reinterpret_cast<char*>(p), class_bytes(c));
      }
    give_back(kNever);
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
  virtual void system_free(char* p, size_t size) {
    if (mapped(size)) munmap(p, size);
    else std::free(p);
  }
  virtual char* system_allocate(size_t size) {
    void* p = nullptr;
    if (mapped(size)) return map(size);
    return posix_memalign(&p, kAlign, size) ? nullptr : static_cast<char*>(p);
  }
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

  void put_idle(Idle block) {
    idle_[idle_count_++] = block;
    idle_since_.store(idle_[0].since, std::memory_order_relaxed);
  }
  char* take_idle(int i) {
    char* const p = idle_[i].p;
    std::move(idle_ + i + 1, idle_ + idle_count_, idle_ + i);
    idle_count_--;
    idle_since_.store(idle_count_ ? idle_[0].since : kNever, std::memory_order_relaxed);
    return p;
  }
  // Of large blocks, those that have been idle since then or longer.
  void give_back(int64_t since) {
    for (;;) {
      char* p = nullptr;
      size_t size = 0;
      lock_.lock();
      if (idle_count_ && idle_[0].since <= since) {
        size = class_bytes(idle_[0].size_class);
        p = take_idle(0);
        cached_ -= size;
      }
      lock_.unlock();
      if (!p) return;
      system_free(p, size);
    }
  }

  // Whether most of a block's pages are there, by a few of them. (One that is gone meanwhile counts as filled.)
  static bool filled(const char* p, size_t size) {
    constexpr int kLooks = 8;
    int there = 0;
    for (int i = 0; i < kLooks; ++i) {
      unsigned char in_core = 1;
      const size_t at = size / kLooks * static_cast<size_t>(i) / 4096 * 4096;
      there += mincore(const_cast<char*>(p) + at, 4096, &in_core) != 0 || (in_core & 1);
    }
    return there > kLooks / 2;
  }

  // A cached block, or null; with the lock.
  char* reuse(int c, bool big) {
    if (big) {
      for (int i = idle_count_ - 1; i >= 0; --i)
        if (idle_[i].size_class == c) return take_idle(i);
      return nullptr;
    }
    Free* const p = free_[c];
    if (p) free_[c] = p->next;
    return reinterpret_cast<char*>(p);
  }

  char* get(size_t bytes, bool* zeroed) {
    if (bytes > kMost) return nullptr;
    const int c = size_class(bytes);
    const size_t size = class_bytes(c);
    const bool big = large(size);
    if (zeroed) *zeroed = false;
    lock_.lock();
    if (char* const p = reuse(c, big)) {
      cached_ -= size;
      hits_++;
      grew(size);
      lock_.unlock();
      if (zeroed && big && !filled(p, size)) *zeroed = madvise(p, size, MADV_DONTNEED) == 0;
      return p;
    }
    misses_++;
    if (!reserve(size)) {
      lock_.unlock();
      return nullptr;
    }
    const bool crowded = limit_ && in_use_ + asked_ + cached_ > limit_;
    lock_.unlock();
    if (crowded) trim();
    else if (big && due() <= clock()) tidy();
    char* p = system_allocate(size);
    if (!p) {
      trim();
      p = system_allocate(size);
    }
    lock_.lock();
    settle(size, p != nullptr);
    lock_.unlock();
    if (zeroed) *zeroed = p && mapped(size);
    return p;
  }

  // On huge pages: page faults are much of the time of a fresh large array.
  static char* map(size_t size) {
    auto fresh = [](size_t n) -> char* {
      void* p = mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
    };
    char* p = fresh(size);
    if (p && reinterpret_cast<uintptr_t>(p) % kHuge) {  // not on a huge page's border: cut from more
      munmap(p, size);
      if (!(p = fresh(size + kHuge))) return nullptr;
      const size_t skip = (kHuge - reinterpret_cast<uintptr_t>(p) % kHuge) % kHuge;
      if (skip) munmap(p, skip);
      munmap(p + skip + size, kHuge - skip);
      p += skip;
    }
#ifdef MADV_HUGEPAGE
    if (p) madvise(p, size, MADV_HUGEPAGE);
#endif
    return p;
  }

 protected:
  uint64_t in_use_ = 0, asked_ = 0, cached_ = 0, peak_ = 0, limit_ = 0, hits_ = 0, misses_ = 0;
  uint64_t cache_limit_ = PoolPolicy::cached;
};

}  // namespace lazyarray
