// LazyChunk: a chunk, and what the rooms of lazy/ keep of it.
#pragma once
#include "storage/chunk.h"

namespace lazyarray {

struct Node;  // see tape.h
struct Memory;
class HeldView;

// The planner's, valid for one plan. Guarded by Recorder::push_mu_.
struct PlanNotes {
  uint64_t plan = 0;
  int last = -1, last_write = -1;  // Fuser's: the newest of the chunk's entries, the stage that wrote it last;
                                   // then Scheduler's: the youngest bundle that uses it, and that writes it
  int group = -1, index = -1;      // a number that the chunk has within some group: see new_mark()
  bool temporary = false;          // lives and dies in one pass, and never gets memory

  void begin(uint64_t p) {
    if (plan == p) return;
    *this = PlanNotes();
    plan = p;
  }
};

// All chunks are such once a recorder lives (teach_store).
class LazyChunk final : public Chunk {
 public:
  // In the cache line of Chunk's last fields, which are written as a chunk is made and as it dies.
  bool at_once = false;    // its first value was computed at the call; GIL
  bool captured = false;   // a program uses it by reference; GIL
  bool immutable = false;  // memory of others, which lets nobody write it through us; GIL
  bool resource = false;   // RNG state and the like: no failure poisons it
  PlanNotes notes;
  // Autograd's, changed with the GIL held: who wrote it last, for as long as a new op can use it, and
  // what its nodes know the memory by.
  Node* node = nullptr;
  Memory* memory = nullptr;
  // The view in the first array that others were made from: what their `base` is, as long as it lives. GIL.
  const HeldView* owner = nullptr;

  // Whether autograd or a program knows it. GIL.
  bool noted() const { return captured || node || memory; }

  explicit LazyChunk(Engine* e) : Chunk(e) {}

 protected:
  void last_handle_dropped() override;
  void clear() override;
};

inline LazyChunk* lazy(Chunk* c) { return static_cast<LazyChunk*>(c); }
inline const LazyChunk* lazy(const Chunk* c) { return static_cast<const LazyChunk*>(c); }
// Counts the first write, the caller's, before anybody else knows of the chunk.
inline void written_once(Chunk* c) {
  lazy(c)->at_once = true;
  c->version.store(1, std::memory_order_relaxed);
  c->issued = 1;
}
inline PlanNotes& notes_of(Chunk* c) { return lazy(c)->notes; }
inline bool is_temporary(const Chunk* c) { return lazy(c)->notes.temporary; }
inline bool is_captured(const Chunk* c) { return lazy(c)->captured; }

}  // namespace lazyarray
