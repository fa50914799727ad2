// Streams, events and devices of the simulated driver: queues of tasks, and who makes them run.
//
// Two locks. `tables` guards all state here; `running` is held by the thread that runs tasks, and
// only it takes tasks out. Order: running, then tables. A task runs under `running` alone, so other
// threads may put tasks in meanwhile. Nothing here takes the GIL or waits for anything outside.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "memory.h"

namespace sim {

enum : int {
    kSuccess = 0,
    kInvalidValue = 1,
    kOutOfMemory = 2,
    kNotInitialized = 3,
    kInvalidDevice = 101,
    kInvalidContext = 201,
    kPeerUnsupported = 217,
    kInvalidSource = 300,
    kInvalidHandle = 400,
    kNotFound = 500,
    kNotReady = 600,
    kCaptureUnsupported = 900,
    kCaptureIsolation = 905,
    kCapturedEvent = 907,
    kIllegalAddress = 700,
    kLaunchTimeout = 702,
    kPeerAlreadyEnabled = 704,
    kLaunchFailed = 719,
};

struct Stream;
struct Device;

struct Access {
    Memory* memory;
    Address start;
    size_t bytes;
    bool write, unsure;  // unsure: a kernel's pointer; whether it writes is seen by comparing
    uint64_t allocation;
};

struct Task {
    std::string name;
    std::function<int()> run;
    std::function<bool()> ready;  // if it waits for what is no task of this process
    std::vector<Access> accesses;
    Clock clock;
    Stream* on = nullptr;  // a wait: for this stream to come to `until`
    uint64_t until = 0;
};

// Where in which stream an event was recorded last.
struct Mark {
    bool captured = false;  // on a stream that was captured then
    Stream* stream = nullptr;
    uint64_t position = 0;
    Clock clock;
    double time = 0;  // seconds; written by the task
};

struct Event {
    uint64_t number;
    Device* device;
    std::shared_ptr<Mark> mark;
    unsigned queries = 0;
};

struct Stream {
    size_t number;
    Device* device;
    bool blocking, destroyed = false;
    std::deque<Task> queue;
    uint64_t put = 0, done = 0;
    unsigned queries = 0;
    Clock clock;
    // While it is captured: what it was given, to be given to a stream later.
    bool capturing = false;
    std::vector<std::function<int(Stream*)>> captured;
};

struct Device {
    int number;
    Memory memory;
    Stream* null = nullptr;
    std::set<Device*> peers;
    int error = kSuccess;  // sticky: what a task failed with
    explicit Device(int n) : number(n), memory(n) {}
};

enum class Mode { lazy, eager, random };

struct Simulator {
    std::mutex tables, running;
    bool initialized = false;
    std::atomic<Mode> mode{Mode::lazy};
    bool check_hazards = false, peers = true;
    std::mt19937 dice;
    unsigned delay = 0;  // microseconds each task takes at least
    std::vector<Device*> devices;
    std::vector<Stream*> streams;  // by number, destroyed ones too
    std::set<void*> handles;       // live streams, events, functions, modules
    std::map<Address, size_t> pinned;
    std::map<std::string, std::deque<int>> failures;
    std::deque<std::string> log, hazards;
    Clock host;  // what some thread of the host has seen to be done
    uint64_t numbers = 0;
    std::chrono::steady_clock::time_point born = std::chrono::steady_clock::now();

    static Simulator& one() {
        static Simulator* made = new Simulator;
        return *made;
    }

    Simulator() {
        const char* text = std::getenv("LAZYARRAY_SIM");
        if (text && *text && !set_mode(text)) {
            std::fprintf(stderr, "simulated device: LAZYARRAY_SIM=%s\n", text);
            std::abort();
        }
        check_hazards = is_on("LAZYARRAY_SIM_HAZARDS", false);
        peers = is_on("LAZYARRAY_SIM_PEERS", true);
        for (int i = 0; i < 2; ++i) {
            Device* device = new Device(i);
            devices.push_back(device);
            device->null = make_stream(device, true);
        }
    }

