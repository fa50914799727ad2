// transfer(): bytes between the host and a GPU, or between GPUs, on the thread's own stream.
#include "lazy/cuda/transfer.h"

namespace lazyarray::cuda {

Staging::~Staging() {
  if (forked()) return;
  for (Half& h : halves_) {
    wait(h);
    if (!h.data || gpus().failed()) continue;  // freeing waits for the devices
    Entered here(*gpus().any());
    driver().HostFree(h.data);
  }
}

Error* Staging::to_device(Pointer to, const char* from, size_t n, const Stream& stream) {
  Entered here(*stream.gpu);
  for (size_t done = 0; done < n; done += kPiece) {
    Half* h = nullptr;
    if (Error* e = next(stream, &h)) return e;
    const size_t piece = std::min(kPiece, n - done);
    std::memcpy(h->data, from + done, piece);
    if (Error* e = driver().check("cuMemcpyHtoDAsync",
                                  driver().CopyToDevice(to + done, h->data, piece, stream.raw)))
      return e;
    Error* error = nullptr;
    h->busy = stream.gpu->record(stream, &error);
    if (error) return error;
  }
  return nullptr;
}

Error* Staging::from_device(char* to, Pointer from, size_t n, const Stream& stream) {
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
                                    driver().CopyFromDevice(h->data, from + done, piece, stream.raw)))
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

Error* Staging::wait(Half& h) {
  if (!h.busy) return nullptr;
  Error* error = nullptr;
  CudaStreams().wait({h.busy}, nullptr, nullptr, &error);
  h.busy->unref();
  h.busy = nullptr;
  return error;
}

Error* Staging::next(const Stream& stream, Half** out) {
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

Staging& staging() {
  static thread_local Staging s;
  return s;
}

Error* transfer(Instr& in, const Stream& stream) {
  const lazyarray::Operand &from = in.ops[0], &to = in.ops[1];
  char* const source = from.chunk->data + from.offset;
  char* const target = to.chunk->data + to.offset;
  const size_t n = static_cast<size_t>(in.bytes);
  if (n == 0) return nullptr;
  Entered here(*stream.gpu);
  if (is_gpu(from.chunk->device) && is_gpu(to.chunk->device)) {
    Gpu* other = gpus().find(from.chunk->device.id);
    return driver().check("cuMemcpyPeerAsync",
                          driver().CopyPeer(reinterpret_cast<Pointer>(target), stream.gpu->context,
                                            reinterpret_cast<Pointer>(source), other->context, n, stream.raw));
  }
  if (is_gpu(to.chunk->device)) {
    if (!is_pinned(*from.chunk))
      return staging().to_device(reinterpret_cast<Pointer>(target), source, n, stream);
    return driver().check("cuMemcpyHtoDAsync",
                          driver().CopyToDevice(reinterpret_cast<Pointer>(target), source, n, stream.raw));
  }
  if (!is_pinned(*to.chunk))
    return staging().from_device(target, reinterpret_cast<Pointer>(source), n, stream);
  return driver().check("cuMemcpyDtoHAsync",
                        driver().CopyFromDevice(target, reinterpret_cast<Pointer>(source), n, stream.raw));
}

}  // namespace lazyarray::cuda
