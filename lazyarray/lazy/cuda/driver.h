// Driver: the few functions of CUDA's driver library that run-time work needs, found when a GPU is opened.
#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "error.h"

namespace lazyarray::cuda {

// The driver is loaded by name, as CuPy does, so that nothing here needs CUDA to be built or imported.
// Names and types are those of cuda.h, whose ABI is stable: NVIDIA, "CUDA Driver API".
using Stream_t = void*;
using Event_t = void*;
using Function_t = void*;
using Context_t = void*;
using Graph_t = void*;
using GraphExec_t = void*;
using Pointer = unsigned long long;  // CUdeviceptr

constexpr int kSuccess = 0, kOutOfMemory = 2, kNotReady = 600, kCaptureForbids = 900;
constexpr int kRelaxed = 2;              // CU_STREAM_CAPTURE_MODE_RELAXED
constexpr unsigned kNonBlocking = 1;     // CU_STREAM_NON_BLOCKING: apart from the default stream
constexpr unsigned kDisableTiming = 2;   // CU_EVENT_DISABLE_TIMING
constexpr unsigned kPortable = 1;        // CU_MEMHOSTALLOC_PORTABLE
constexpr int kComputeMajor = 75, kComputeMinor = 76, kMultiprocessors = 16;

#define LAZYARRAY_CUDA_FUNCTIONS(F)                                                                       \
  F(Init, "cuInit", unsigned)                                                                             \
  F(DeviceGet, "cuDeviceGet", int*, int)                                                                  \
  F(DeviceGetCount, "cuDeviceGetCount", int*)                                                             \
  F(DeviceGetAttribute, "cuDeviceGetAttribute", int*, int, int)                                           \
  F(PrimaryRetain, "cuDevicePrimaryCtxRetain", Context_t*, int)                                           \
  F(SetCurrent, "cuCtxSetCurrent", Context_t)                                                             \
  F(GetCurrent, "cuCtxGetCurrent", Context_t*)                                                            \
  F(ExchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", int*)                                       \
  F(Synchronize, "cuCtxSynchronize")                                                                      \
  F(PriorityRange, "cuCtxGetStreamPriorityRange", int*, int*)                                             \
  F(StreamCreate, "cuStreamCreateWithPriority", Stream_t*, unsigned, int)                                 \
  F(StreamSynchronize, "cuStreamSynchronize", Stream_t)                                                   \
  F(StreamWaitEvent, "cuStreamWaitEvent", Stream_t, Event_t, unsigned)                                    \
  F(EventCreate, "cuEventCreate", Event_t*, unsigned)                                                     \
  F(EventRecord, "cuEventRecord", Event_t, Stream_t)                                                      \
  F(EventQuery, "cuEventQuery", Event_t)                                                                  \
  F(LaunchKernel, "cuLaunchKernel", Function_t, unsigned, unsigned, unsigned, unsigned, unsigned,         \
    unsigned, unsigned, Stream_t, void**, void**)                                                         \
  F(CopyToDevice, "cuMemcpyHtoDAsync_v2", Pointer, const void*, size_t, Stream_t)                         \
  F(CopyFromDevice, "cuMemcpyDtoHAsync_v2", void*, Pointer, size_t, Stream_t)                             \
  F(CopyPeer, "cuMemcpyPeerAsync", Pointer, Context_t, Pointer, Context_t, size_t, Stream_t)              \
  F(HostAlloc, "cuMemHostAlloc", void**, size_t, unsigned)                                                \
  F(HostFree, "cuMemFreeHost", void*)                                                                     \
  F(GetInfo, "cuMemGetInfo_v2", size_t*, size_t*)                                                         \
  F(CanAccessPeer, "cuDeviceCanAccessPeer", int*, int, int)                                               \
  F(EnablePeerAccess, "cuCtxEnablePeerAccess", Context_t, unsigned)                                       \
  F(ErrorName, "cuGetErrorName", int, const char**)                                                       \
  F(ErrorString, "cuGetErrorString", int, const char**)

// Since CUDA 11.4; without them nothing is a graph.
#define LAZYARRAY_CUDA_GRAPH_FUNCTIONS(F)                                                                 \
  F(BeginCapture, "cuStreamBeginCapture_v2", Stream_t, int)                                               \
  F(EndCapture, "cuStreamEndCapture", Stream_t, Graph_t*)                                                 \
  F(GraphInstantiate, "cuGraphInstantiateWithFlags", GraphExec_t*, Graph_t, unsigned long long)           \
  F(GraphLaunch, "cuGraphLaunch", GraphExec_t, Stream_t)                                                  \
  F(GraphDestroy, "cuGraphDestroy", Graph_t)                                                              \
  F(GraphExecDestroy, "cuGraphExecDestroy", GraphExec_t)

class Driver {
 public:
#define LAZYARRAY_DECLARE(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
  LAZYARRAY_CUDA_FUNCTIONS(LAZYARRAY_DECLARE)
  LAZYARRAY_CUDA_GRAPH_FUNCTIONS(LAZYARRAY_DECLARE)
#undef LAZYARRAY_DECLARE

  // Loads the library and initialises it; what went wrong in words, or "".
  std::string load(const char* path);
  bool loaded() const { return library_ != nullptr; }
  bool has_graphs() const { return graphs_; }

  std::string what(const char* call, int code);
  // Null, or the failure of a call.
  Error* check(const char* call, int code);

 private:
  void* library_ = nullptr;
  bool graphs_ = true;
};

Driver& driver();

}  // namespace lazyarray::cuda