    static bool is_on(const char* name, bool otherwise) {
        const char* text = std::getenv(name);
        return text && *text ? std::string(text) != "0" : otherwise;
    }

    bool set_mode(const std::string& said) {
        if (said == "lazy") mode = Mode::lazy;
        else if (said == "eager") mode = Mode::eager;
        else if (said.rfind("random:", 0) == 0) mode = Mode::random;
        else return false;
        if (mode == Mode::random)
            dice.seed(static_cast<unsigned>(std::strtoul(said.c_str() + 7, nullptr, 10)));
        return true;
    }

    double now() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - born).count();
    }

    __attribute__((format(printf, 2, 3))) void note(const char* format, ...) {
        char line[256];
        va_list arguments;
        va_start(arguments, format);
        std::vsnprintf(line, sizeof line, format, arguments);
        va_end(arguments);
        log.push_back(line);
        if (log.size() > 100000) log.pop_front();
    }

    Stream* make_stream(Device* device, bool blocking) {
        Stream* stream = new Stream{streams.size(), device, blocking, false, {}, 0, 0, 0, {}, false, {}};
        streams.push_back(stream);
        return stream;
    }

    // --- with `tables` held ---

    Device* device(int n) {
        return n >= 0 && n < static_cast<int>(devices.size()) ? devices[static_cast<size_t>(n)]
                                                               : nullptr;
    }

    bool is_device(Device* d) {
        return std::find(devices.begin(), devices.end(), d) != devices.end();
    }

    // The device whose memory [a, a + bytes) is, within one live allocation; else null.
    Device* owner(Address a, size_t bytes, Allocation** allocation = nullptr) {
        for (Device* d : devices)
            if (d->memory.inside(a)) {
                Allocation* found = d->memory.find(a, bytes);
                if (allocation) *allocation = found;
                return found ? d : nullptr;
            }
        return nullptr;
    }

    // What a transfer does to memory that `owner` was found for.
    Access access(Device* d, Address a, size_t bytes, bool write) {
        return {&d->memory, a, bytes, write, false, d->memory.find(a, bytes)->number};
    }

    // The failure that a test planned for this call.
    int planned(const char* call) {
        if (failures.empty()) return kSuccess;
        auto it = failures.find(call);
        if (it == failures.end()) return kSuccess;
        int failure = it->second.front();
        it->second.pop_front();
        if (it->second.empty()) failures.erase(it);
        note("%s fails with %d", call, failure);
        return failure;
    }

    // A word of a kernel's arguments that is a device address becomes one of bytes; false: it is of
    // no live allocation, or of a device that this one has no access to.
    bool translate(Device* from, Address& word, Task& task) {
        for (Device* d : devices) {
            if (!d->memory.inside(word)) continue;
            Allocation* found = d->memory.find(word, 0);
            if (!found || (d != from && !from->peers.count(d))) return false;
            task.accesses.push_back(
                {&d->memory, found->start, found->bytes, false, true, found->number});
            word = reinterpret_cast<Address>(d->memory.bytes(word));
            return true;
        }
        return true;
    }

    // Puts a task at the end of a stream; its position.
    uint64_t put(Stream* stream, Task task) {
        if (stream->capturing) {  // CUDA may take it; none of our code should rely on that
            std::fprintf(stderr, "simulated device: %s while its stream is captured\n", task.name.c_str());
            std::abort();
        }
        Stream* null = stream->device->null;
        if (stream == null) {  // the default stream comes after all blocking ones, and before them
            for (size_t i = 0; i < streams.size(); ++i)
                if (Stream* s = streams[i]; s != null && s->blocking && s->device == null->device)
                    wait(null, s, s->put, s->clock);
        } else if (stream->blocking) {
            wait(stream, null, null->put, null->clock);
        }
        uint64_t position = ++stream->put;
        stream->clock.merge(host);
        stream->clock.set(stream->number, position);
        task.clock = stream->clock;
        stream->queue.push_back(std::move(task));
        return position;
    }

    void wait(Stream* stream, Stream* on, uint64_t until, const Clock& clock) {
        stream->clock.merge(clock);
        if (on->done >= until || on == stream) return;
        Task task;
        task.name = "wait";
        task.on = on;
        task.until = until;
        ++stream->put;
        stream->queue.push_back(std::move(task));
    }

    // --- with `running` held, `tables` not ---

    // Runs what is needed for `stream` to come to `position`, unless that waits for another process.
    // A wait goes into another stream, no deeper than there are streams: positions waited for were
    // there before the wait.
    void advance(Stream* stream, uint64_t position) {
        while (step(stream, position, true)) {
        }
    }

    // One task of `stream`; false if there is none, or it has to wait and is not to go elsewhere.
    bool step(Stream* stream, uint64_t position, bool elsewhere) {
        Task task;
        Stream* on;
        uint64_t until;
        {
            std::lock_guard<std::mutex> hold(tables);
            if (stream->done >= position || stream->queue.empty()) return false;
            Task& first = stream->queue.front();
            on = first.on;
            until = first.until;
            if (on && on->done < until && !elsewhere) return false;
            if (first.ready && !stream->device->error && !first.ready()) return false;
            if (!on) {
                task = std::move(first);
                stream->queue.pop_front();
            }
        }
        if (on)
            advance(on, until);
        else
            run(stream, task);
        std::lock_guard<std::mutex> hold(tables);
        if (on) {
            if (on->done < until) return false;
            stream->queue.pop_front();
        }
        ++stream->done;
        return true;
    }

    void run(Stream* stream, Task& task);  // hazards.h

    // --- with neither lock held ---

    void finish(Stream* stream, uint64_t position) {
        for (;; std::this_thread::sleep_for(std::chrono::microseconds(50))) {
            std::lock_guard<std::mutex> hold(running);
            advance(stream, position);
            std::lock_guard<std::mutex> look(tables);
            if (stream->done >= position || stream->queue.empty()) return;
        }
    }

    void finish_all(Device* device) {
        for (size_t i = 0;; ++i) {
            Stream* stream;
            uint64_t end;
            Clock clock;
            {
                std::lock_guard<std::mutex> hold_tables(tables);
                if (i == streams.size()) return;
                stream = streams[i];
                end = stream->put;
                clock = stream->clock;
            }
            if (stream->device != device) continue;
            finish(stream, end);
            seen(clock);
        }
    }

    // The host has seen what this clock tells to be done.
    void seen(const Clock& clock) {
        std::lock_guard<std::mutex> hold(tables);
        host.merge(clock);
    }

    // A question of the host about a place: makes more and more progress, so polling ends.
    void poll(Stream* stream, uint64_t position, unsigned queries) {
        if (queries < 3) return;
        std::lock_guard<std::mutex> hold(running);
        for (unsigned n = 1u << std::min(queries - 3, 16u); n; --n)
            if (!step(stream, position, true)) return;
    }

    // After each call: in eager mode everything runs, in random mode something may.
    void progress(Stream* stream) {
        if (mode == Mode::lazy) return;
        std::lock_guard<std::mutex> hold(running);
        if (mode == Mode::eager) {
            if (stream) advance(stream, UINT64_MAX);
            return;
        }
        for (unsigned n = dice() % 4; n; --n) {
            Stream* chosen = nullptr;
            {
                std::lock_guard<std::mutex> hold_tables(tables);
                unsigned filled = 0;  // one of those that have something, each as likely
                for (Stream* s : streams)
                    if (!s->queue.empty() && dice() % ++filled == 0) chosen = s;
            }
            if (chosen) step(chosen, UINT64_MAX, false);
        }
    }
};

}  // namespace sim
