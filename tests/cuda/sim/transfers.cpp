// The CUDA driver's functions on memory, and its error texts.
#include "api.h"

using namespace sim;

namespace {

bool is_pinned(Simulator& s, const void* host, size_t bytes) {
    Address a = reinterpret_cast<Address>(host);
    auto it = s.pinned.upper_bound(a);
    if (it == s.pinned.begin()) return false;
    --it;
    return a + bytes <= it->first + it->second;
}

int copy_on_device(const char* name, Address to, Address from, size_t bytes, Device* to_device,
                   Device* from_device, Stream* stream) {
    {
        Simulator& s = Simulator::one();
        std::lock_guard<std::mutex> hold(s.tables);
        if (!s.initialized) return kNotInitialized;
        if (int failure = s.planned(name)) return failure;
        STREAM;
        if (!bytes) return kSuccess;
        Device* a = s.owner(to, bytes);
        Device* b = s.owner(from, bytes);
        if (!a || !b || (to_device && (a != to_device || b != from_device))) return kInvalidValue;
        s.note("%s stream=%zu bytes=%zu", name, stream->number, bytes);
        unsigned char *target = a->memory.bytes(to), *source = b->memory.bytes(from);
        Task task;
        task.name = name;
        task.accesses = {s.access(b, from, bytes, false), s.access(a, to, bytes, true)};
        task.run = [=] {
            std::memmove(target, source, bytes);
            return int(kSuccess);
        };
        s.put(stream, std::move(task));
    }
    Simulator::one().progress(stream);
    return kSuccess;
}

}  // namespace

// --- memory ---

API cuMemAlloc_v2(Address* address, size_t bytes) {
    ENTER(cuMemAlloc_v2);
    IN_CONTEXT;
    if (!bytes) return kInvalidValue;
    *address = current->memory.allocate(bytes, ++s.numbers);
    s.note("cuMemAlloc_v2 device=%d bytes=%zu allocation=%llu", current->number, bytes,
           ull(s.numbers));
    return *address ? kSuccess : kOutOfMemory;
}

API cuMemFree_v2(Address address) {
    Device* device;
    {
        ENTER(cuMemFree_v2);
        if (!address) return kSuccess;
        Allocation* found = nullptr;
        device = s.owner(address, 0, &found);
        if (!device || found->start != address) return kInvalidValue;
    }
    Simulator& s = Simulator::one();
    s.finish_all(device);  // as CUDA does: freeing waits for the device
    std::lock_guard<std::mutex> run(s.running);
    std::lock_guard<std::mutex> hold(s.tables);
    Allocation* found = device->memory.find(address, 0);
    if (!found) return kInvalidValue;
    s.note("cuMemFree_v2 device=%d bytes=%zu allocation=%llu", device->number, found->bytes,
           ull(found->number));
    device->memory.release(found);
    return device->error;
}

API cuMemGetInfo_v2(size_t* free, size_t* total) {
    ENTER(cuMemGetInfo_v2);
    IN_CONTEXT;
    const Memory& memory = current->memory;
    *total = memory.capacity;
    *free = memory.capacity > memory.used ? memory.capacity - memory.used : 0;
    return kSuccess;
}

API cuMemHostAlloc(void** host, size_t bytes, unsigned flags) {
    ENTER(cuMemHostAlloc);
    IN_CONTEXT;
    if (!bytes || flags > 7) return kInvalidValue;
    if (posix_memalign(host, 4096, bytes)) return kOutOfMemory;
    s.pinned[reinterpret_cast<Address>(*host)] = bytes;
    s.note("cuMemHostAlloc bytes=%zu", bytes);
    return kSuccess;
}

API cuMemFreeHost(void* host) {
    {
        ENTER(cuMemFreeHost);
        if (!current) return kInvalidContext;
        if (!s.pinned.count(reinterpret_cast<Address>(host))) return kInvalidValue;
    }
    Simulator& s = Simulator::one();
    for (Device* device : s.devices) s.finish_all(device);
    std::lock_guard<std::mutex> run(s.running);
    std::lock_guard<std::mutex> hold(s.tables);
    auto it = s.pinned.find(reinterpret_cast<Address>(host));
    if (it == s.pinned.end()) return kInvalidValue;
    std::memset(host, kFreed, it->second);
    s.pinned.erase(it);
    std::free(host);
    return kSuccess;
}

// --- transfers ---

