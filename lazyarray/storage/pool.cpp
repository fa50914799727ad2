// MemoryPool: a device's memory, in size classes, reused before the system is asked again.
#include "storage/pool.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lazyarray {

void warm_heap() {
  void* volatile p = std::malloc(PoolPolicy::heap);  // volatile: else the compiler leaves both out
  std::free(p);
}

void trim_heap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

bool MemoryPool::take_in(size_t bytes) {
  const size_t size = class_bytes(size_class(bytes));
  lock_.lock();
  const bool granted = reserve(size);
  if (granted) settle(size, true);
  const bool crowded = granted && limit_ && in_use_ + asked_ + cached_ > limit_;
  lock_.unlock();
  if (crowded) trim();
  return granted;
}

void MemoryPool::let_go(size_t bytes) {
  lock_.lock();
  in_use_ -= class_bytes(size_class(bytes));
  lock_.unlock();
}

void SpinLock::lock() {
  for (int spins = 0; held_.test_and_set(std::memory_order_acquire); ++spins)
    if (spins > 100) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

bool MemoryPool::zeros_at_hand(size_t bytes) {
  if (bytes > kMost) return false;
  const int c = size_class(bytes);
  const size_t size = class_bytes(c);
  if (!mapped(size)) return false;
  const char* cached;
  {
    const std::lock_guard<SpinLock> g(lock_);
    cached = reinterpret_cast<char*>(free_[c]);
    for (int i = large(size) ? idle_count_ - 1 : -1; i >= 0 && !cached; --i)
      if (idle_[i].size_class == c) cached = idle_[i].p;
  }
  return !cached || (large(size) && !filled(cached, size));
}

void MemoryPool::release(char* p, size_t bytes) {
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

int64_t MemoryPool::due() const {
  const int64_t since = idle_since_.load(std::memory_order_seq_cst);
  return since == kNever ? kNever : since + PoolPolicy::idle_ns;
}

void MemoryPool::release_after(char* p, size_t bytes, std::vector<Event*> last_uses) {
  for (Event* e : last_uses) e->unref();  // no device uses memory of the host's own pools by itself
  release(p, bytes);
}

void MemoryPool::trim() {
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

PoolStats MemoryPool::stats() {
  lock_.lock();
  PoolStats s{in_use_, cached_, peak_, limit_, hits_, misses_};
  lock_.unlock();
  return s;
}

int MemoryPool::size_class(size_t bytes) {
  if (bytes <= 1024) return bytes ? static_cast<int>((bytes - 1) / 64) : 0;
  const int top = 63 - __builtin_clzll(bytes - 1);  // 2^top < bytes <= 2^(top+1)
  const int step = static_cast<int>((bytes - 1) >> (top - 2)) & 3;
  return 16 + 4 * (top - 10) + step;
}

size_t MemoryPool::class_bytes(int c) {
  if (c < 16) return 64 * (static_cast<size_t>(c) + 1);
  const int top = (c - 16) / 4 + 10;
  return (size_t(1) << top) + (static_cast<size_t>((c - 16) % 4) + 1) * (size_t(1) << (top - 2));
}

bool MemoryPool::reserve(size_t size) {
  if (limit_ && in_use_ + asked_ + size > limit_) return false;
  asked_ += size;
  return true;
}

void MemoryPool::settle(size_t size, bool granted) {
  asked_ -= size;
  if (granted) grew(size);
}

void MemoryPool::grew(size_t size) {
  in_use_ += size;
  if (in_use_ > peak_) peak_ = in_use_;
}

void MemoryPool::system_free(char* p, size_t size) {
  if (mapped(size)) munmap(p, size);
  else std::free(p);
}

char* MemoryPool::system_allocate(size_t size) {
  void* p = nullptr;
  if (mapped(size)) return map(size);
  return posix_memalign(&p, kAlign, size) ? nullptr : static_cast<char*>(p);
}

void MemoryPool::put_idle(Idle block) {
  idle_[idle_count_++] = block;
  // In one order with the engine's alarm: either who sets it now sees that the last one is over, or who is
  // called by that one sees this block.
  idle_since_.store(idle_[0].since, std::memory_order_seq_cst);
}

char* MemoryPool::take_idle(int i) {
  char* const p = idle_[i].p;
  std::move(idle_ + i + 1, idle_ + idle_count_, idle_ + i);
  idle_count_--;
  idle_since_.store(idle_count_ ? idle_[0].since : kNever, std::memory_order_relaxed);
  return p;
}

void MemoryPool::give_back(int64_t since) {
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

bool MemoryPool::filled(const char* p, size_t size) {
#ifndef __linux__
  return true;  // elsewhere MADV_DONTNEED doesn't promise zeros
#else
  constexpr int kLooks = 8;
  int there = 0;
  for (int i = 0; i < kLooks; ++i) {
    unsigned char in_core = 1;
    const size_t at = size / kLooks * static_cast<size_t>(i) / 4096 * 4096;
    there += mincore(const_cast<char*>(p) + at, 4096, &in_core) != 0 || (in_core & 1);
  }
  return there > kLooks / 2;
#endif
}

char* MemoryPool::reuse(int c, bool big) {
  if (big) {
    for (int i = idle_count_ - 1; i >= 0; --i)
      if (idle_[i].size_class == c) return take_idle(i);
    return nullptr;
  }
  Free* const p = free_[c];
  if (p) free_[c] = p->next;
  return reinterpret_cast<char*>(p);
}

char* MemoryPool::get(size_t bytes, bool* zeroed) {
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

char* MemoryPool::map(size_t size) {
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

}  // namespace lazyarray
