// View: a part of a chunk seen as an array; and a scalar's value, as long as nobody asks for its chunk.
#pragma once
#include <cstddef>
#include <cstring>
#include <utility>

#include "lazy/dtype.h"
#include "lazy/layout.h"
#include "lazy/lazy_chunk.h"

namespace lazyarray {

// Whether the memory can be read (or written) now, with nothing to be told to anybody. (A worker may be giving
// memory to what it is going to read or write: see Chunk::allocate.)
inline bool at_hand(const Chunk* c, bool write) {
  return __atomic_load_n(&c->data, __ATOMIC_ACQUIRE) && (write ? c->idle() : c->readable()) && c->plain() && !c->error.load() && !c->deleted.load();
}

// Whoever has a view counts the chunk's reference.
//
// A number that was computed at the call is `alone`: its value lies in the view, in place of the lengths and
// steps that it doesn't have, and there is no chunk. It is on cpu(0), complete, and its version is 1. Most
// numbers are read, computed with, stored and dropped so. Whoever asks for the chunk (an instruction, an export,
// autograd, `x.var`) has it made then, by chunk(), and it's a chunk like any other from there on. Copies of a
// view are never alone. The GIL guards all of it: no view that is alone is known to a worker.
class View {
  Chunk* chunk_ = nullptr;

 public:
  int dtype = f8;
  bool readonly = false;  // as NumPy's flag: a broadcast view, a diagonal, and views of those
  bool detached = false;  // autograd takes its values for constants
  bool drawn : 1;         // a scalar that NumPy gives as a Python number, and so prints as one; no copy is
  bool made_of : 1;       // made of another array, on its memory; no copy is known to be

 private:
  bool alone_ = false;

 public:
  Layout layout;

  View() : drawn(false), made_of(false) {}
  View(const View& o) : View() { *this = o; }
  View(View&& o) : View() { *this = o; }
  View& operator=(const View& o) {
    chunk_ = o.chunk();
    alone_ = false;
    dtype = o.dtype;
    readonly = o.readonly;
    detached = o.detached;
    drawn = false;
    layout = o.layout;
    return *this;
  }

  npy_intp itemsize() const { return info(dtype).size; }
  bool alone() const { return alone_; }
  Chunk* chunk() const { return __builtin_expect(alone_, 0) ? settle() : chunk_; }
  void set_chunk(Chunk* c) {
    chunk_ = c;
    alone_ = false;
  }
  // Makes it a number of its dtype, whose value the caller writes to elements().
  void stand_alone() {
    chunk_ = nullptr;
    alone_ = true;
    layout.resize(0);
    layout.offset = 0;
    const uint64_t born = ++home->births;
    std::memcpy(inline_bytes() + kValue, &born, sizeof born);
  }
  // Where element [0, ..., 0] is. There may be no memory yet: see has_memory().
  char* elements() const { return alone_ ? inline_bytes() : chunk_->data + layout.offset; }
  bool has_memory() const { return alone_ || chunk_->data; }
  Device device() const { return alone_ ? Device() : chunk_->device; }
  bool on_host() const { return alone_ || chunk_->device.on_host(); }
  // Whether the elements can be read now, by the host, with nothing to be told to anybody.
  bool at_hand() const { return alone_ || lazyarray::at_hand(chunk_, false); }
  // Whether they can be read now, and are on cpu(0).
  bool near() const { return alone_ || (lazyarray::at_hand(chunk_, false) && chunk_->device == Device()); }

  // Whether a value in an object that has the view there is aligned as the loops want it.
  static bool aligns(size_t at) { return (at + offsetof(View, layout) + Layout::inline_at()) % 16 == 0; }
  // Whether the two lie in one memory: in one chunk, or in two of a memory of others whose owner tells nothing of it.
  bool same_memory(const View& o) const {
    if (alone_ || o.alone_) return this == &o;
    return chunk_ == o.chunk_ || (chunk_->published && o.chunk_->published && chunk_->meets(*o.chunk_));
  }
  // In one memory: how far the other's begins behind this one's.
  npy_intp ahead(const View& o) const { return alone_ || chunk_ == o.chunk_ ? 0 : o.chunk_->data - chunk_->data; }
  bool same_view(const View& o) const { return same_memory(o) && !ahead(o) && layout.same_view(o.layout); }
  bool may_overlap(const View& o) const { return lazyarray::may_overlap(span(0), o.span(ahead(o))); }

  static ChunkStore* home;  // where chunks are made

 private:
  static constexpr int kValue = 32;  // the largest: complex long double; the number of its birth comes after it
  static_assert(kValue + sizeof(uint64_t) <= Layout::kInlineBytes, "a value and a number");
  char* inline_bytes() const { return const_cast<Layout&>(layout).inline_bytes(); }
  Chunk* settle() const;  // makes the chunk
  Span span(npy_intp from) const {
    return Span{layout.ndim, layout.shape(), layout.strides(), layout.offset + from, itemsize()};
  }
};

// A view that counts as a handle of its chunk, which is dropped with it: in any thread that has the GIL, also
// inside the garbage collector and at exit. Only counters and free lists are touched.
class HeldView : public View {
 public:
  ~HeldView() { let_go(); }
  void let_go() {
    if (alone()) return;
    if (Chunk* c = chunk()) leave(c);
    set_chunk(nullptr);
  }
  void leave(Chunk* c) const {
    if (lazy(c)->owner == this) lazy(c)->owner = nullptr;
    c->drop_handle();
  }
};

}  // namespace lazyarray
