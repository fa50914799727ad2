// hosted(): runs an instruction of a GPU on the host, with NumPy: what there is no kernel for.
#pragma once
#include <vector>

#include "lazy/backend.h"
#include "lazy/cuda/transfer.h"

namespace lazyarray::cuda {

// What it uses of its operands' chunks is copied to the host, the instruction is told of the copies while
// it runs, and what it wrote is copied back. Always right, and as slow as two copies and a wait.
class Hosted {
 public:
  Hosted(Instr& in, const Stream& stream, Chunk* (*host_chunk)(size_t bytes))
      : in_(in), stream_(stream), host_chunk_(host_chunk) {}
  ~Hosted();
  Hosted(const Hosted&) = delete;

  Error* run(Backend& host);

 private:
  struct Copy {
    Chunk *device, *host;
    npy_intp low, high;  // of its bytes
    bool written;
  };
  template <class F>
  void each(F f) {
    for (int k = 0; k < in_.nop; ++k) f(in_.ops[k].chunk);
    if (in_.py)
      for (View& v : in_.py->views) {
        Chunk* c = v.chunk();
        f(c);
        v.set_chunk(c);
      }
  }
  // Notes that operand k is part of a chunk.
  Error* meet(Chunk* c, int k);
  // The bytes of its chunk that it uses: all of them, where only its loop knows.
  void extent(int k, npy_intp& low, npy_intp& high) const;
  Error* fetch(const Copy& copy);

  Instr& in_;
  const Stream& stream_;
  Chunk* (*const host_chunk_)(size_t);
  std::vector<Copy> copies_;
};

}  // namespace lazyarray::cuda
