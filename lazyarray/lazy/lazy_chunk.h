// LazyChunk: a chunk, and what the rooms of lazy/ keep of it.
#pragma once
#include "storage/chunk.h"

namespace lazyarray {

struct Node;  // see tape.h
struct Memory;

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
  bool captured = false;  // a program uses it by reference; GIL
  PlanNotes notes;
  // Autograd's, changed with the GIL held: who wrote it last, for as long as a new op can use it, and
  // what its nodes know the memory by. Who sets one of them, or `captured`, sets `noted`.
  Node* node = nullptr;
  Memory* memory = nullptr;

  explicit LazyChunk(Engine* e) : Chunk(e) {}

 protected:
  void last_handle_dropped() override;
  void clear() override;
};

inline LazyChunk* lazy(Chunk* c) { return static_cast<LazyChunk*>(c); }
inline const LazyChunk* lazy(const Chunk* c) { return static_cast<const LazyChunk*>(c); }
inline PlanNotes& notes_of(Chunk* c) { return lazy(c)->notes; }
inline bool is_temporary(const Chunk* c) { return lazy(c)->notes.temporary; }
inline bool is_captured(const Chunk* c) { return lazy(c)->captured; }

}  // namespace lazyarray
