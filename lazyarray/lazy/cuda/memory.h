// GpuPool and PinnedPool: memory that streams use, reused as soon as they are through with it.
#pragma once
#include <unordered_map>
#include <vector>

#include "interpreter.h"
#include "lazy/cuda/gpu.h"

namespace lazyarray::cuda {

// What a pool needs of CuPy, which owns all device memory; each takes the GIL. Set when a GPU is opened.
struct MemoryHooks {
  // `bytes` from CuPy's pool, in the arena of the stream; null if there is none. `owner` keeps it.
  char* (*allocate)(int gpu, Stream_t stream, size_t bytes, void** owner) = nullptr;
  // Lets go of what Python still holds, and of what CuPy caches.
  void (*reclaim)(int gpu) = nullptr;
};
MemoryHooks& memory_hooks();

// A device's memory. It comes from CuPy's pool and stays cached here, by size class, so that a steady
// program asks nobody (and takes no GIL). A block that is let go of carries the events of its last uses:
// a stream may have it again at once if only its own work is left on it, any other once that is over. Of those
// that it may have it gets the first in memory: so a loop finds its arrays at the same addresses each time, and what
// it launches is a graph (see Loops).
//
// mu_ guards the lists and figures (the base's lock is not used): the device is asked about events under
// it, which may sleep for a moment. Python is asked, and waited for events, under no lock. What CuPy owns is
// never let go of here but buried, as chunks die under locks of the rooms above.
class GpuPool final : public MemoryPool {
 public:
  explicit GpuPool(int id);

  char* allocate(size_t bytes) override { return get(bytes, false); }
  char* allocate_for_all(size_t bytes) override { return get(bytes, true); }

  void release(char* p, size_t bytes) override { release_after(p, bytes, {}); }
  void release_after(char* p, size_t bytes, std::vector<Event*> last_uses) override;
  void release_used(char* p, size_t bytes) override;
  void release_lent(char* p, size_t bytes) override;

  // Waits for the blocks' last uses, and gives them back to CuPy, and what CuPy caches to the device.
  void trim() override;

  PoolStats stats() override;

 private:
  struct Block {
    char* data;
    std::vector<Event*> last_uses;
  };
  static constexpr int kLooks = 8;  // so often the device is asked for one block

  // `for_all`: for any stream at once.
  char* get(size_t bytes, bool for_all);

  // A block that the stream may use; with mu_.
  char* reuse(int c, uint32_t stream);
  static bool usable(const Block& b, uint32_t stream, int* looks = nullptr);
  static char* take(std::vector<Block>& list, size_t i);

  char* ask(const Stream& stream, size_t size);

  // Lets CuPy have the cached blocks again: all, once their last uses are over, or those where that is so.
  void give_back(bool all);

  const int id_;
  std::mutex mu_;
  std::vector<Block> free_[kClasses];  // by address
  std::unordered_map<char*, void*> owners_;
  uint64_t look_at_ = 0;  // from so much on, what is cached is looked through
};

// Host memory that devices copy from and to by themselves.
class PinnedPool final : public MemoryPool {
 public:
  bool pinned() const override { return true; }
  char* allocate(size_t bytes) override;
  void release_after(char* p, size_t bytes, std::vector<Event*> last_uses) override;
  void trim() override;

 protected:
  bool mapped(size_t) const override { return false; }
  char* system_allocate(size_t size) override;
  void system_free(char* p, size_t) override;

 private:
  struct Leaving {
    char* data;
    size_t bytes;
    std::vector<Event*> last_uses;
  };
  // Blocks whose last uses are over are free; with `wait` they come to be. Whether there were any.
  bool settle(bool wait);
  std::mutex mu_;  // guards leaving_
  std::vector<Leaving> leaving_;
};

}  // namespace lazyarray::cuda
