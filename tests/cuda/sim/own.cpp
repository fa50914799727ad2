// The simulator's own functions (sim_*): for tests, and for the stand-in for CuPy.
#include "api.h"

using namespace sim;

static const char* lines(std::deque<std::string>& from, int clear) {
    static thread_local std::string text;
    text.clear();
    for (const std::string& line : from) text += line + "\n";
    if (clear) from.clear();
    return text.c_str();
}

#define SIM(type) extern "C" __attribute__((visibility("default"))) type

// Lines of calls and of tasks that ran ("run ..."), oldest first; valid till the thread's next call.
SIM(const char*) sim_log(int clear) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    return lines(s.log, clear);
}

// What the check of hazards found.
SIM(const char*) sim_hazards(int clear) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    return lines(s.hazards, clear);
}

// The next call of that name fails with this code; "run": the next task that runs.
SIM(void) sim_fail_next(const char* call, int code) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    s.failures[call].push_back(code);
}

// ... and from now on none is to fail any more.
SIM(void) sim_fail_no_more() {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    s.failures.clear();
}

// Bytes that each device has.
SIM(void) sim_set_memory(size_t bytes) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    for (Device* device : s.devices)
        device->memory.capacity = std::min(bytes, Memory::kWindow / 2);
}

// Each task takes at least this long.
SIM(void) sim_delay(unsigned microseconds) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> run(s.running);
    s.delay = microseconds;
}

// "lazy", "eager" or "random:<seed>", as LAZYARRAY_SIM says; from now on. False: neither.
SIM(int) sim_set_mode(const char* text) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> run(s.running);
    return s.set_mode(text);
}

// Whether accesses that nothing orders are looked for, as LAZYARRAY_SIM_HAZARDS says; from now on.
SIM(void) sim_check_hazards(int on) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> run(s.running);
    std::lock_guard<std::mutex> hold(s.tables);
    s.check_hazards = on;
}

// Devices whose tasks failed are well again (a real one stays out of order until the process ends).
SIM(void) sim_clear_errors() {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    for (Device* device : s.devices) device->error = kSuccess;
}

// Tasks that have not run.
SIM(size_t) sim_pending() {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    size_t count = 0;
    for (Stream* stream : s.streams) count += stream->put - stream->done;
    return count;
}

// The device of an address (-1: none) and how many bytes its allocation has from there on.
SIM(int) sim_device_of(Address address, size_t* bytes) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    Allocation* found = nullptr;
    Device* device = s.owner(address, 0, &found);
    if (device && bytes) *bytes = found->bytes - (address - found->start);
    return device ? device->number : -1;
}

// Device memory read by the host after all that `stream` has: where its bytes really are.
API sim_read(Address from, size_t bytes, Stream* stream, const unsigned char** where) {
    uint64_t position;
    {
        ENTER(sim_read);
        STREAM;
        Device* device = s.owner(from, bytes);
        if (!device) return kIllegalAddress;
        if (device != stream->device && !stream->device->peers.count(device))
            return kIllegalAddress;
        Task task;
        task.name = "sim_read";
        task.accesses = {s.access(device, from, bytes, false)};
        task.run = [] { return int(kSuccess); };
        position = s.put(stream, std::move(task));
        *where = device->memory.bytes(from);
    }
    Simulator::one().finish(stream, position);
    return sticky(stream->device);
}

// Elements written to a strided place of device memory in the stream's order; they are taken at
// the call. `low`, `high`: the bytes from `to` on that the elements lie in.
API sim_write(Address to, int axes, const int64_t* shape, const int64_t* steps, int64_t low,
              int64_t high, size_t itemsize, const void* elements, Stream* stream) {
    {
        ENTER(sim_write);
        STREAM;
        Address start = to + static_cast<Address>(low);
        size_t bytes = static_cast<size_t>(high - low);
        Device* device = s.owner(start, bytes);
        if (!device) return kIllegalAddress;
        if (device != stream->device && !stream->device->peers.count(device))
            return kIllegalAddress;
        std::vector<int64_t> shapes(shape, shape + axes), strides(steps, steps + axes);
        size_t count = 1;
        for (int64_t n : shapes) count *= static_cast<size_t>(n);
        auto kept = std::make_shared<std::string>(static_cast<const char*>(elements),
                                                  count * itemsize);
        unsigned char* target = device->memory.bytes(to);
        Task task;
        task.name = "sim_write";
        task.accesses = {s.access(device, start, bytes, true)};
        task.run = [=] {
            std::vector<int64_t> at(shapes.size());
            const char* element = kept->data();
            for (size_t n = 0; n < count; ++n, element += itemsize) {
                int64_t offset = 0;
                for (size_t d = 0; d < at.size(); ++d) offset += at[d] * strides[d];
                std::memcpy(target + offset, element, itemsize);
                for (size_t d = at.size(); d-- > 0;) {
                    if (++at[d] < shapes[d]) break;
                    at[d] = 0;
                }
            }
            return int(kSuccess);
        };
        s.put(stream, std::move(task));
    }
    Simulator::one().progress(stream);
    return kSuccess;
}

// Spoils a block that went back to a pool: in its stream's order, as its next user will write it.
API sim_poison(Address to, size_t bytes, Stream* stream) {
    return fill("sim_poison", to, kFreed, bytes, stream);
}

// Where the bytes of a device address really are, without waiting for anything; 0: nowhere.
SIM(Address) sim_where(Address address) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    for (Device* device : s.devices)
        if (device->memory.inside(address))
            return reinterpret_cast<Address>(device->memory.bytes(address));
    return 0;
}
