// hosted(): runs an instruction of a GPU on the host, with NumPy: what there is no kernel for.
#include "lazy/cuda/hosted.h"

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
      if (Error* e = fetch(c, k)) return e;
  each([&](Chunk*& c) {
    for (const Copy& copy : copies_)
      if (c == copy.device) c = copy.host;
  });
  if (Error* e = host.run(in_, nullptr)) return e;
  for (const Copy& copy : copies_)
    if (copy.written)
      if (Error* e = staging().to_device(reinterpret_cast<Pointer>(copy.device->data), copy.host->data,
                                         copy.device->nbytes, stream_))
        return e;
  return nullptr;
}

Error* Hosted::fetch(Chunk* c, int k) {
  const bool written = in_.writes(k) && !lazy(c)->resource;
  for (Copy& copy : copies_)
    if (copy.device == c) {
      copy.written |= written;
      return nullptr;
    }
  Chunk* host = host_chunk_(c->nbytes);
  if (!host)
    return new Error(Error::MEMORY, "unable to allocate " + std::to_string(c->nbytes) +
                                        " bytes on the host for an operation that no GPU has");
  copies_.push_back({c, host, written});
  if (lazy(c)->resource || c->nbytes == 0) return nullptr;
  if (!c->data)  // nobody wrote it
    return allocate(c);
  return staging().from_device(host->data, reinterpret_cast<Pointer>(c->data), c->nbytes, stream_);
}

}  // namespace lazyarray::cuda
