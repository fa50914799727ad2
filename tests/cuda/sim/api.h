// What all of the driver's functions share: entering, contexts, streams, and kernels' arguments.
#pragma once
#include <dlfcn.h>

#include "fibers.h"
#include "hazards.h"

#define API extern "C" __attribute__((visibility("default"))) int

namespace sim {

struct Function;

struct Module {
    Device* device;
    void* handle;
    Library* library;
    std::vector<Function*> functions;
};

struct Function {
    Module* module;
    std::string name;
    Entry entry;
    std::vector<size_t> sizes;
};

inline constexpr size_t kParameters = 64;  // of a kernel, at most

inline thread_local Device* current = nullptr;

// What the device's tasks failed with, if they did.
inline int sticky(Device* device) {
    std::lock_guard<std::mutex> hold(Simulator::one().tables);
    return device->error;
}

// Parameter i of a launch whose parameters are one buffer (the `extra` of cuLaunchKernel).
inline const void* packed(void** extra, const std::vector<size_t>& sizes, size_t i) {
    const char* buffer = nullptr;
    for (void** p = extra; p && *p; p += 2)
        if (*p == reinterpret_cast<void*>(1)) buffer = static_cast<const char*>(p[1]);
    if (!buffer) return nullptr;
    size_t at = 0;
    for (size_t k = 0; k <= i; ++k) {  // each aligned to its size, 8 at most
        size_t align = sizes[k] < 8 ? sizes[k] : 8;
        at = (at + align - 1) / align * align + (k < i ? sizes[k] : 0);
    }
    return buffer + at;
}

// cuMemsetD8Async, under this name.
int fill(const char* name, Address to, unsigned char value, size_t bytes, Stream* stream);

inline unsigned long long ull(uint64_t n) { return n; }

}  // namespace sim

// Takes the lock of tables until the end of the scope.
#define ENTER(name)                                           \
    ::sim::Simulator& s = ::sim::Simulator::one();            \
    std::lock_guard<std::mutex> hold(s.tables);               \
    if (!s.initialized) return ::sim::kNotInitialized;        \
    if (int failure = s.planned(#name)) return failure;

#define IN_CONTEXT                                            \
    if (!::sim::current) return ::sim::kInvalidContext;       \
    if (::sim::current->error) return ::sim::current->error;

// `stream`: a live one, or the current context's default stream for null. There has to be a context.
#define STREAM                                                                       \
    if (!::sim::current) return ::sim::kInvalidContext;                              \
    if (!stream || stream == reinterpret_cast<::sim::Stream*>(1)) {                  \
        stream = ::sim::current->null;                                               \
    } else if (!s.handles.count(stream)) {                                           \
        return ::sim::kInvalidHandle;                                                \
    }                                                                                \
    if (stream->device->error) return stream->device->error;
