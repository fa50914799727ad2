// GpuPool and PinnedPool: memory that streams use, reused as soon as they are through with it.
#pragma once
#include <unordered_map>
#include <vector>

#include "engine/pyrefs.h"
#include "lazy/cuda/gpu.h"

namespace lazyarray::cuda {

// What a pool needs of CuPy, which owns all device memory; each takes the GIL. Set when a GPU is opened.
struct MemoryHooks {
  // `bytes` from CuPy's pool, in the arena of the stream; null if there is none. `owner` keeps it.
  char* (*allocate)(int gpu, Stream_t stream, size_t bytes, PyObject** owner) = nullptr;
  // Lets go of what Python still holds, and of what CuPy caches.
  void (*reclaim)(int gpu) = nullptr;
};
inline MemoryHooks& memory_hooks() {
  static MemoryHooks h;
  return h;
}

// A device's memory. It comes from CuPy's pool and stays cached here, by size class, so that a steady
// program asks nobody (and takes no GIL). A block that is let go of carries the events of its last uses:
// a stream may have it again at once if only its own work is left on it, any other once that is over.
//
// lock_ guards the lists; the device is asked about events under it, which takes a microsecond.
class GpuPool final : public MemoryPool {
 public:
  explicit GpuPool(int id) : id_(id) {
    Gpu* gpu = gpus().find(id);
    size_t free = 0, total = 0;
    if (gpu) {
      Entered here(*gpu);
      driver().GetInfo(&free, &total);
    }
    cache_limit_ = total / 2;
  }

  char* allocate(size_t bytes) override {
    if (bytes > kMost) return nullptr;
    Gpu* gpu = gpus().find(id_);
    Error* error = nullptr;
    Stream* stream = gpu ? stream_on(gpu, &error) : nullptr;
    if (error) error->unref();
    if (!stream) return nullptr;
    const int c = size_class(bytes);
    const size_t size = class_bytes(c);
    lock_.lock();
    if (char* p = reuse(c, stream->number)) {
      cached_ -= size;
      hits_++;
      grew(size);
      lock_.unlock();
      return p;
    }
    misses_++;
    const bool refused = limit_ && in_use_ + size > limit_;
    if (!refused) grew(size);
    const bool crowded = limit_ && in_use_ + cached_ > limit_;
    lock_.unlock();
    if (refused) return nullptr;
    take_back_lent(*gpu);
    if (crowded) trim();
    char* p = ask(*stream, size);
    if (!p) {
      // Out of memory: first all that is on its way back comes back.
      memory_hooks().reclaim(id_);
      trim();
      memory_hooks().reclaim(id_);
      p = ask(*stream, size);
    }
    if (!p) {
      lock_.lock();
      in_use_ -= size;
      lock_.unlock();
    }
    return p;
  }
  void release(char* p, size_t bytes) override { release_after(p, bytes, {}); }
  void release_after(char* p, size_t bytes, std::vector<Event*> last_uses) override {
    const int c = size_class(bytes);
    const size_t size = class_bytes(c);
    lock_.lock();
    in_use_ -= size;
    cached_ += size;
    free_[c].push_back({p, std::move(last_uses)});
    const bool full = cached_ > cache_limit_;
    lock_.unlock();
    if (full) trim();
  }

  // What libraries of others launched on it is over when the device is through with all: that is waited
  // for when more memory is needed.
  void release_lent(char* p, size_t bytes) override {
    lock_.lock();
    lent_.push_back({p, bytes});
    lock_.unlock();
  }
  void release_used(char* p, size_t bytes) override {
    std::vector<Event*> all;
    Error* ignored = nullptr;
    if (Gpu* gpu = gpus().find(id_)) gpu->record_all(all, &ignored);
    if (ignored) ignored->unref();
    release_after(p, bytes, std::move(all));
  }

