// The CUDA driver's functions on simulated devices (prototypes as in CUDA 12's cuda.h).
#include "api.h"

using namespace sim;

// --- devices and contexts ---

API cuInit(unsigned flags) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    if (flags) return kInvalidValue;
    for (Device* device : s.devices)
        if (!device->memory.ok()) return kOutOfMemory;
    s.initialized = true;
    return s.planned("cuInit");
}

API cuDriverGetVersion(int* version) {
    *version = 12080;
    return kSuccess;
}

API cuDeviceGetCount(int* count) {
    ENTER(cuDeviceGetCount);
    *count = static_cast<int>(s.devices.size());
    return kSuccess;
}

API cuDeviceGet(int* device, int ordinal) {
    ENTER(cuDeviceGet);
    if (ordinal < 0 || ordinal >= static_cast<int>(s.devices.size())) return kInvalidDevice;
    *device = ordinal;
    return kSuccess;
}

API cuDeviceGetName(char* name, int length, int device) {
    ENTER(cuDeviceGetName);
    if (!s.device(device)) return kInvalidDevice;
    std::snprintf(name, static_cast<size_t>(length), "Simulated device %d", device);
    return kSuccess;
}

API cuDeviceGetAttribute(int* value, int attribute, int device) {
    ENTER(cuDeviceGetAttribute);
    if (!s.device(device)) return kInvalidDevice;
    static const std::map<int, int> known = {
        {1, 1024},         // threads a block
        {2, 1024},         // along x
        {3, 1024},         // along y
        {4, 64},           // along z
        {5, 2147483647},   // blocks along x
        {6, 65535},        // along y
        {7, 65535},        // along z
        {8, 49152},        // shared memory a block
        {10, 32},          // warp size
        {12, 65536},       // registers a block
        {13, 1500000},     // kHz
        {16, 8},           // multiprocessors
        {31, 1},           // concurrent kernels
        {36, 2000000},     // memory kHz
        {37, 384},         // memory bus bits
        {38, 4 << 20},     // L2 bytes
        {39, 2048},        // threads a multiprocessor
        {40, 2},           // copy engines
        {41, 1},           // unified addressing
        {75, 9},           // compute capability
        {76, 0},
        {78, 1},           // stream priorities
        {97, 49152},       // shared memory a block, at most
        {106, 32},         // blocks a multiprocessor
        {115, 0},          // memory pools
    };
    auto it = known.find(attribute);
    if (it == known.end()) return kInvalidValue;
    *value = it->second;
    return kSuccess;
}

API cuDeviceTotalMem_v2(size_t* bytes, int device) {
    ENTER(cuDeviceTotalMem_v2);
    if (!s.device(device)) return kInvalidDevice;
    *bytes = s.device(device)->memory.capacity;
    return kSuccess;
}

API cuDevicePrimaryCtxRetain(Device** context, int device) {
    ENTER(cuDevicePrimaryCtxRetain);
    if (!s.device(device)) return kInvalidDevice;
    *context = s.device(device);
    return kSuccess;
}

API cuDevicePrimaryCtxRelease_v2(int device) {
    ENTER(cuDevicePrimaryCtxRelease_v2);
    return s.device(device) ? kSuccess : kInvalidDevice;
}

API cuCtxSetCurrent(Device* context) {
    ENTER(cuCtxSetCurrent);
    if (context && !s.is_device(context)) return kInvalidContext;
    current = context;
    return kSuccess;
}

API cuCtxGetCurrent(Device** context) {
    ENTER(cuCtxGetCurrent);
    *context = current;
    return kSuccess;
}

API cuThreadExchangeStreamCaptureMode(int* mode) {
    static thread_local int own = 0;
    ENTER(cuThreadExchangeStreamCaptureMode);
    std::swap(own, *mode);
    return kSuccess;
}

API cuCtxGetDevice(int* device) {
    ENTER(cuCtxGetDevice);
    if (!current) return kInvalidContext;
    *device = current->number;
    return kSuccess;
}

API cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    ENTER(cuCtxGetStreamPriorityRange);
    if (!current) return kInvalidContext;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return kSuccess;
}

API cuCtxSynchronize() {
    Device* device;
    {
        ENTER(cuCtxSynchronize);
        IN_CONTEXT;
        device = current;
        for (Stream* one : s.streams)
            if (one->device == device && one->capturing) return kCaptureUnsupported;
        s.note("cuCtxSynchronize device=%d", device->number);
    }
    Simulator::one().finish_all(device);
    return sticky(device);
}

API cuDeviceCanAccessPeer(int* can, int device, int peer) {
    ENTER(cuDeviceCanAccessPeer);
    if (!s.device(device) || !s.device(peer)) return kInvalidDevice;
    *can = s.peers && device != peer;
    return kSuccess;
}

API cuCtxEnablePeerAccess(Device* peer, unsigned flags) {
    ENTER(cuCtxEnablePeerAccess);
    IN_CONTEXT;
    if (flags) return kInvalidValue;
    if (!s.is_device(peer)) return kInvalidContext;
    if (peer == current || !s.peers) return kPeerUnsupported;
    return current->peers.insert(peer).second ? kSuccess : kPeerAlreadyEnabled;
}

