// Running one task, and the check (LAZYARRAY_SIM_HAZARDS=1) that its accesses are in order.
//
// Two accesses of an allocation, one of them a write, must be ordered by streams, events, or by the
// host having seen the first one done. Order is told by vector clocks, not by when tasks happen to
// run, so it is found in eager mode too. A kernel's writes are found by comparing memory.
//
// An allocation is one thing here: arrays that lie in one (the intermediates of a program) and are used
// side by side are reported though they share no byte.
#pragma once
#include "streams.h"

namespace sim {

inline void check(Simulator& simulator, Stream* stream, const Task& task, const Access& access,
                  bool writes) {
    Allocation* allocation = access.memory->find(access.start, access.bytes);
    if (!allocation) return;
    Accesses& past = allocation->accesses;
    auto report = [&](size_t other, const char* what) {
        char line[256];
        std::snprintf(line, sizeof line,
                      "%s on stream %zu %s allocation %llu, unordered with a %s on stream %zu",
                      task.name.c_str(), stream->number, writes ? "writes" : "reads",
                      static_cast<unsigned long long>(allocation->number), what, other);
        std::fprintf(stderr, "simulated device: %s\n", line);
        simulator.hazards.push_back(line);
    };
    uint64_t position = task.clock.of(stream->number);
    if (past.write && past.writer != stream->number && task.clock.of(past.writer) < past.write)
        report(past.writer, "write");
    if (writes) {
        for (auto [reader, read] : past.reads)
            if (reader != stream->number && task.clock.of(reader) < read) report(reader, "read");
        past.reads.clear();
        past.writer = stream->number;
        past.write = position;
    } else {
        past.reads[stream->number] = position;
    }
}

inline void Simulator::run(Stream* stream, Task& task) {
    std::vector<std::string> before;
    int failure = kSuccess;
    bool checked;
    {
        std::lock_guard<std::mutex> hold(tables);
        if (stream->device->error) return;
        note("run %s stream=%zu", task.name.c_str(), stream->number);
        failure = planned("run");
        for (const Access& a : task.accesses) {
            Allocation* found = a.memory->find(a.start, a.bytes);
            if (!found || found->number != a.allocation) failure = kIllegalAddress;  // freed since
        }
        checked = check_hazards && !failure;
        if (checked)
            for (const Access& a : task.accesses)
                if (a.unsure)
                    before.emplace_back(reinterpret_cast<char*>(a.memory->bytes(a.start)), a.bytes);
    }
    if (delay) std::this_thread::sleep_for(std::chrono::microseconds(delay));
    if (!failure) failure = task.run();
    std::lock_guard<std::mutex> hold(tables);
    for (const Access& a : task.accesses) {
        const Allocation* touched = a.unsure && !failure ? a.memory->find(a.start, a.bytes) : nullptr;
        if (!touched || a.memory->fence_whole(*touched)) continue;
        std::fprintf(stderr, "simulated device: %s wrote behind an allocation of %zu bytes\n",
                     task.name.c_str(), touched->bytes);
        failure = kIllegalAddress;
    }
    if (failure) {
        stream->device->error = failure;
        note("failed %s stream=%zu error=%d", task.name.c_str(), stream->number, failure);
    }
    if (!checked) return;
    size_t unsure = 0;
    for (const Access& a : task.accesses) {
        bool writes = a.write;
        if (a.unsure) {
            const std::string& old = before[unsure++];
            writes = std::memcmp(a.memory->bytes(a.start), old.data(), old.size()) != 0;
        }
        check(*this, stream, task, a, writes);
    }
}

}  // namespace sim
