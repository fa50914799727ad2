// Chunk: a block of memory that is an engine variable, on one device.
#pragma once
#include <cstdint>
#include <map>

#include "engine.h"
#include "pool.h"

namespace lazyarray {

class ChunkStore;

// The memory exists from the first write on (`data` is null before): an output that nobody reads
// is never allocated. Counted references are held by every array handle and every recorded
// instruction, so the last drop comes after the last use and frees at once, in whatever thread:
// that is the deferred deletion, with nothing to push.
//
// `handles` counts the references that Python can reach. Once it is zero no new use can be
// recorded, so an output with none left when its segment is planned is a temporary.
//
// What the rooms above keep of a chunk lies in the same object, in a class of theirs (ChunkStore::make).
class Chunk : public Var {
 public:
  // First what a single element's life asks for, with its value after it (`small_`): loops over elements that
  // are kept wait for memory, a cache line at a time.
  bool published = false;            // its memory is listed in ChunkStore::published_
  bool taken = false;                // the memory is the owner's no more: see take_over()
  bool pinned = false;               // counted in Engine::pending_bytes: see pin(); GIL, or nobody else knows of it
  char* data = nullptr;              // set once, by allocate()
  size_t nbytes = 0;
  Device device;
  void (*drop_owner)(void*) = nullptr;
  uint64_t born = 0;                 // when it was created, by ChunkStore::births
  ChunkStore* store = nullptr;
  std::atomic<int32_t> handles{0};

  // Single elements and the like have their memory in the chunk itself: no pool is asked.
  static constexpr size_t kSmall = 64;
  static constexpr size_t kPinned = 1024;

 private:
  alignas(16) char small_[kSmall];

 public:
  void* owner = nullptr;             // whoever owns foreign memory, given to `drop_owner`
  MemoryPool* pool = nullptr;

  // Whether no device but the host's processors ever touches the memory.
  bool plain() const { return device.plain(); }

  // Whether the two have memory in common.
  bool meets(const Chunk& o) const { return data < o.data + o.nbytes && o.data < data + nbytes; }

  explicit Chunk(Engine* e) : Var(e) {}