// --- streams ---

API cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
    ENTER(cuStreamCreateWithPriority);
    IN_CONTEXT;
    if (flags > 1) return kInvalidValue;
    *stream = s.make_stream(current, flags == 0);
    s.handles.insert(*stream);
    s.note("cuStreamCreateWithPriority stream=%zu device=%d priority=%d", (*stream)->number,
           current->number, priority);
    return kSuccess;
}

API cuStreamCreate(Stream** stream, unsigned flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
}

API cuStreamDestroy_v2(Stream* stream) {
    {
        ENTER(cuStreamDestroy_v2);
        if (!s.handles.erase(stream)) return kInvalidHandle;
        s.note("cuStreamDestroy_v2 stream=%zu", stream->number);
    }
    Simulator::one().finish(stream, UINT64_MAX);
    return kSuccess;
}

API cuStreamGetCtx(Stream* stream, Device** context) {
    ENTER(cuStreamGetCtx);
    STREAM;
    *context = stream->device;
    return kSuccess;
}

API cuStreamSynchronize(Stream* stream) {
    Clock clock;
    uint64_t end;
    {
        ENTER(cuStreamSynchronize);
        STREAM;
        s.note("cuStreamSynchronize stream=%zu", stream->number);
        clock = stream->clock;
        end = stream->put;
    }
    Simulator::one().finish(stream, end);
    Simulator::one().seen(clock);
    return sticky(stream->device);
}

API cuStreamQuery(Stream* stream) {
    uint64_t end;
    unsigned queries;
    {
        ENTER(cuStreamQuery);
        STREAM;
        end = stream->put;
        queries = stream->queries++;
    }
    Simulator& s = Simulator::one();
    s.poll(stream, end, queries);
    s.progress(nullptr);
    std::lock_guard<std::mutex> hold(s.tables);
    if (stream->device->error) return stream->device->error;
    if (stream->done < stream->put) return kNotReady;
    stream->queries = 0;
    s.host.merge(stream->clock);
    return kSuccess;
}

API cuStreamWaitEvent(Stream* stream, Event* event, unsigned flags) {
    {
        ENTER(cuStreamWaitEvent);
        if (flags) return kInvalidValue;
        STREAM;
        if (!s.handles.count(event)) return kInvalidHandle;
        s.note("cuStreamWaitEvent stream=%zu event=%llu", stream->number, ull(event->number));
        if (event->mark->captured) return kCaptureIsolation;
        if (!event->mark->stream) return kSuccess;  // never recorded: nothing to wait for
        s.wait(stream, event->mark->stream, event->mark->position, event->mark->clock);
    }
    Simulator::one().progress(stream);
    return kSuccess;
}

// --- events ---

API cuEventCreate(Event** event, unsigned flags) {
    ENTER(cuEventCreate);
    IN_CONTEXT;
    if (flags > 7) return kInvalidValue;
    *event = new Event{++s.numbers, current, std::make_shared<Mark>(), 0};
    s.handles.insert(*event);
    return kSuccess;
}

API cuEventDestroy_v2(Event* event) {
    ENTER(cuEventDestroy_v2);
    if (!s.handles.erase(event)) return kInvalidHandle;
    delete event;
    return kSuccess;
}

API cuEventRecord(Event* event, Stream* stream) {
    {
        ENTER(cuEventRecord);
        STREAM;
        if (!s.handles.count(event) || event->device != stream->device) return kInvalidHandle;
        s.note("cuEventRecord event=%llu stream=%zu", ull(event->number), stream->number);
        auto mark = std::make_shared<Mark>();
        if (stream->capturing) {  // it is the graph's: an error to whoever asks for it
            mark->captured = true;
            event->mark = mark;
            return kSuccess;
        }
        Task task;
        task.name = "cuEventRecord";
        task.run = [mark] {
            mark->time = Simulator::one().now();
            return kSuccess;
        };
        mark->position = s.put(stream, std::move(task));
        mark->stream = stream;
        mark->clock = stream->clock;
        event->mark = mark;
        event->queries = 0;
    }
    Simulator::one().progress(stream);
    return kSuccess;
}

API cuEventQuery(Event* event) {
    std::shared_ptr<Mark> mark;
    unsigned queries;
    {
        ENTER(cuEventQuery);
        if (!current) return kInvalidContext;
        if (!s.handles.count(event)) return kInvalidHandle;
        mark = event->mark;
        queries = event->queries++;
        if (mark->captured) return kCapturedEvent;
        if (!mark->stream) return kSuccess;
    }
    Simulator& s = Simulator::one();
    s.poll(mark->stream, mark->position, queries);
    s.progress(nullptr);
    std::lock_guard<std::mutex> hold(s.tables);
    if (mark->stream->device->error) return mark->stream->device->error;
    if (mark->stream->done < mark->position) return kNotReady;
    s.host.merge(mark->clock);
    return kSuccess;
}

