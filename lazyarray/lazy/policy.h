// Every figure that decides when work runs, where, and in what pieces, with what set it.
#pragma once
#include <cstdint>

namespace lazyarray {

// The figures were measured on 2 cores of a 2.6 GHz server. From ready to started on a sleeping
// worker takes 3 to 12 us in traces, and its core's caches are cold; an inline op costs 0.1 us
// besides its loop. So what costs less than a hand-off runs where it is, and what a wait is likely
// to follow at once is left for the waiter. (examples/train_digits.py against NumPy, medians of
// alternating runs: 1.6 with inline_ns 4000 and flush_ns 30000, 1.5 with 10000 and 30000, 1.15 with
// these.)
struct FlushPolicy {
  double inline_ns = 10000;   // an op cheaper than this runs in the caller's thread when ready
  double cheap_ns = 20000;    // stages cheaper than this share an operator with their neighbours
  double group_ns = 100000;   // ... until the operator holds this much
  double fuse_ns = 1000;      // an op dearer than this may begin a fused pass
  double flush_ns = 100000;   // this much recorded work is worth a worker, ...
  int64_t age_ns = 100000;    // ... which takes it if nothing else flushes it for this long: a chain
                              // of ops is recorded at 0.2 us each, so it arrives whole
};

// What a tile touches should stay in the first-level cache and the best part of the second: there
// NumPy's loops run at their full speed, and calls (20 ns each, with the flags) are few enough. A
// pass that moves more than the caches hold waits for memory, which delivers best in long runs:
// (a*b + c*d - a) / (b + 1.5) on 4M float64, one thread, NumPy 10.3 ms: 8.0 ms with tiles of 64 KiB,
// 6.3 with 128, 6.0 with 256, 5.8 with 384; on 64k float64 it is fastest with 64.
struct TilePolicy {
  int64_t tile_bytes = 64 * 1024;
  int64_t stream_bytes = 256 * 1024;  // tile_bytes of passes that move at least `stream`
  int64_t stream = int64_t(8) << 20;
  int64_t least = 256, most = 8192;  // elements
  int64_t row = 8192;                // elements of a reduced row that still fits in a tile
  double task_ns = 25000;            // work worth another worker's while
};

}  // namespace lazyarray
