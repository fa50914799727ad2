// hosted(): runs an instruction of a GPU on the host, with NumPy: what there is no kernel for.
#pragma once
#include <vector>

#include "lazy/cpu/run.h"
#include "lazy/cuda/transfer.h"

namespace lazyarray::cuda {

// Its operands' chunks are copied to the host, the instruction is told of the copies while it runs, and
// what it wrote is copied back. Always right, and as slow as two copies and a wait.
class Hosted {
 public:
  Hosted(Instr& in, const Stream& stream, Chunk* (*host_chunk)(size_t bytes))
      : in_(in), stream_(stream), host_chunk_(host_chunk) {}
  ~Hosted() {
    each([&](Chunk*& c) {
      for (const Copy& copy : copies_)
        if (c == copy.host) c = copy.device;
    });
    for (const Copy& copy : copies_) copy.host->unref();
  }
  Hosted(const Hosted&) = delete;

  Error* run(Runtime& rt) {
    for (int k = 0; k < in_.nop; ++k)
      if (Chunk* c = in_.ops[k].chunk)
        if (Error* e = fetch(c, k)) return e;
    each([&](Chunk*& c) {
      for (const Copy& copy : copies_)
        if (c == copy.device) c = copy.host;
    });
    if (Error* e = lazyarray::run(rt, in_)) return e;
    for (const Copy& copy : copies_)
      if (copy.written)
        if (Error* e = staging().to_device(reinterpret_cast<Pointer>(copy.device->data), copy.host->data,
                                           copy.device->nbytes, stream_))
          return e;
    return nullptr;
  }

 private:
  struct Copy {
    Chunk *device, *host;
    bool written;
  };
  template <class F>
  void each(F f) {
    for (int k = 0; k < in_.nop; ++k) f(in_.ops[k].chunk);
    if (in_.py)
      for (View& v : in_.py->views) f(v.chunk);
  }
  Error* fetch(Chunk* c, int k) {
    const bool written = in_.writes(k) && !c->resource;
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
    if (c->resource || c->nbytes == 0) return nullptr;
    if (!c->data)  // nobody wrote it
      return allocate(c);
    return staging().from_device(host->data, reinterpret_cast<Pointer>(c->data), c->nbytes, stream_);
  }

  Instr& in_;
  const Stream& stream_;
  Chunk* (*const host_chunk_)(size_t);
  std::vector<Copy> copies_;
};

}  // namespace lazyarray::cuda
