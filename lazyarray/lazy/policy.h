// Every figure that decides when work runs, where, and in what pieces, with what set it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lazyarray {

// The figures were measured on 2 cores of a 2.6 GHz server. From ready to started on a sleeping
// worker takes 3 to 12 us in profiles, and its core's caches are cold; an inline op costs 0.1 us
// besides its loop. So what costs less than a hand-off runs where it is, and what a wait is likely
// to follow at once is left for the waiter. (examples/train_digits.py against NumPy, medians of
// alternating runs: 1.6 with inline_ns 4000 and flush_ns 30000, 1.5 with 10000 and 30000, 1.15 with
// 10000 and 100000. Of one op that is waited for, 10000 and 16000: exp of 8100 doubles 1.16 and 0.91 of
// NumPy's time, a sum of 30,000 1.27 and 0.94; over 96 programs no difference.)
struct FlushPolicy {
  double inline_ns = 16000;   // an op cheaper than this runs in the caller's thread when ready
  double cheap_ns = 20000;    // stages cheaper than this share an operator with their neighbours
  double group_ns = 100000;   // ... until the operator holds this much
  double gil_ns = 50000;      // a call under the GIL cheaper than this is run by its pusher, if it is ready:
                              // a worker would have to be woken, and then to get the GIL
  double fuse_ns = 1000;      // an op that costs more than this may begin a fused pass
  // Where loops are compiled, an op of mid_ns that could run at once is recorded all the same, once stretch_ns of
  // such work has run with no value asked for in between. (Of NumPy's time, run at once and so, loops of 100 steps:
  // a three-point stencil of 12,800 elements 0.86 and 0.62, a five-point one of 130 x 130 0.55 and 0.33, 7 ops on
  // 5000 elements 0.81 and 0.52. With 10000 the values that an n-body program of 60 bodies asks for cost more
  // than that, 0.67 and 0.91; with ops of 1200 ns a stencil of 3000 took 1.2 in place of 0.7.)
  double mid_ns = 2500;
  double stretch_ns = 30000;
  int64_t cold_stretches = 16;  // of so many one is recorded, while passes are not compiled, ...
  int64_t new_stretches = 64;   // ... and while their plans are new each time
  double flush_ns = 100000;   // this much recorded work is worth a worker, ...
  int64_t age_ns = 200000;    // ... which takes it if nothing else flushes it for this long: a chain
                              // of ops is recorded at 0.2 us each, so it arrives whole
  int64_t call_age_ns = 2000000;  // ... and one call of NumPy's or of BLAS's threads for so long
  double age_share = 0.05;    // ... and longer, up to this share of the work, while more is being recorded
  double even_ns = 5000;      // of ops cheaper than this on average it takes rounds that are a power of two: a new plan
                              // costs 1 to 2 us an op, more than what a longer pass saves
  // Ops that can't begin a pass, and calls under the GIL below gil_ns, cost late_ns each more than they would at once
  // if they are recorded in a row because the first needed what was pending. After catch_up of them their pusher runs
  // what is open, if that takes no longer than what they have lost; after late_ops it waits for what is under way, for
  // catch_up_ns at least: a call there gets the GIL only by and by from a pusher that is busy. (Of NumPy's time, never
  // and so: a t-SNE that updates 120 points one by one after its matrices 1.0 and 0.54, an efficient frontier in 40
  // steps 1.3 and 0.9; 200 portfolios behind 80,000 draws and their covariance 2.0 and 0.75, behind 400,000 1.35 and
  // 0.85, of which waits as short as what was lost gained nothing.)
  size_t catch_up = 8;
  size_t late_ops = 32;
  double late_ns = 2000;
  double catch_up_ns = 5000000;
  int64_t direct_bytes = 32768;  // operands of a call that NumPy may run at once (ops/direct.pxi)
  // The same where what we would record is a call of NumPy's, too: it is run by its pusher, or by a worker that
  // then holds the GIL.
  int64_t hosted_bytes = 400000;
  int64_t lent_bytes = 16384;    // from this size on NumPy gets the memory itself, not a copy
  // So many random numbers are drawn at once, 3 to 12 ns each. (Microseconds, waited for, at once and as an op: 1000
  // normal numbers 11.6 and 29; 20,000 and 50,000 uniform ones 51 and 70, 129 and 161; as many integers 70 and 119,
  // 142 and 241. A program that draws 9000 a step: 5.8 ms at once, 7.6 as ops, NumPy 6.9. Larger ones had better
  // run beside.)
  int64_t draws = 50000;
  // So many elements read one by one that weren't there, and the next waits for their array: recorded, each costs
  // several times a read. (20,000 draws grouped in a loop: 17 ms recorded, 9.3 so, NumPy 7.4.)
  int late_reads = 16;
  int given_up = 10000;  // reads that don't wait after such a wait that was given up
  // How far pushers run ahead: their own work takes microseconds an op, so what keeps workers busy is far
  // less than memory could hold, and each pending op keeps its inputs alive. (300 products of 440 x 440 with
  // a new operand each: 454 MB with 1 GiB, 132 with this; the times differed less than from run to run.) Few ops may have more, up to
  // Recorder::max_pending_bytes: a chain on large arrays is recorded whole, most of it will get no memory.
  int64_t ahead_bytes = int64_t(128) << 20;
  int64_t few_ops = 16;
  // On a GPU an op costs a launch at least, and takes less than on a core. (An H100 moves 3.0 TB/s, a core 10 to 20
  // GB/s; products of float32 reach some 50 TFLOP/s, on a core 50 to 100 GFLOP/s.)
  double launch_ns = 5000;
  double gpu_speed = 200;
  double gpu_product_speed = 800;
  // A GPU's kernels are compiled, 40 to 200 ms each: what is handed over at once had better be what was handed
  // over in the round before. So a number of ops decides, not time, which only begins what nothing follows: few if
  // they are small, for a GPU had better begin, and many if they are large, for what is not fused moves more.
  // (1000 dependent ops of ten elements on an H100, cut after 200 us: 40 us an op, for there was a new kernel each time.)
  int64_t gpu_ops = 48;
  int64_t gpu_age_ns = 1000000;  // after the last one, where they are small
};

