// Running a kernel on the CPU: block after block, a block's threads one after the other.
//
// A thread that comes to __syncthreads() is parked on its fiber until all have come; a kernel
// without barriers runs in a plain loop on one fiber. Threads go on after a barrier in the reverse
// of the order before it, so that a missing barrier shows.
#pragma once
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstring>
#include <vector>

namespace sim {

struct Index {
    unsigned x, y, z;
};

// What a compiled kernel library shows of itself (device.h defines it).
struct Library {
    Index *thread, *block, *threads, *blocks;
    void (**barrier)();
    unsigned char* shared;
    size_t shared_bytes;
};

using Entry = void (*)(void** parameters);

// The caller holds the lock of running: there is one scheduler.
class Scheduler {
  public:
    static constexpr size_t kStack = size_t(128) << 10;

    // False: a barrier that not all threads of a block came to, or shared memory overrun.
    bool run(const Library& library, Entry entry, void** parameters, Index blocks, Index threads,
             size_t shared) {
        library_ = &library;
        entry_ = entry;
        parameters_ = parameters;
        *library.blocks = blocks;
        *library.threads = shape_ = threads;
        *library.barrier = &Scheduler::barrier;
        count_ = threads.x * threads.y * threads.z;
        for (unsigned z = 0; z < blocks.z; ++z)
            for (unsigned y = 0; y < blocks.y; ++y)
                for (unsigned x = 0; x < blocks.x; ++x) {
                    *library.block = Index{x, y, z};
                    if (!run_block(shared)) return false;
                }
        return true;
    }

    static Scheduler& one() {
        static Scheduler* scheduler = new Scheduler;  // for good: tasks may run at exit
        return *scheduler;
    }

  private:
    struct Fiber {
        jmp_buf at;
        ucontext_t start;
        Index index;
        bool started = false, waits = false;
    };

    bool run_block(size_t shared) {
        constexpr size_t kBehind = 64;
        size_t painted = shared ? shared + kBehind : 0;
        std::memset(library_->shared, 0xCB, painted);
        next_ = 0;
        waiting_.clear();
        while (next_ < count_) resume(spare());
        while (!waiting_.empty()) {
            bool all = waiting_.size() == count_;
            std::vector<Fiber*> go_on(waiting_.rbegin(), waiting_.rend());
            waiting_.clear();
            if (!all) {  // abandoned where they are
                library_ = nullptr;
                return false;
            }
            for (Fiber* fiber : go_on) {
                *library_->thread = fiber->index;
                resume(fiber);
            }
        }
        for (size_t i = shared; i < painted; ++i)
            if (library_->shared[i] != 0xCB) return false;
        return true;
    }

    Fiber* spare() {
        if (idle_.empty()) {
            Fiber* made = new Fiber;
            void* stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            getcontext(&made->start);
            made->start.uc_stack.ss_sp = stack;
            made->start.uc_stack.ss_size = kStack;
            made->start.uc_link = nullptr;
            makecontext(&made->start, &Scheduler::body, 0);
            idle_.push_back(made);
        }
        Fiber* fiber = idle_.back();
        idle_.pop_back();
        return fiber;
    }

    // setjmp and longjmp switch without a system call; makecontext only makes the first frame.
    __attribute__((noinline)) void resume(Fiber* fiber) {
        current_ = fiber;
        if (_setjmp(home_) == 0) {
            if (fiber->started) _longjmp(fiber->at, 1);
            fiber->started = true;
            setcontext(&fiber->start);
        }
        if (current_->waits)
            waiting_.push_back(current_);
        else
            idle_.push_back(current_);
    }

    __attribute__((noinline)) void park(bool waits) {
        Fiber* fiber = current_;
        fiber->waits = waits;
        if (_setjmp(fiber->at) == 0) _longjmp(home_, 1);
    }

    static void barrier() {
        Scheduler& self = one();
        self.current_->index = *self.library_->thread;
        self.park(true);
    }

    static void body() {
        Scheduler& self = one();
        for (;;) {
            while (self.next_ < self.count_) {
                unsigned n = self.next_++;
                const Index& s = self.shape_;
                *self.library_->thread = Index{n % s.x, n / s.x % s.y, n / s.x / s.y};
                self.entry_(self.parameters_);
            }
            self.park(false);
        }
    }

    const Library* library_ = nullptr;
    Entry entry_ = nullptr;
    void** parameters_ = nullptr;
    Index shape_{};
    unsigned count_ = 0, next_ = 0;
    Fiber* current_ = nullptr;
    jmp_buf home_;
    std::vector<Fiber*> idle_, waiting_;
};

}  // namespace sim
