// Elementwise: a kernel over a block of memory.
#include "lazy/cpu/elementwise.h"

#include "lazy/cpu/casts.h"
#include "lazy/cpu/expand.h"
#include "lazy/cpu/lines.h"
#include "lazy/cpu/turn.h"

namespace lazyarray {

static bool lies_apart(const Kernel& kernel, const Block& b) {
  return lies_apart(info(kernel.dtypes[1]).size, b.strides[1] + b.ndim - 2, b.shape + b.ndim - 2);
}

// Whether a copy's last two axes are a transposed copy, perhaps of an axis that is walked backwards; which is then made.
static bool turned(const Kernel& kernel, const Block& b) {
  const int outer = b.ndim - 2, size = info(kernel.dtypes[0]).size;
  const npy_intp* const shape = b.shape + outer;
  npy_intp steps[2][2], skipped[2] = {};
  for (int a = 0; a < 2; ++a) {
    const npy_intp step[] = {b.strides[0][outer + a], b.strides[1][outer + a]};
    const bool back = step[0] == -size || step[1] == -size;
    for (int k = 0; k < 2; ++k) {
      steps[k][a] = back ? -step[k] : step[k];
      skipped[k] += back ? (shape[a] - 1) * step[k] : 0;
    }
  }
  const int row = turned_row(size, steps[0], steps[1]);
  if (row < 0 || !turns(size, shape[1 - row], shape[row]) || !lies_apart(kernel, b)) return false;
  each(b, outer, [&](char* const* p, const npy_intp*) {
    turn(size, p[1] + skipped[1], steps[1][1 - row], p[0] + skipped[0], steps[0][row], shape[1 - row], shape[row]);
  });
  return true;
}

// Whether a copy's last two axes are a row of elements, each a few times, which is then made.
static bool repeated(const Kernel& kernel, const Block& b) {
  const int outer = b.ndim - 2, size = info(kernel.dtypes[0]).size;
  const npy_intp *from = b.strides[0] + outer, *to = b.strides[1] + outer, *shape = b.shape + outer;
  const int times = from[0] == 0 ? 0 : 1, of = 1 - times;
  if (from[times] != 0 || to[times] != size || to[of] != shape[times] * size || shape[times] >= kShortRow) return false;
  each(b, outer, [&](char* const* p, const npy_intp*) {
    repeat_each(size, p[0], shape[of], from[of], shape[times], p[1]);
  });
  return true;
}

// Whether broadcast operands are all that keeps short rows from being long ones. Then these are written out, as NumPy's
// iterator does it, a few KB at a time, and the loop has many rows in a call. (`p >= k`, 900 x 2 by 2 integers, of
// NumPy's time, a call for each row and so: 2.7, 0.2.)
static bool lengthened(const Kernel& kernel, const Block& b, void* data) {
  constexpr npy_intp kRoom = 4096, kFewest = 8, kLongest = 64;  // bytes of an operand; rows; a row's elements
  constexpr int kInputs = 3;
  const int inner = b.ndim - 1, outer = inner - 1;
  const npy_intp n = b.shape[inner], rows = b.shape[outer];
  const bool any_steps = kernel.any_order && !kernel.minds_still;
  if (n >= kLongest || rows < kFewest || kernel.casts_range || kernel.nin > kInputs) return false;
  if (!kernel.any_order && info(kernel.dtypes[0]).kind == 'c') return false;  // their bits depend on the number, too
  npy_intp steps[kMaxOperands], at_once = rows;
  bool written[kInputs] = {};
  for (int k = 0; k < b.nop; ++k) {
    const npy_intp row = b.strides[k][outer], size = info(kernel.dtypes[k]).size;
    steps[k] = b.strides[k][inner];
    if (row == steps[k] * n) continue;
    if (k >= kernel.nin || (row && steps[k]) || !(any_steps || steps[k] == size)) return false;
    written[k] = true;
    steps[k] = size;
    at_once = std::min(at_once, kRoom / (size * n));
  }
  if (at_once < rows) at_once -= at_once % kFewest;  // whole vectors
  if (at_once == 0) return false;
  alignas(64) char room[kInputs][kRoom];
  each(b, outer, [&](char* const* p, const npy_intp*) {
    for (npy_intp begin = 0; begin < rows; begin += at_once) {
      const npy_intp count = std::min(at_once, rows - begin), elements = count * n;
      char* args[kMaxOperands];
      for (int k = 0; k < b.nop; ++k) {
        const npy_intp row = b.strides[k][outer];
        args[k] = p[k] + begin * row;
        if (k >= kernel.nin || !written[k]) continue;
        if (row) {
          repeat_each(static_cast<int>(steps[k]), args[k], count, row, n, room[k]);
        } else if (begin == 0) {
          repeat_each(static_cast<int>(steps[k]), p[k], n, b.strides[k][inner], 1, room[k]);
          repeat_first(room[k], steps[k] * n, count);
        }
        args[k] = room[k];
      }
      kernel.fn(args, &elements, steps, data);
    }
  });
  return true;
}

// What `f` makes of the block with its longest axis in the place of the last one but one; false where that is the longest,
// or where not all of the output lies apart.
template <class F>
static bool with_more_rows(const Block& b, F f) {
  const int outer = b.ndim - 2;
  int longest = outer;
  for (int a = outer - 1; a >= 0 && b.strides[1][a] >= b.strides[1][a + 1] * b.shape[a + 1]; --a)
    if (b.shape[a] > b.shape[longest]) longest = a;
  if (longest == outer) return false;
  npy_intp changed[3][kMaxDims];
  const npy_intp* const given[] = {b.shape, b.strides[0], b.strides[1]};
  for (int i = 0; i < 3; ++i) {
    std::copy(given[i], given[i] + b.ndim, changed[i]);
    std::swap(changed[i][longest], changed[i][outer]);
  }
  Block swapped = b;
  swapped.shape = changed[0];
  swapped.strides[0] = changed[1];
  swapped.strides[1] = changed[2];
  return f(swapped);
}

// Whether a copy or a cast has rows so short that a call for each would cost more than their elements (the channels of
// pictures). Then a call has one place of many rows, some at a time, which stay in the cache.
static bool crosswise(const Kernel& kernel, const Block& b, void* data) {
  constexpr npy_intp kLongest = 8, kFewest = 16, kAtOnce = 2048;  // elements of a row; rows
  const int inner = b.ndim - 1, outer = inner - 1;
  const npy_intp n = b.shape[inner], rows = b.shape[outer];
  if (n >= kLongest || kernel.nin != 1 || !lies_apart(kernel, b) ||
      kernel.fn != cast_loop(info(kernel.dtypes[0]).type_num, info(kernel.dtypes[1]).type_num))
    return false;
  if (rows < kFewest) return with_more_rows(b, [&](const Block& swapped) { return crosswise(kernel, swapped, data); });
  const npy_intp steps[] = {b.strides[0][outer], b.strides[1][outer]};
  each(b, outer, [&](char* const* p, const npy_intp*) {
    for (npy_intp begin = 0; begin < rows; begin += kAtOnce) {
      const npy_intp count = std::min(kAtOnce, rows - begin);
      for (npy_intp i = 0; i < n; ++i) {
        char* args[2];
        for (int k = 0; k < 2; ++k) args[k] = p[k] + begin * steps[k] + i * b.strides[k][inner];
        kernel.fn(args, &count, steps, data);
      }
    }
  });
  return true;
}

// Whether a copy's rows lie together in both memories; these are then moved, as a loop's call would do it.
static bool moved(const Kernel& kernel, const Block& b) {
  const int inner = b.ndim - 1, outer = inner - 1, size = info(kernel.dtypes[0]).size;
  if (b.strides[0][inner] != size || b.strides[1][inner] != size) return false;
  const npy_intp from_step = b.strides[0][outer], to_step = b.strides[1][outer], rows = b.shape[outer];
  const size_t bytes = static_cast<size_t>(b.shape[inner] * size);
  each(b, outer, [&](char* const* p, const npy_intp*) {
    const char* from = p[0];
    char* to = p[1];
    for (npy_intp r = 0; r < rows; ++r, from += from_step, to += to_step) std::memmove(to, from, bytes);
  });
  return true;
}

// Whether a comparison reads one operand by steps. NumPy's loops have vector instructions only for what lies in a row:
// that operand is copied so, some KB at a time, as NumPy's iterator does where orders are mixed. (`x.T == y`, 173 x 173
// doubles, by steps and so: 32 and 14 us.)
static bool compared_in_a_row(const Kernel& kernel, const Block& b, void* data) {
  constexpr npy_intp kRoom = 4096, kFewest = 16;  // bytes; elements
  const int inner = b.ndim - 1;
  const npy_intp n = b.shape[inner];
  if (n < kFewest || kernel.nin != 2 || b.nop != 3 || !kernel.any_order || kernel.dtypes[0] != kernel.dtypes[1] ||
      info(kernel.dtypes[2]).kind != 'b' || b.strides[2][inner] != 1)
    return false;
  const DtypeInfo& dtype = info(kernel.dtypes[0]);
  const npy_intp size = dtype.size;
  npy_intp steps[3] = {b.strides[0][inner], b.strides[1][inner], 1};
  const auto by_steps = [&](int k) { return steps[k] != size && steps[k] != 0; };
  if (size < 4 || by_steps(0) == by_steps(1)) return false;
  const int k = by_steps(0) ? 0 : 1;
  const Loop copy = cast_loop(dtype.type_num, dtype.type_num);
  const npy_intp copied[] = {steps[k], size};
  steps[k] = size;
  alignas(64) char room[kRoom];
  each(b, inner, [&](char* const* p, const npy_intp*) {
    for (npy_intp begin = 0; begin < n; begin += kRoom / size) {
      const npy_intp count = std::min(kRoom / size, n - begin);
      char* from[] = {p[k] + begin * copied[0], room};
      copy(from, &count, copied, nullptr);
      char* args[] = {p[0] + begin * steps[0], p[1] + begin * steps[1], p[2] + begin};
      args[k] = room;
      kernel.fn(args, &count, steps, data);
    }
  });
  return true;
}

// Whether an input has no step, and NumPy's loop has vector instructions only for what lies in a row: that input is then
// written out, some KB of it. (`b | b[:, :1]`, 316 x 316 bools, without and so: 39 and 5 us.)
static bool still_in_a_row(const Kernel& kernel, const Block& b, void* data) {
  constexpr npy_intp kRoom = 4096, kFewest = 64;  // bytes; elements
  const int inner = b.ndim - 1;
  const npy_intp n = b.shape[inner], size = info(kernel.dtypes[0]).size;
  if (!kernel.slow_still || n < kFewest || b.strides[2][inner] != size) return false;
  const int k = b.strides[0][inner] == 0 ? 0 : 1;
  if (b.strides[k][inner] != 0 || b.strides[1 - k][inner] != size) return false;
  const npy_intp steps[] = {size, size, size}, most = std::min(n, kRoom / size);
  alignas(64) char room[kRoom];
  each(b, inner, [&](char* const* p, const npy_intp*) {
    repeat_each(static_cast<int>(size), p[k], 1, 0, most, room);
    for (npy_intp begin = 0; begin < n; begin += most) {
      const npy_intp count = std::min(most, n - begin), at = begin * size;
      char* args[] = {p[0] + at, p[1] + at, p[2] + at};
      args[k] = room;
      kernel.fn(args, &count, steps, data);
    }
  });
  return true;
}

static void call_loops(const Kernel& kernel, const Block& b, void* data) {
  const int inner = b.ndim - 1;
  const npy_intp n = b.shape[inner];
  if (n == 0) return;  // rows of nothing have no step from one to the next
  npy_intp steps[kMaxOperands];
  for (int k = 0; k < b.nop; ++k) steps[k] = b.strides[k][inner];
  if (inner > 0 && kernel.lines)
    if (const LineLoop lines = kernel.lines->find(info(kernel.dtypes[0]).size, steps, n)) {
      npy_intp outer[3];
      for (int k = 0; k < 3; ++k) outer[k] = b.strides[k][inner - 1];
      const npy_intp rows = b.shape[inner - 1];
      each(b, inner - 1, [&](char* const* p, const npy_intp*) { lines(p, n, rows, outer); });
      return;
    }
  if (inner > 0 && kernel.copies && (turned(kernel, b) || repeated(kernel, b))) return;
  if (inner > 0 && (lengthened(kernel, b, data) || crosswise(kernel, b, data))) return;
  if (inner > 0 && kernel.copies && moved(kernel, b)) return;
  if (compared_in_a_row(kernel, b, data) || still_in_a_row(kernel, b, data)) return;
  auto call = [&](char* const* p, const npy_intp*) {
    char* args[kMaxOperands];  // some loops move their argument pointers
    for (int k = 0; k < b.nop; ++k) args[k] = p[k];
    kernel.fn(args, &n, steps, data);
  };
  if (inner > 0) each(b, inner, call);
  else call(b.ptrs, nullptr);
}

Error* run_elementwise(Runtime& rt, Instr& in, const Block& b, bool* invalid) {
  const Kernel& kernel = *in.kernel;
  if (kernel.check)
    if (Error* e = kernel.check(in, b)) return e;
  int out_of_range = 0;
  call_loops(kernel, b, kernel.casts_range ? &out_of_range : kernel.data);
  if (!out_of_range) return nullptr;
  if (!in.has_refs) {  // inline: see Recorder::run_inline
    in.put_off = true;
    return nullptr;
  }
  Error* const e = rt.hooks.recast(in, b, invalid);
  take_flags(true);
  return e;
}

const char* const kNegativeExponent = "Integers to negative integer powers are not allowed.";

Error* negative_exponent(const Instr& in, const Block& b) {
  const int size = info(in.kernel->dtypes[1]).size, inner = b.ndim - 1;
  const npy_intp n = b.ndim ? b.shape[inner] : 1, step = b.ndim ? b.strides[1][inner] : 0;
  bool found = false;
  each(b, inner, [&](char* const* p, const npy_intp*) {
    const char* sign = p[1] + size - 1;  // a little-endian integer's
    for (npy_intp i = 0; i < n; ++i, sign += step) found |= *reinterpret_cast<const signed char*>(sign) < 0;
  });
  return found ? new Error(Error::VALUE, kNegativeExponent) : nullptr;
}

template <class T, int parts = 1>
static bool is_zero(const char* p) {
  T x[parts];
  std::memcpy(x, p, sizeof x);
  return x[0] == 0 && x[parts - 1] == 0;
}

static bool (*zero_of(int dtype))(const char*) {
  switch (dtype) {
    case f2: return [](const char* p) { return !(*reinterpret_cast<const uint16_t*>(p) & 0x7fff); };
    case f4: return is_zero<float>;
    case f8: return is_zero<double>;
    case fg: return is_zero<long double>;
    case c8: return is_zero<float, 2>;
    case c16: return is_zero<double, 2>;
    default: return is_zero<long double, 2>;
  }
}

Error* weights_of_zero(const Instr& in, const Block& b) {
  const auto zero = zero_of(in.kernel->dtypes[1]);
  const int inner = b.ndim - 1;
  const npy_intp n = b.ndim ? b.shape[inner] : 1, step = b.ndim ? b.strides[1][inner] : 0;
  bool found = false;
  each(b, inner, [&](char* const* p, const npy_intp*) {
    for (npy_intp i = 0; i < n; ++i) found |= zero(p[1] + i * step);
  });
  return found ? new Error(Error::ZERO_DIVISION, "Weights sum to zero, can't be normalized") : nullptr;
}

}  // namespace lazyarray
