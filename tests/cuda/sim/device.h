// What a CUDA source needs to be compiled by g++ for the simulated device (-include'd before it).
#pragma once
#include <math.h>
#include <stddef.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct sim_index {
    unsigned x, y, z;
};
static sim_index threadIdx, blockIdx, blockDim, gridDim;
static void (*sim_barrier)();
static inline void __syncthreads() { sim_barrier(); }

// Fibers go from one block to the next, so the indices may not be kept in registers over a barrier;
// they are not: sim_barrier is opaque.

extern "C" char scratch[] __attribute__((aligned(16)));  // the dynamic shared memory of a block

template <int... I>
struct sim_numbers {};

template <class... P, int... I>
static inline void sim_spread(void (*kernel)(P...), void** parameters, sim_numbers<I...>) {
    kernel(*static_cast<P*>(parameters[I])...);
}
template <class... P>
static inline void sim_invoke(void (*kernel)(P...), void** parameters) {
    sim_spread(kernel, parameters, sim_numbers<__integer_pack(int(sizeof...(P)))...>());
}
template <class... P>
static inline size_t sim_size(void (*)(P...), int n) {
    const size_t sizes[] = {sizeof(P)..., 0};
    return n < int(sizeof...(P)) ? sizes[n] : 0;
}

// Behind the source: SIM_LIBRARY once, SIM_KERNEL(name) for each kernel.
#define SIM_SHARED_BYTES (size_t(48) << 10)
#define SIM_LIBRARY                                                                             \
    extern "C" {                                                                                \
    char scratch[SIM_SHARED_BYTES + 64] __attribute__((aligned(16)));                           \
    struct {                                                                                    \
        sim_index *thread, *block, *threads, *blocks;                                           \
        void (**barrier)();                                                                     \
        char* shared;                                                                           \
        size_t shared_bytes;                                                                    \
    } sim_library = {&threadIdx, &blockIdx, &blockDim, &gridDim, &sim_barrier, scratch,         \
                     SIM_SHARED_BYTES};                                                         \
    }
#define SIM_KERNEL(name)                                                                        \
    extern "C" void sim_call_##name(void** parameters) { sim_invoke(name, parameters); }        \
    extern "C" size_t sim_size_##name(int n) { return sim_size(name, n); }