API cuEventSynchronize(Event* event) {
    std::shared_ptr<Mark> mark;
    {
        ENTER(cuEventSynchronize);
        if (!current) return kInvalidContext;
        if (!s.handles.count(event)) return kInvalidHandle;
        s.note("cuEventSynchronize event=%llu", ull(event->number));
        mark = event->mark;
        if (!mark->stream) return kSuccess;
    }
    Simulator::one().finish(mark->stream, mark->position);
    Simulator::one().seen(mark->clock);
    return sticky(mark->stream->device);
}

API cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
    ENTER(cuEventElapsedTime);
    for (Event* event : {start, end}) {
        if (!s.handles.count(event) || !event->mark->stream) return kInvalidHandle;
        if (event->mark->stream->done < event->mark->position) return kNotReady;
    }
    *milliseconds = static_cast<float>((end->mark->time - start->mark->time) * 1e3);
    return kSuccess;
}

// --- kernels ---

API cuModuleLoad(Module** module, const char* path) {
    ENTER(cuModuleLoad);
    IN_CONTEXT;
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        std::fprintf(stderr, "simulated device: %s\n", dlerror());
        return kInvalidSource;
    }
    *module = new Module{current, handle, static_cast<Library*>(dlsym(handle, "sim_library")), {}};
    s.handles.insert(*module);
    return (*module)->library ? kSuccess : kInvalidSource;
}

API cuModuleGetFunction(Function** function, Module* module, const char* name) {
    ENTER(cuModuleGetFunction);
    if (!s.handles.count(module)) return kInvalidHandle;
    std::string text = name;
    auto entry = reinterpret_cast<Entry>(dlsym(module->handle, ("sim_call_" + text).c_str()));
    auto size = reinterpret_cast<size_t (*)(int)>(
        dlsym(module->handle, ("sim_size_" + text).c_str()));
    if (!entry || !size) return kNotFound;
    *function = new Function{module, text, entry, {}};
    size_t total = 0;
    for (int i = 0; size_t bytes = size(i); ++i) {
        (*function)->sizes.push_back(bytes);
        total += bytes;
    }
    if (total > 32764 || (*function)->sizes.size() > kParameters) return kInvalidSource;
    s.handles.insert(*function);
    module->functions.push_back(*function);
    return kSuccess;
}

// What was launched may be under way: nothing is freed, but nobody can launch it any more.
API cuModuleUnload(Module* module) {
    ENTER(cuModuleUnload);
    if (!s.handles.erase(module)) return kInvalidHandle;
    for (Function* function : module->functions) s.handles.erase(function);
    return kSuccess;
}

API cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, Stream* stream, void** parameters,
                   void** extra) {
    {
        ENTER(cuLaunchKernel);
        STREAM;
        if (!s.handles.count(function)) return kInvalidHandle;
        if (function->module->device != stream->device) return kInvalidHandle;
        if (stream->device != current) return kInvalidContext;
        if (!gx || !gy || !gz || !bx || !by || !bz) return kInvalidValue;
        if (gx > 2147483647u || gy > 65535 || gz > 65535) return kInvalidValue;
        if (bx > 1024 || by > 1024 || bz > 64 || bx * by * bz > 1024) return kInvalidValue;
        if (shared > 48u << 10 || (parameters && extra)) return kInvalidValue;
        if (stream->capturing) {
            std::vector<std::vector<char>> given;
            for (size_t i = 0; i < function->sizes.size(); ++i) {
                const char* from = static_cast<const char*>(
                    parameters ? parameters[i] : packed(extra, function->sizes, i));
                given.emplace_back(from, from + function->sizes[i]);
            }
            stream->captured.push_back([=](Stream* to) mutable {
                void* pointers[kParameters];
                for (size_t i = 0; i < given.size(); ++i) pointers[i] = given[i].data();
                return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, to, pointers, nullptr);
            });
            return kSuccess;
        }
        s.note("cuLaunchKernel %s stream=%zu grid=%u,%u,%u block=%u,%u,%u", function->name.c_str(),
               stream->number, gx, gy, gz, bx, by, bz);
        Task task;
        task.name = function->name;
        auto words = std::make_shared<std::vector<std::vector<Address>>>();
        bool fine = true;
        for (size_t i = 0; i < function->sizes.size(); ++i) {
            const void* from = parameters ? parameters[i] : packed(extra, function->sizes, i);
            if (!from) return kInvalidValue;
            words->emplace_back((function->sizes[i] + 7) / 8);
            std::memcpy(words->back().data(), from, function->sizes[i]);
            for (Address& word : words->back()) fine &= s.translate(stream->device, word, task);
        }
        task.run = [=] {
            if (!fine) return int(kIllegalAddress);
            void* pointers[kParameters];
            for (size_t i = 0; i < words->size(); ++i) pointers[i] = (*words)[i].data();
            bool whole = Scheduler::one().run(*function->module->library, function->entry, pointers,
                                              Index{gx, gy, gz}, Index{bx, by, bz}, shared);
            return int(whole ? kSuccess : kLaunchFailed);
        };
        s.put(stream, std::move(task));
    }
    Simulator::one().progress(stream);
    return kSuccess;
}