// What a tile touches should stay in the second-level cache, and the first holds what one call
// touches: there NumPy's loops run at full speed, and the calls (20 ns each, with the flags) are few
// enough. A pass that moves more than the caches hold waits for memory, which delivers best in long
// runs, unless the pass is long enough to fetch the next tile, bit by bit, while it computes this one:
// then tiles are small, so that each bit is (4M float64, two threads: the chain below 3.6 ms with it
// and 24 KiB, 3.9 without and 256; sqrt(a*a + b*b)*0.5 - a 3.8 and 4.5; a + b 1.7 and 1.6). Milliseconds with tiles of 32, 64, 96, 128, 256 KiB on two cores, all in one run: Jacobi,
// 10 sweeps of 1000 x 1000, 6.9 3.8 4.1 4.1 4.1; Mandelbrot 11.3 8.5 7.7 7.0 7.3; Black-Scholes 6.3
// 5.5 5.0 4.7 5.4. (a*b + c*d - a) / (b + 1.5), 4M float64, one thread: 9.1 8.0 6.6 6.3 6.0, 384 KiB 5.8.
struct TilePolicy {
  int64_t tile_bytes = 96 * 1024;
  // The same for passes that move at least `stream` bytes with less than `ns_per_byte` of work.
  int64_t stream_bytes = 256 * 1024;
  int64_t ahead_bytes = 24 * 1024;    // ... with at least as many instructions as operands in memory
  int64_t stream = int64_t(32) << 20;
  double ns_per_byte = 0.25;
  // Elements. With fewer the calls (some 40 ns) cost a third of what they compute, and even 250 operands of
  // 1024 doubles stay in the second-level cache. (Twenty arrays in turn: no difference to 256, within the noise.)
  int64_t least = 1024, most = 8192;
  int64_t ahead_least = 256;  // the least of a pass that fetches ahead: its next tile is in the caches, too
  int64_t row = 8192;                // elements of a reduced row that still fits in a tile
  // A sum over leading axes is shared out in so many panels of columns at most, none so narrow that the
  // calls for its rows cost more than they add up (1000 x 1000: 206 us with 8 panels of 125, NumPy 100).
  int64_t panels = 8, panel = 256;
  int64_t widest = 2048;  // ... or in more that are not wider: several of their rows stay in the cache
  // A pass of less work is not split: a worker that joins is there 5 to 12 us later, and where BLAS's
  // threads spin on the other cores, much later. (Costs are estimates, above what a tile in the
  // cache takes.)
  double split_ns = 100000;
  double task_ns = 25000;            // the work that a thread claims at a time
  // A call of NumPy's whose places are computed apart is made in pieces of so much work, at least two, where it lets
  // go of the GIL: each costs 5 to 10 us, and the worker that joins must get the GIL.
  double call_ns = 250000;
  // A chain of instructions on which passes have spent so much is compiled: that takes 20 to 40 ms of another core, and
  // the loop a half to a quarter of the time. (Of what is captured it is what its runs will take, by estimate.)
  double compile_ns = 20e6;
};

}  // namespace lazyarray
