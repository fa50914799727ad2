// GpuPool and PinnedPool: memory that streams use, reused as soon as they are through with it.
#include "lazy/cuda/memory.h"

#include <algorithm>

namespace lazyarray::cuda {

MemoryHooks& memory_hooks() {
  static MemoryHooks h;
  return h;
}

GpuPool::GpuPool(int id)
    : id_(id) {
  const Gpu* gpu = gpus().find(id);
  cache_limit_ = look_at_ = gpu ? gpu->memory / 2 : 0;
}

void GpuPool::release_after(char* p, size_t bytes, std::vector<Event*> last_uses) {
  if (forked()) return;
  const int c = size_class(bytes);
  const size_t size = class_bytes(c);
  bool full;
  {
    std::lock_guard<std::mutex> g(mu_);
    in_use_ -= size;
    cached_ += size;
    auto& list = free_[c];
    const auto above = [](const Block& b, const char* data) { return b.data < data; };
    list.insert(std::lower_bound(list.begin(), list.end(), p, above), {p, std::move(last_uses)});
    full = cached_ > look_at_;
  }
  if (full) give_back(false);
}

void GpuPool::release_used(char* p, size_t bytes) {
  std::vector<Event*> all;
  Error* ignored = nullptr;  // without an event nothing is under way
  if (Gpu* gpu = gpus().find(id_)) gpu->record_all(all, &ignored);
  if (ignored) ignored->unref();
  release_after(p, bytes, std::move(all));
}

void GpuPool::release_lent(char* p, size_t bytes) {
  constexpr int kTries = 1000;  // of a millisecond: another library captures a stream
  Gpu* gpu = gpus().find(id_);
  for (int i = 0; gpu && !forked(); ++i) {
    Error* error = gpu->synchronize();
    if (!error) break;
    error->unref();
    if (gpu->failed()) break;
    if (i == kTries) return;  // nobody gets what others may still use
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  release_after(p, bytes, {});
}

void GpuPool::trim() {
  if (forked()) return;
  give_back(true);
  memory_hooks().reclaim(id_);
}

PoolStats GpuPool::stats() {
  std::lock_guard<std::mutex> g(mu_);
  return {in_use_, cached_, peak_, limit_, hits_, misses_};
}

char* GpuPool::get(size_t bytes, bool for_all) {
  if (bytes > kMost) return nullptr;
  Gpu* gpu = gpus().find(id_);
  Error* error = nullptr;
  Stream* stream = gpu ? stream_on(gpu, &error) : nullptr;
  if (error) error->unref();
  if (!stream) return nullptr;
  const int c = size_class(bytes);
  const size_t size = class_bytes(c);
  constexpr uint32_t kNone = 0;  // the number of no stream
  // Out of memory: first all that is on its way back comes back. Some of it may be held yet by workers that
  // let go of a completed op's things: they get moments to.
  for (int nap : {-1, 0, 1, 10}) {
    const bool again = nap >= 0;
    if (again) {
      std::this_thread::sleep_for(std::chrono::milliseconds(nap));
      trim();
    }
    bool crowded;
    {
      std::lock_guard<std::mutex> g(mu_);
      if (char* p = reuse(c, for_all ? kNone : stream->number)) {
        cached_ -= size;
        hits_++;
        grew(size);
        return p;
      }
      misses_ += !again;
      if (!reserve(size)) continue;
      crowded = limit_ && in_use_ + asked_ + cached_ > limit_;
    }
    if (crowded) give_back(true);
    char* const p = ask(*stream, size);
    {
      std::lock_guard<std::mutex> g(mu_);
      settle(size, p != nullptr);
    }
    if (p) {
      // CuPy may have had it back with work of this stream left on it.
      if (for_all) gpu->synchronize(*stream);
      return p;
    }
    gpu->look();
    if (gpu->failed()) break;
  }
  return nullptr;
}

char* GpuPool::reuse(int c, uint32_t stream) {
  int looks = 0;
  for (size_t i = 0; i < free_[c].size(); ++i)
    if (usable(free_[c][i], stream, &looks)) return take(free_[c], i);
  return nullptr;
}

bool GpuPool::usable(const Block& b, uint32_t stream, int* looks) {
  for (Event* e : b.last_uses)
    if (e->stream != stream && ((looks && ++*looks > kLooks) || !e->done())) return false;
  return true;
}

char* GpuPool::take(std::vector<Block>& list, size_t i) {
  char* p = list[i].data;
  for (Event* e : list[i].last_uses) e->unref();
  list.erase(list.begin() + i);
  return p;
}

char* GpuPool::ask(const Stream& stream, size_t size) {
  void* owner = nullptr;
  char* p = memory_hooks().allocate(id_, stream.raw, size, &owner);
  if (!p) return nullptr;
  std::lock_guard<std::mutex> g(mu_);
  owners_[p] = owner;
  return p;
}

void GpuPool::give_back(bool all) {
  std::vector<Block> out;
  std::vector<void*> owners;
  {
    std::lock_guard<std::mutex> g(mu_);
    for (int c = 0; c < kClasses; ++c) {
      std::vector<Block> kept;
      for (Block& b : free_[c]) {
        if (!all && !usable(b, 0)) {
          kept.push_back(std::move(b));
          continue;
        }
        owners.push_back(owners_[b.data]);
        owners_.erase(b.data);
        cached_ -= class_bytes(c);
        out.push_back(std::move(b));
      }
      free_[c] = std::move(kept);
    }
    look_at_ = std::max(cache_limit_, cached_ + cached_ / 8);  // not at each block anew
  }
  CudaStreams waits;
  Error* ignored = nullptr;  // the device's, which every op meets
  for (Block& b : out) {
    waits.wait(b.last_uses, nullptr, nullptr, &ignored);
    for (Event* e : b.last_uses) e->unref();
  }
  if (ignored) ignored->unref();
  for (void* o : owners) graveyard().bury(o);
}

char* PinnedPool::allocate(size_t bytes) {
  if (forked()) return nullptr;
  settle(false);
  if (char* p = MemoryPool::allocate(bytes)) return p;
  return settle(true) ? MemoryPool::allocate(bytes) : nullptr;
}

void PinnedPool::release_after(char* p, size_t bytes, std::vector<Event*> last_uses) {
  if (forked()) return;
  std::lock_guard<std::mutex> g(mu_);
  leaving_.push_back({p, bytes, std::move(last_uses)});
}

void PinnedPool::trim() {
  if (forked()) return;
  settle(false);
  MemoryPool::trim();
}

char* PinnedPool::system_allocate(size_t size) {
  Gpu* gpu = gpus().any();  // it is pinned for all
  if (!gpu) return nullptr;
  Entered here(*gpu);
  void* p = nullptr;
  return driver().HostAlloc(&p, size, kPortable) ? nullptr : static_cast<char*>(p);
}

void PinnedPool::system_free(char* p, size_t) {
  if (forked()) return;
  Entered here(*gpus().any());
  driver().HostFree(p);
}

bool PinnedPool::settle(bool wait) {
  std::vector<Leaving> out;
  {
    std::lock_guard<std::mutex> g(mu_);
    size_t kept = 0;
    for (Leaving& l : leaving_) {
      bool over = true;
      for (Event* e : l.last_uses) over = over && (wait || e->done());
      if (over) out.push_back(std::move(l));
      else std::swap(leaving_[kept++], l);
    }
    leaving_.resize(kept);
  }
  CudaStreams waits;
  Error* ignored = nullptr;
  for (Leaving& l : out) {
    waits.wait(l.last_uses, nullptr, nullptr, &ignored);
    for (Event* e : l.last_uses) e->unref();
    release(l.data, l.bytes);
  }
  if (ignored) ignored->unref();
  return !out.empty();
}

}  // namespace lazyarray::cuda
