// transfer(): bytes between the host and a GPU, or between GPUs, on the thread's own stream.
#pragma once
#include "lazy/cuda/memory.h"
#include "lazy/instr.h"

namespace lazyarray::cuda {

// Two blocks of pinned memory of a thread: while the device copies the one, the host copies the other.
class Staging {
 public:
  static constexpr size_t kPiece = size_t(4) << 20;
  ~Staging();

  Error* to_device(Pointer to, const char* from, size_t n, const Stream& stream);

  // Returns when all of it is there.
  Error* from_device(char* to, Pointer from, size_t n, const Stream& stream);

 private:
  struct Half {
    char* data = nullptr;
    Event* busy = nullptr;
  };
  static Error* wait(Half& h);
  // The half that was used first, once nobody copies it any more.
  Error* next(const Stream& stream, Half** out);
  Half halves_[2];
  int turn_ = 0;
};

Staging& staging();

// A TRANSFER: the bytes of the one operand, which lie together, to those of the other.
Error* transfer(Instr& in, const Stream& stream);

}  // namespace lazyarray::cuda
