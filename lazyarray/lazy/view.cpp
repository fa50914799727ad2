// View: the chunk of a number that was alone.
#include "lazy/view.h"

namespace lazyarray {

ChunkStore* View::home = nullptr;

// As the chunk would be, had it been made with the number.
Chunk* View::settle() const {
  Chunk* c = home->create_surely(itemsize(), Device());
  std::memcpy(&c->born, inline_bytes() + kValue, sizeof c->born);
  std::memcpy(c->data, inline_bytes(), itemsize());
  c->adopt_handle();
  written_once(c);
  const_cast<View*>(this)->set_chunk(c);
  return c;
}

}  // namespace lazyarray