  // Waits for the blocks' last uses, and gives them back to CuPy.
  void trim() override {
    if (Gpu* gpu = gpus().find(id_)) take_back_lent(*gpu);
    std::vector<Block> out;
    lock_.lock();
    for (auto& list : free_) {
      for (Block& b : list) out.push_back(std::move(b));
      list.clear();
    }
    cached_ = 0;
    std::vector<PyObject*> owners;
    for (Block& b : out) {
      owners.push_back(owners_[b.data]);
      owners_.erase(b.data);
    }
    lock_.unlock();
    CudaStreams waits;
    Error* ignored = nullptr;  // the device's, which every op meets
    for (Block& b : out) {
      waits.wait(b.last_uses, nullptr, nullptr, &ignored);
      for (Event* e : b.last_uses) e->unref();
    }
    if (ignored) ignored->unref();
    for (PyObject* o : owners) drop_ref(o);
  }

 private:
  struct Block {
    char* data;
    std::vector<Event*> last_uses;
  };
  struct Lent {
    char* data;
    size_t bytes;
  };
  static constexpr int kLooks = 8;

  void take_back_lent(Gpu& gpu) {
    std::vector<Lent> all;
    lock_.lock();
    all.swap(lent_);
    lock_.unlock();
    if (all.empty()) return;
    {
      Entered here(gpu);
      if (const int r = driver().Synchronize()) gpu.fail(r);
    }
    for (const Lent& l : all) release(l.data, l.bytes);
  }

  char* reuse(int c, uint32_t stream) {
    auto& list = free_[c];
    const int n = static_cast<int>(list.size());
    for (int i = n - 1; i >= std::max(0, n - kLooks); --i) {
      bool usable = true;
      for (Event* e : list[i].last_uses)
        if (e->stream != stream && !e->done()) {
          usable = false;
          break;
        }
      if (!usable) continue;
      char* p = list[i].data;
      for (Event* e : list[i].last_uses) e->unref();
      list.erase(list.begin() + i);
      return p;
    }
    // The oldest are likeliest to be through.
    if (n > kLooks) {
      for (Event* e : list[0].last_uses)
        if (e->stream != stream && !e->done()) return nullptr;
      char* p = list[0].data;
      for (Event* e : list[0].last_uses) e->unref();
      list.erase(list.begin());
      return p;
    }
    return nullptr;
  }
  char* ask(const Stream& stream, size_t size) {
    PyObject* owner = nullptr;
    char* p = memory_hooks().allocate(id_, stream.handle, size, &owner);
    if (!p) return nullptr;
    lock_.lock();
    owners_[p] = owner;
    lock_.unlock();
    return p;
  }

  const int id_;
  std::vector<Block> free_[kClasses];
  std::vector<Lent> lent_;
  std::unordered_map<char*, PyObject*> owners_;
};

// Host memory that devices copy from and to by themselves.
class PinnedPool final : public MemoryPool {
 public:
  bool pinned() const override { return true; }
  char* allocate(size_t bytes) override {
    settle();
    return MemoryPool::allocate(bytes);
  }
  void release_after(char* p, size_t bytes, std::vector<Event*> last_uses) override {
    std::lock_guard<std::mutex> g(mu_);
    leaving_.push_back({p, bytes, std::move(last_uses)});
  }
  void trim() override {
    settle();
    MemoryPool::trim();
  }

 protected:
  char* system_allocate(size_t size) override {
    for (int i = 0; i < Gpus::kMost; ++i)
      if (Gpu* gpu = gpus().find(i)) {  // any will do: it is pinned for all
        Entered here(*gpu);
        void* p = nullptr;
        return driver().HostAlloc(&p, size, kPortable) ? nullptr : static_cast<char*>(p);
      }
    return nullptr;
  }
  void system_free(char* p) override { driver().HostFree(p); }

 private:
  struct Leaving {
    char* data;
    size_t bytes;
    std::vector<Event*> last_uses;
  };
  // Blocks whose last uses are over are free.
  void settle() {
    std::lock_guard<std::mutex> g(mu_);
    size_t kept = 0;
    for (Leaving& l : leaving_) {
      bool over = true;
      for (Event* e : l.last_uses) over = over && e->done();
      if (!over) {
        std::swap(leaving_[kept++], l);
        continue;
      }
      for (Event* e : l.last_uses) e->unref();
      release(l.data, l.bytes);
    }
    leaving_.resize(kept);
  }
  std::mutex mu_;  // guards leaving_; taken before the pool's lock
  std::vector<Leaving> leaving_;
};

}  // namespace lazyarray::cuda
