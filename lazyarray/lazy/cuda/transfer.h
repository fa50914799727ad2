// transfer(): bytes between the host and a GPU, or between GPUs, on the thread's own stream.
#pragma once
#include "lazy/cuda/memory.h"
#include "lazy/instr.h"

namespace lazyarray::cuda {

// Two blocks of pinned memory of a thread: while the device copies the one, the host copies the other.
class Staging {
 public:
  static constexpr size_t kPiece = size_t(4) << 20;
  ~Staging() {
    if (forked()) return;
    for (Half& h : halves_) {
      wait(h);
      if (!h.data) continue;
      Entered here(*gpus().any());
      driver().HostFree(h.data);
    }
  }

  Error* to_device(Pointer to, const char* from, size_t n, const Stream& stream) {
    Entered here(*stream.gpu);
    for (size_t done = 0; done < n; done += kPiece) {
      Half* h = nullptr;
      if (Error* e = next(stream, &h)) return e;
      const size_t piece = std::min(kPiece, n - done);
      std::memcpy(h->data, from + done, piece);
      if (Error* e = driver().check("cuMemcpyHtoDAsync",
                                    driver().CopyToDevice(to + done, h->data, piece, stream.handle)))
        return e;
      Error* error = nullptr;
      h->busy = stream.gpu->record(stream, &error);
      if (error) return error;
    }
    return nullptr;
  }

  // Returns when all of it is there.
  Error* from_device(char* to, Pointer from, size_t n, const Stream& stream) {
    Entered here(*stream.gpu);
    Half* before = nullptr;
    size_t before_at = 0, before_n = 0;
    for (size_t done = 0; done < n || before; done += kPiece) {
      Half* h = nullptr;
      size_t piece = 0;
      if (done < n) {
        if (Error* e = next(stream, &h)) return e;
        piece = std::min(kPiece, n - done);
        if (Error* e = driver().check("cuMemcpyDtoHAsync",
                                      driver().CopyFromDevice(h->data, from + done, piece, stream.handle)))
          return e;
        Error* error = nullptr;
        h->busy = stream.gpu->record(stream, &error);
        if (error) return error;
      }
      if (before) {
        if (Error* e = wait(*before)) return e;
        std::memcpy(to + before_at, before->data, before_n);
      }
      before = h;
      before_at = done;
      before_n = piece;
    }
    return nullptr;
  }

 private:
  struct Half {
    char* data = nullptr;
    Event* busy = nullptr;
  };
  static Error* wait(Half& h) {
    if (!h.busy) return nullptr;
    Error* error = nullptr;
    CudaStreams().wait({h.busy}, nullptr, nullptr, &error);
    h.busy->unref();
    h.busy = nullptr;
    return error;
  }
  // The half that was used first, once nobody copies it any more.
  Error* next(const Stream& stream, Half** out) {
    Half& h = halves_[turn_ ^= 1];
    if (Error* e = wait(h)) return e;
    if (!h.data) {
      void* p = nullptr;
      if (Error* e = driver().check("cuMemHostAlloc", driver().HostAlloc(&p, kPiece, kPortable))) return e;
      h.data = static_cast<char*>(p);
    }
    *out = &h;
    return nullptr;
  }
  Half halves_[2];
  int turn_ = 0;
};

inline Staging& staging() {
  static thread_local Staging s;
  return s;
}

// A TRANSFER: the bytes of the one operand, which lie together, to those of the other.
inline Error* transfer(Instr& in, const Stream& stream) {
  const lazyarray::Operand &from = in.ops[0], &to = in.ops[1];
  char* const source = from.chunk->data + from.offset;
  char* const target = to.chunk->data + to.offset;
  const size_t n = static_cast<size_t>(in.bytes);
  if (n == 0) return nullptr;
  Entered here(*stream.gpu);
  if (from.chunk->device.is_gpu() && to.chunk->device.is_gpu()) {
    Gpu* other = gpus().find(from.chunk->device.id);
    return driver().check("cuMemcpyPeerAsync",
                          driver().CopyPeer(reinterpret_cast<Pointer>(target), stream.gpu->context,
                                            reinterpret_cast<Pointer>(source), other->context, n, stream.handle));
  }
  if (to.chunk->device.is_gpu()) {
    if (!is_pinned(*from.chunk))
      return staging().to_device(reinterpret_cast<Pointer>(target), source, n, stream);
    return driver().check("cuMemcpyHtoDAsync",
                          driver().CopyToDevice(reinterpret_cast<Pointer>(target), source, n, stream.handle));
  }
  if (!is_pinned(*to.chunk))
    return staging().from_device(target, reinterpret_cast<Pointer>(source), n, stream);
  return driver().check("cuMemcpyDtoHAsync",
                        driver().CopyFromDevice(target, reinterpret_cast<Pointer>(source), n, stream.handle));
}

}  // namespace lazyarray::cuda
