// Memory of the simulated devices: addresses that are given out, and where their bytes really are.
//
// Device addresses are reserved and never accessible (PROT_NONE), so a stray access of the CPU
// crashes. The bytes live in a second mapping at a fixed distance; the simulator alone goes there.
#pragma once
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace sim {

using Address = uint64_t;

// A stream's position in each stream's order that it is sure to come after (a vector clock).
struct Clock {
    std::vector<uint64_t> seen;
    uint64_t of(size_t stream) const { return stream < seen.size() ? seen[stream] : 0; }
    void merge(const Clock& other) {
        if (seen.size() < other.seen.size()) seen.resize(other.seen.size());
        for (size_t i = 0; i < other.seen.size(); ++i)
            if (seen[i] < other.seen[i]) seen[i] = other.seen[i];
    }
    void set(size_t stream, uint64_t position) {
        if (seen.size() <= stream) seen.resize(stream + 1);
        seen[stream] = position;
    }
};

// What hazards.h remembers of an allocation: its last write, and the reads since.
struct Accesses {
    size_t writer = 0;
    uint64_t write = 0;  // position in the writer's order; 0: never written
    std::map<size_t, uint64_t> reads;
};

struct Allocation {
    Address start;
    size_t bytes;
    uint64_t number;
    Accesses accesses;
};

inline constexpr size_t kAlign = 512;
inline constexpr unsigned char kFresh = 0xCB, kFreed = 0xDB, kFence = 0xFB;

// One device's memory. The caller holds the lock of tables.
class Memory {
  public:
    static constexpr size_t kWindow = size_t(1) << 34;  // of addresses; half may be used
    size_t capacity = size_t(4) << 30, used = 0;

    explicit Memory(int device) {
        // Far off, so that no ordinary integer in a kernel's arguments looks like an address.
        void* hint = reinterpret_cast<void*>(Address(0x2d0000000000) + device * 2 * kWindow);
        void* reserved = mmap(hint, kWindow, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        void* bytes = mmap(nullptr, kWindow, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved == MAP_FAILED || bytes == MAP_FAILED) return;
        base_ = cursor_ = reinterpret_cast<Address>(reserved);
        delta_ = reinterpret_cast<Address>(bytes) - base_;
        free_[base_] = kWindow;
    }

    bool ok() const { return base_ != 0; }
    bool inside(Address a) const { return a >= base_ && a < base_ + kWindow; }
    unsigned char* bytes(Address a) const { return reinterpret_cast<unsigned char*>(a + delta_); }

    // 0 if there is no space. Addresses go round before they are used again: stale ones stay stale.
    Address allocate(size_t bytes, uint64_t number) {
        size_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
        if (used + rounded > capacity) return 0;
        size_t taken = rounded + kAlign;  // a fence behind
        auto it = free_.lower_bound(cursor_);
        for (size_t tried = 0; tried <= free_.size(); ++tried) {
            if (it == free_.end()) it = free_.begin();
            if (it == free_.end()) return 0;
            if (it->second >= taken) break;
            ++it;
        }
        if (it == free_.end() || it->second < taken) return 0;
        Address start = it->first;
        size_t left = it->second - taken;
        free_.erase(it);
        if (left) free_[start + taken] = left;
        cursor_ = start + taken;
        live_[start] = Allocation{start, bytes, number, {}};
        used += rounded;
        paint(start, rounded, kFresh);
        std::memset(this->bytes(start + bytes), kFence, rounded - bytes + kAlign);
        return start;
    }

    // The live allocation that holds [a, a + bytes), or null.
    Allocation* find(Address a, size_t bytes) {
        auto it = live_.upper_bound(a);
        if (it == live_.begin()) return nullptr;
        Allocation& found = (--it)->second;
        bool holds = a - found.start <= found.bytes && bytes <= found.bytes - (a - found.start);
        return holds ? &found : nullptr;
    }

    // Nothing was written behind it.
    bool fence_whole(const Allocation& a) const {
        size_t rounded = (a.bytes + kAlign - 1) / kAlign * kAlign;
        const unsigned char* end = bytes(a.start + rounded + kAlign);
        for (const unsigned char* p = bytes(a.start + a.bytes); p != end; ++p)
            if (*p != kFence) return false;
        return true;
    }

    void release(Allocation* a) {
        size_t rounded = (a->bytes + kAlign - 1) / kAlign * kAlign;
        Address start = a->start;
        size_t taken = rounded + kAlign;
        used -= rounded;
        paint(start, rounded, kFreed);
        live_.erase(start);
        auto after = free_.lower_bound(start);
        if (after != free_.end() && after->first == start + taken) {
            taken += after->second;
            after = free_.erase(after);
        }
        if (after != free_.begin()) {
            auto before = std::prev(after);
            if (before->first + before->second == start) {
                before->second += taken;
                return;
            }
        }
        free_[start] = taken;
    }

    std::map<Address, Allocation>& live() { return live_; }

  private:
    // Large blocks only at their ends: pages that nobody touched stay unused.
    void paint(Address start, size_t bytes, unsigned char with) {
        constexpr size_t kEnds = size_t(1) << 20;
        if (bytes <= 4 * kEnds) {
            std::memset(this->bytes(start), with, bytes);
            return;
        }
        if (with == kFreed) {
            Address page = (start + kEnds) / 4096 * 4096;
            Address end = (start + bytes - kEnds) / 4096 * 4096;
            madvise(this->bytes(page), end - page, MADV_DONTNEED);
        }
        std::memset(this->bytes(start), with, kEnds);
        std::memset(this->bytes(start + bytes - kEnds), with, kEnds);
    }

    Address base_ = 0, cursor_ = 0, delta_ = 0;
    std::map<Address, Allocation> live_;
    std::map<Address, size_t> free_;
};

}  // namespace sim
