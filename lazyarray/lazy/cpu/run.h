// run(): executes one instruction on the CPU with NumPy's own loops.
#pragma once
#include <cfenv>
#include <cstring>
#include <mutex>

#include "lazy/cpu/casts.h"
#include "lazy/cpu/elementwise.h"
#include "lazy/cpu/gather.h"
#include "lazy/cpu/masks.h"

namespace lazyarray {

// What a reduction's result starts from.
inline void start_result(const Kernel& kernel, const char* first, char* to) {
  std::memcpy(to, kernel.starts_with_first ? first : kernel.identity, info(kernel.dtypes[1]).size);
}
// ... and what `n` results start from that lie `so` bytes apart, their first elements `si`.
template <class T>
inline void start_line(const char* from, npy_intp si, char* to, npy_intp so, npy_intp n) {
  constexpr npy_intp size = sizeof(T);
  if (si == size && so == size) {
    std::memcpy(to, from, n * size);
    return;
  }
  T one;
  std::memcpy(&one, from, size);
  if (si == 0 && so == size) {
    for (npy_intp i = 0; i < n; ++i) std::memcpy(to + i * size, &one, size);
    return;
  }
  for (npy_intp i = 0; i < n; ++i, from += si, to += so) std::memcpy(to, from, size);
}
void start_results(const Kernel& kernel, const char* first, npy_intp si, char* to, npy_intp so,
                   npy_intp n);

// The binary loop with its first input and its output on the result: where the inner axis is
// reduced (step 0) that is NumPy's own reduction, pairwise sums included. Operands: input, output.
void run_reduce(const Instr& in, const Block& b);

// BLAS and LAPACK calls that OpenBLAS runs on several threads go one at a time and alone: two at
// once, each threaded, take several times as long as one after the other. It threads a product
// above this many multiply-adds.
constexpr double kThreadedProduct = 262144;

// Threads that call OpenBLAS for small matrices at once wait for each other to get memory: three times as long as one
// thread alone, where a product takes a few dozen nanoseconds. Below this estimate one thread has all of a stack.
// (Two threads, 16 x 16 of float64, estimated 123 ns: 0.73 of one thread's time; 12 x 12, 52 ns: 1.07; 3 x 3: 3.)
constexpr double kCrowdedProduct = 70;

bool is_wide(Runtime& rt, const Instr& in, double multiply_adds);

// A generalised ufunc's loop: one call runs it over the innermost batch axis. Returns the floating-point flags of
// other threads that took part.
int run_gufunc(Runtime& rt, const Instr& in, const Block& b, const Crew* crew);

Error* run_gather(Instr& in, const Block& b, const Crew* crew);

// ---- one instruction -------------------------------------------------------------------------

// Runs it; returns the failure (owned) or null. Needs no GIL, except for PYTHON instructions.
Error* run(Runtime& rt, Instr& in, const Crew* crew = nullptr);

// Of two elements the first, if the mask's byte is not 0.
template <class T>
[[gnu::always_inline]] inline T chosen(char c, T a, T b) {
  if constexpr (sizeof(T) == 16) {  // else compilers make a branch of it, which a mask often mispredicts
    typedef uint64_t Pair __attribute__((vector_size(16)));
    const uint64_t all = c ? ~uint64_t(0) : 0;
    const Pair mask = {all, all};
    Pair x, y;
    std::memcpy(&x, &a, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    x = (x & mask) | (y & ~mask);
    std::memcpy(&a, &x, sizeof x);
    return a;
  } else {
    return c ? a : b;
  }
}
// `where`'s own loop: NumPy has no ufunc for it. By size: the bytes are only moved.
template <bool stepping_x, bool stepping_y, class T>
void where_run(const char* c, const T* x, const T* y, T* out, npy_intp n) {
  const T x0 = *x, y0 = *y;
  // An output is exactly an input or apart from it, so no iteration touches another's elements.
#pragma clang loop vectorize(assume_safety)
#pragma GCC ivdep
  for (npy_intp i = 0; i < n; ++i) {
    const T a = stepping_x ? x[i] : x0, b = stepping_y ? y[i] : y0;
    out[i] = chosen(c[i], a, b);
  }
}
// In place, for `x[mask] = y`: where few are true, what no element of eight is true of is not touched.
template <bool stepping, class T>
void where_into(const char* c, const T* x, T* to, npy_intp n) {
  constexpr npy_intp kBlock = 512, kFew = kBlock / 12;
  for (npy_intp begin = 0; begin < n; begin += kBlock) {
    const npy_intp count = std::min(n - begin, kBlock);
    const char* mask = c + begin;
    const T* from = stepping ? x + begin : x;
    T* into = to + begin;
    if (count_true(mask, count) > kFew) where_run<stepping, true>(mask, from, into, into, count);
    else each_true(mask, count, [&](npy_intp i) { into[i] = stepping ? from[i] : *from; });
  }
}
template <class T>
void where_loop(char** args, npy_intp const* dimensions, npy_intp const* steps, void*) {
  const char *c = args[0], *x = args[1], *y = args[2];
  char* out = args[3];
  const npy_intp n = dimensions[0];
  constexpr npy_intp size = sizeof(T);
  if constexpr (size <= 16) {
    auto dense = [&](int k) { return steps[k] == size || steps[k] == 0; };
    if (n > 0 && steps[0] == 1 && dense(1) && dense(2) && steps[3] == size) {
      const T *tx = reinterpret_cast<const T*>(x), *ty = reinterpret_cast<const T*>(y);
      T* to = reinterpret_cast<T*>(out);
      if (y == out && steps[2] && (x != out || !steps[1])) {
        if (steps[1]) where_into<true>(c, tx, to, n);
        else where_into<false>(c, tx, to, n);
      } else if (steps[1] && steps[2]) {
        where_run<true, true>(c, tx, ty, to, n);
      } else if (steps[1]) {
        where_run<true, false>(c, tx, ty, to, n);
      } else if (steps[2]) {
        where_run<false, true>(c, tx, ty, to, n);
      } else {
        where_run<false, false>(c, tx, ty, to, n);
      }
      return;
    }
  }
  const int chosen = n > 0 && *c ? 1 : 2;
  if (steps[0] == 0 && steps[chosen] == size && steps[3] == size) {  // a row of one of them
    if (n > 0 && args[chosen] != out) std::memmove(out, args[chosen], n * size);
    return;
  }
  for (npy_intp i = 0; i < n; ++i) {
    std::memcpy(out, *c ? x : y, sizeof(T));
    c += steps[0];
    x += steps[1];
    y += steps[2];
    out += steps[3];
  }
}
Loop where_of_size(int size);

// The loop of a kernel that warns: its second operand as it is, and the invalid flag where the first is true.
template <class T>
void warning_loop(char** args, const npy_intp* shape, const npy_intp* steps, void*) {
  const char *wrong = args[0], *x = args[1];
  char* out = args[2];
  bool any = false;
  for (npy_intp i = 0; i < shape[0]; ++i) {
    any |= *wrong != 0;
    if (x != out) std::memcpy(out, x, sizeof(T));
    wrong += steps[0];
    x += steps[1];
    out += steps[2];
  }
  if (any) std::feraiseexcept(FE_INVALID);
}
Loop warning_of_size(int size);

}  // namespace lazyarray