int sim::fill(const char* name, Address to, unsigned char value, size_t bytes, Stream* stream) {
    {
        Simulator& s = Simulator::one();
        std::lock_guard<std::mutex> hold(s.tables);
        if (!s.initialized) return kNotInitialized;
        if (int failure = s.planned(name)) return failure;
        STREAM;
        if (!bytes) return kSuccess;
        Device* device = s.owner(to, bytes);
        if (!device) return kInvalidValue;
        s.note("%s stream=%zu bytes=%zu", name, stream->number, bytes);
        unsigned char* target = device->memory.bytes(to);
        Task task;
        task.name = name;
        task.accesses = {s.access(device, to, bytes, true)};
        task.run = [=] {
            std::memset(target, value, bytes);
            return int(kSuccess);
        };
        s.put(stream, std::move(task));
    }
    Simulator::one().progress(stream);
    return kSuccess;
}


API cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, Stream* stream) {
    {
        ENTER(cuMemcpyHtoDAsync_v2);
        STREAM;
        if (!bytes) return kSuccess;
        Device* device = s.owner(to, bytes);
        if (!device) return kInvalidValue;
        bool pinned = is_pinned(s, from, bytes);
        s.note("cuMemcpyHtoDAsync_v2 stream=%zu bytes=%zu %s", stream->number, bytes,
               pinned ? "pinned" : "pageable");
        unsigned char* target = device->memory.bytes(to);
        Task task;
        task.name = "cuMemcpyHtoDAsync_v2";
        task.accesses = {s.access(device, to, bytes, true)};
        if (pinned) {
            task.run = [=] {
                std::memcpy(target, from, bytes);
                return int(kSuccess);
            };
        } else {  // pageable memory is read at the call
            auto kept = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
            task.run = [=] {
                std::memcpy(target, kept->data(), bytes);
                return int(kSuccess);
            };
        }
        s.put(stream, std::move(task));
    }
    Simulator::one().progress(stream);
    return kSuccess;
}

API cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, Stream* stream) {
    uint64_t position;
    bool pinned;
    {
        ENTER(cuMemcpyDtoHAsync_v2);
        STREAM;
        if (!bytes) return kSuccess;
        Device* device = s.owner(from, bytes);
        if (!device) return kInvalidValue;
        pinned = is_pinned(s, to, bytes);
        s.note("cuMemcpyDtoHAsync_v2 stream=%zu bytes=%zu %s", stream->number, bytes,
               pinned ? "pinned" : "pageable");
        const unsigned char* source = device->memory.bytes(from);
        Task task;
        task.name = "cuMemcpyDtoHAsync_v2";
        task.accesses = {s.access(device, from, bytes, false)};
        task.run = [=] {
            std::memcpy(to, source, bytes);
            return int(kSuccess);
        };
        position = s.put(stream, std::move(task));
    }
    if (!pinned) {  // to pageable memory the call returns when the bytes are there
        Simulator::one().finish(stream, position);
        return sticky(stream->device);
    }
    Simulator::one().progress(stream);
    return kSuccess;
}

API cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream* stream) {
    return copy_on_device("cuMemcpyDtoDAsync_v2", to, from, bytes, nullptr, nullptr, stream);
}

API cuMemcpyPeerAsync(Address to, Device* to_context, Address from, Device* from_context,
                      size_t bytes, Stream* stream) {
    if (!to_context || !from_context) return kInvalidContext;
    return copy_on_device("cuMemcpyPeerAsync", to, from, bytes, to_context, from_context, stream);
}

API cuMemsetD8Async(Address to, unsigned char value, size_t bytes, Stream* stream) {
    return fill("cuMemsetD8Async", to, value, bytes, stream);
}

// --- errors ---

static const std::map<int, std::pair<const char*, const char*>> kErrors = {
    {kSuccess, {"CUDA_SUCCESS", "no error"}},
    {kInvalidValue, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {kOutOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {kNotInitialized, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {kInvalidDevice, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {kInvalidContext, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {kPeerUnsupported,
     {"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
      "peer access is not supported between these two devices"}},
    {kInvalidSource, {"CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"}},
    {kInvalidHandle, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {kNotFound, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {kNotReady, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {kLaunchTimeout,
     {"CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"}},
    {kIllegalAddress,
     {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {kPeerAlreadyEnabled,
     {"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"}},
    {kLaunchFailed, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
};

API cuGetErrorName(int error, const char** text) {
    auto it = kErrors.find(error);
    *text = it == kErrors.end() ? nullptr : it->second.first;
    return *text ? kSuccess : kInvalidValue;
}

API cuGetErrorString(int error, const char** text) {
    auto it = kErrors.find(error);
    *text = it == kErrors.end() ? nullptr : it->second.second;
    return *text ? kSuccess : kInvalidValue;
}
