// Chunk: a block of memory that is an engine variable, on one device.
#include "storage/chunk.h"

#include <algorithm>

namespace lazyarray {

bool Chunk::allocate_zeroed(bool* zeroed) {
  *zeroed = false;
  if (data || !plain()) return allocate();
  data = pool->allocate_zeroed(nbytes, zeroed);  // only its next writer knows of it
  return data;
}

void Chunk::add_handle() {
  if (handles.fetch_add(1, std::memory_order_relaxed) == 0 && pinned) {  // found again by its memory
    pinned = false;
    hold(false);
  }
  ref();
}

bool Chunk::take_over(char* p, void* keeper, void (*drop)(void*)) {
  if (data || nbytes < PoolPolicy::taken || !plain() || !pool->take_in(nbytes)) return false;
  owner = keeper;
  drop_owner = drop;
  taken = true;
  __atomic_store_n(&data, p, __ATOMIC_RELEASE);
  return true;
}

bool Chunk::own() {
  if (!foreign() || !exports.load(std::memory_order_relaxed) || !plain() || !pool->take_in(nbytes)) return false;
  taken = true;
  store->drop_export(this);
  return true;
}

void Chunk::free_memory(bool lent) {
  if (data == small_) {
    data = nullptr;
    return;
  }
  Footprint* f = footprint.load(std::memory_order_acquire);
  if (drop_owner) {
    if (lent && f) f->wait();  // its owner knows nothing of our streams
    drop_owner(owner);
    if (taken) pool->let_go(nbytes);
  } else if (data) {
    if (lent) pool->release_lent(data, nbytes);
    else if (f) pool->release_after(data, nbytes, f->take());
    else pool->release(data, nbytes);
  }
  data = nullptr;
  drop_owner = nullptr;
  taken = false;
}

void ChunkStore::lay_in() {
  while (spare_count_ < kReserve) keep_spare(make(engine));
}

Chunk* ChunkStore::create_surely(size_t nbytes, Device device) noexcept {
  try {
    return create(nbytes, device);
  } catch (const std::bad_alloc&) {
  }
  in_need_ = true;
  Chunk* c = create(nbytes, device);  // with none left, the end
  in_need_ = false;
  return c;
}

Chunk* ChunkStore::create(size_t nbytes, Device device) {
  Chunk* c = spare_count_ > kReserve || in_need_ ? spare_ : nullptr;
  if (c) {
    spare_ = static_cast<Chunk*>(c->owner);
    spare_count_--;
  } else {
    lock_.lock();
    if ((c = free_)) {
      free_ = static_cast<Chunk*>(c->owner);
      free_count_--;
    }
    lock_.unlock();
  }
  if (!c) c = make(engine);
  else c->refs.store(1, std::memory_order_relaxed);
  c->owner = nullptr;
  c->store = this;
  c->nbytes = nbytes;
  c->born = ++births;
  c->data = nbytes <= Chunk::kSmall && device.plain() ? c->small_ : nullptr;
  c->device = device;
  c->pool = pool(device);
  return c;
}

MemoryPool* ChunkStore::pool(Device d) {
  // cpu(0) is nearly all there is; the others are found under the lock.
  if (d == Device()) return &main_;
  const std::lock_guard<SpinLock> g(lock_);
  for (auto& e : others_)
    if (e.first == d) return e.second;
  others_.reserve(others_.size() + 1);
  MemoryPool* fresh = make_pool ? make_pool(d) : new MemoryPool;
  fresh->set_limit(limit_);
  others_.emplace_back(d, fresh);
  return fresh;
}

void ChunkStore::watch_idle() {
  const int64_t due = main_.due();
  if (due != MemoryPool::kNever && !engine->stopped()) engine->alarm(due);
}

void ChunkStore::set_limit(uint64_t bytes) {
  limit_ = bytes;
  main_.set_limit(bytes);
}

void ChunkStore::add_export(Chunk* c) {
  c->exports.fetch_add(1, std::memory_order_relaxed);
  exports.fetch_add(1, std::memory_order_relaxed);
}

void ChunkStore::drop_export(Chunk* c) {
  c->exports.fetch_sub(1, std::memory_order_relaxed);
  exports.fetch_sub(1, std::memory_order_relaxed);
}

void ChunkStore::publish(Chunk* c) {
  std::lock_guard<std::mutex> g(published_mu_);
  if (c->published) return;
  published_.emplace(c->data, c);
  longest_ = std::max(longest_, c->nbytes);
  c->published = true;
}

Chunk* ChunkStore::find(const char* data, size_t nbytes) {
  std::lock_guard<std::mutex> g(published_mu_);
  // Parts of it may be listed as well, by those who met them first: these begin nearer. (Not all are looked at: a program
  // may hold a hundred thousand small buffers behind a large one, and ask for each.)
  auto it = published_.upper_bound(data);
  for (int looked = 0; it != published_.begin() && looked < kLooked; ++looked) {
    Chunk* c = (--it)->second;
    if (c->data + longest_ < data + nbytes) break;
    if (data + nbytes > c->data + c->nbytes) continue;
    // One that is being freed has no references, and waits for this lock to be unlisted.
    int32_t refs = c->refs.load(std::memory_order_relaxed);
    while (refs > 0)
      if (c->refs.compare_exchange_weak(refs, refs + 1, std::memory_order_acq_rel)) return c;
  }
  return nullptr;
}

void ChunkStore::unpublish(Chunk* c) {
  std::lock_guard<std::mutex> g(published_mu_);
  auto [it, end] = published_.equal_range(c->data);
  it = std::find_if(it, end, [c](const auto& listed) { return listed.second == c; });
  if (it != end) published_.erase(it);
  c->published = false;
}

bool ChunkStore::keep_spare(Chunk* c) {
  if (spare_count_ >= 256) return false;
  c->owner = spare_;
  spare_ = c;
  spare_count_++;
  return true;
}

bool ChunkStore::keep(Chunk* c) {
  lock_.lock();
  const bool kept = free_count_ < 4096;
  if (kept) {
    c->owner = free_;
    free_ = c;
    free_count_++;
  }
  lock_.unlock();
  return kept;
}

}  // namespace lazyarray
