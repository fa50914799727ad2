// Held: counted references to chunks, which end with the list.
#pragma once
#include <vector>

#include "storage/chunk.h"

namespace lazyarray {

// An instruction that is being recorded borrows its chunks from the caller's arrays. Before the caller lets go of the GIL
// it holds them: another thread, or a finalizer, may give these arrays other memory (`resize`).
struct Held {
  std::vector<Chunk*> chunks;

  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    for (Chunk* c : chunks) c->unref();
  }

  void add(Chunk* c) {
    chunks.push_back(c);  // or it throws
    c->ref();
  }
};

}  // namespace lazyarray
