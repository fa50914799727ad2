// hosted(): runs an instruction of a GPU on the host, with NumPy: what there is no kernel for.
#include "lazy/cuda/hosted.h"

#include "lazy/space.h"

namespace lazyarray::cuda {

Hosted::~Hosted() {
  each([&](Chunk*& c) {
    for (const Copy& copy : copies_)
      if (c == copy.host) c = copy.device;
  });
  for (const Copy& copy : copies_) copy.host->unref();
}

Error* Hosted::run(Backend& host) {
  for (int k = 0; k < in_.nop; ++k)
    if (Chunk* c = in_.ops[k].chunk)
      if (Error* e = meet(c, k)) return e;
  for (const Copy& copy : copies_)
    if (Error* e = fetch(copy)) return e;
  each([&](Chunk*& c) {
    for (const Copy& copy : copies_)
      if (c == copy.device) c = copy.host;
  });
  if (Error* e = host.run(in_, nullptr)) return e;
  for (const Copy& copy : copies_)
    if (copy.written)
      if (Error* e = staging().to_device(reinterpret_cast<Pointer>(copy.device->data + copy.low),
                                         copy.host->data + copy.low, copy.high - copy.low, stream_))
        return e;
  return nullptr;
}

Error* Hosted::meet(Chunk* c, int k) {
  const bool written = in_.writes(k) && !lazy(c)->resource;
  npy_intp low, high;
  extent(k, low, high);
  for (Copy& copy : copies_)
    if (copy.device == c) {
      copy.low = std::min(copy.low, low);
      copy.high = std::max(copy.high, high);
      copy.written |= written;
      return nullptr;
    }
  Chunk* host = host_chunk_(c->nbytes);
  if (!host)
    return new Error(Error::MEMORY, "unable to allocate " + std::to_string(c->nbytes) +
                                        " bytes on the host for an operation that no GPU has");
  copies_.push_back({c, host, low, high, written});
  return nullptr;
}

void Hosted::extent(int k, npy_intp& low, npy_intp& high) const {
  const Kernel::Kind kind = in_.kernel->kind;
  if (in_.py) {
    const View& v = in_.py->views[k];
    v.layout.extent(info(v.dtype).size, low, high);
  } else if (kind == Kernel::ELEMENTWISE || kind == Kernel::REDUCE) {
    span_of(in_, k).extent(low, high);
  } else {
    low = 0;
    high = in_.ops[k].chunk->nbytes;
  }
}

Error* Hosted::fetch(const Copy& copy) {
  Chunk* c = copy.device;
  if (lazy(c)->resource || copy.low == copy.high) return nullptr;
  if (!c->data)  // nobody wrote it
    return allocate(c);
  return staging().from_device(copy.host->data + copy.low, reinterpret_cast<Pointer>(c->data + copy.low),
                               copy.high - copy.low, stream_);
}

}  // namespace lazyarray::cuda