  // False if there is no memory. Two readers of memory that nobody wrote (la.empty) may both be
  // the first: one block is kept.
  // `for_all`: whoever asks is no op, and others than its variable's next op may use the memory.
  bool allocate(bool for_all = false) {
    if (__atomic_load_n(&data, __ATOMIC_ACQUIRE)) return true;
    char* fresh = for_all ? pool->allocate_for_all(nbytes) : pool->allocate(nbytes);
    if (!fresh) return false;
    char* none = nullptr;
    if (!__atomic_compare_exchange_n(&data, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      pool->release_used(fresh, nbytes);  // its stream may not be through with its last uses
    return true;
  }
  // The same, of the host's own memory; `*zeroed`: it is all zeros, and nobody has to write them.
  bool allocate_zeroed(bool* zeroed);
  // Makes memory that others allocated the chunk's own, which has none yet; `keeper` is given to `drop` when it
  // goes. False if the limit refuses.
  bool take_over(char* p, void* keeper, void (*drop)(void*));
  // Makes memory that was shared with others, who have let go of it, the chunk's own. False if the limit refuses.
  bool own();
  // Whether the memory is somebody else's.
  bool foreign() const { return owner && !taken; }
  void add_handle();
  // Before anybody else knows of the chunk: makes the creator's reference a handle.
  void adopt_handle() { handles.store(1, std::memory_order_relaxed); }
  // With the GIL held, as its Python object dies.
  void drop_handle() {
    // The last reference: nobody is left who could make another, but for find().
    if (refs.load(std::memory_order_acquire) == 1 && !published) return dispose_with_gil();
    end_handle();
    unref();
  }
  // With the GIL held; the reference is the caller's to drop.
  void end_handle() {
    if (handles.fetch_sub(1, std::memory_order_relaxed) == 1) last_handle_dropped();
  }

 protected:
  ~Chunk() override { free_memory(false); }
  virtual void last_handle_dropped() {}  // with the GIL
  // Counts the memory of what Python has let go of, and pending ops read, until it is freed: a loop that
  // reduces one large array after the other would run ahead of the workers without bound.
  void pin() {
    if (nbytes < kPinned || pinned || !readers.load(std::memory_order_acquire)) return;
    if (foreign() || !__atomic_load_n(&data, __ATOMIC_ACQUIRE)) return;  // an op's that hasn't run counts there
    pinned = true;
    hold(true);
  }
  void hold(bool on);
  virtual void clear();                  // makes it as new: with the GIL, if anything above knows of it

 private:
  friend class ChunkStore;
  void dispose() override;
  void dispose_with_gil();
  void die();
  // `lent`: others know the memory, by us or we by them.
  void free_memory(bool lent);
};

// The pools, one for each device, and the free list of chunk objects.
class ChunkStore {
 public:
  explicit ChunkStore(Engine* e) : engine(e) {}
  Engine* const engine;
  uint64_t births = 0;  // how many chunks were created; GIL
  // Set by the rooms above, before there is any chunk.
  Chunk* (*make)(Engine*) = [](Engine* e) { return new Chunk(e); };
  MemoryPool* (*make_pool)(Device) = nullptr;  // of devices other than cpu(0), once a GPU is open

  // With one reference and no handle. The GIL is held.
  Chunk* create(size_t nbytes, Device device);
  // The same, where nobody could be told that there is no memory: a few chunks are kept for that, ...
  Chunk* create_surely(size_t nbytes, Device device) noexcept;
  // ... from here on; later, chunks that die take the places of those that were used.
  void lay_in();

  MemoryPool* pool(Device d);
  // Sees to it that large blocks of the host's memory go back to the system: see PoolPolicy. Not under the engine's lock.
  void watch_idle();
  int64_t idle_due() const { return main_.due(); }
  void tidy() { main_.tidy(); }
  void set_limit(uint64_t bytes);

  // How many zero-copy exports and imports live (see Var::exports), so that a recorder need not
  // look at each operand when there are none.
  std::atomic<int32_t> exports{0};
  void add_export(Chunk* c);
  void drop_export(Chunk* c);

  // Memory that left or entered the engine is known by its address, so that it has one variable
  // however often it is imported.
  void publish(Chunk* c);
  // The published chunk that holds [data, data + nbytes), with a reference; or null.
  Chunk* find(const char* data, size_t nbytes);
  void unpublish(Chunk* c);

 private:
  friend class Chunk;
  // Dead chunks, linked by `owner`: a few that the GIL guards, so that single elements come and go
  // without a lock, and those that other threads let go of.
  bool keep_spare(Chunk* c);
  bool keep(Chunk* c);
  SpinLock lock_;
  Chunk* free_ = nullptr;
  int free_count_ = 0;
  Chunk* spare_ = nullptr;
  int spare_count_ = 0;
  static constexpr int kReserve = 64;  // of the spare ones, for create_surely() alone
  bool in_need_ = false;               // whether it runs, and there was no memory
  MemoryPool main_;
  std::vector<std::pair<Device, MemoryPool*>> others_;
  uint64_t limit_ = 0;
  std::mutex published_mu_;
  std::multimap<const char*, Chunk*> published_;  // by the start of the memory
  size_t longest_ = 0;  // of all that were ever listed
  static constexpr int kLooked = 100;
};

inline void Chunk::dispose() {
  die();
  if (!store->keep(this)) delete this;
}
inline void Chunk::dispose_with_gil() {
  die();
  if (!store->keep_spare(this) && !store->keep(this)) delete this;
}
// Whoever drops the last reference: the engine, too, of what its operator used.
inline void Chunk::die() {
  clear();
  if (nbytes >= PoolPolicy::large) store->watch_idle();
}
inline void Chunk::hold(bool on) { store->engine->hold(on ? int64_t(nbytes) : -int64_t(nbytes)); }
inline void Chunk::clear() {
  if (pinned) hold(false);
  pinned = false;
  if (published) store->unpublish(this);
  const bool lent = exports.load(std::memory_order_relaxed) != 0;
  if (lent) store->exports.fetch_sub(exports.exchange(0));
  free_memory(lent);
  if (Footprint* f = footprint.load(std::memory_order_relaxed)) {  // nobody else is left to see it
    footprint.store(nullptr, std::memory_order_relaxed);
    delete f;
  }
  if (Error* e = error.load(std::memory_order_relaxed)) {
    error.store(nullptr, std::memory_order_relaxed);
    e->unref();
  }
  version.store(0, std::memory_order_relaxed);
  issued = 0;
  deleted.store(false, std::memory_order_relaxed);
  handles.store(0, std::memory_order_relaxed);
  written_by = 0;
}

}  // namespace lazyarray
