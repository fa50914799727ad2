// pick, place and fill: elements chosen by an array of booleans; NumPy has no loops for them.
#pragma once
#include <cstring>

#include "lazy/instr.h"

namespace lazyarray {

// Eight booleans at once; any byte that isn't zero is true.
inline uint64_t eight(const char* mask) {
  uint64_t w;
  std::memcpy(&w, mask, 8);
  return w;
}
// Whether no byte of eight is zero.
inline bool all_eight(uint64_t w) { return !((w - 0x0101010101010101u) & ~w & 0x8080808080808080u); }
// Calls body(i) for each true one, in order: of eight bytes it looks only at those that aren't zero. Where all eight
// are true it calls run(i) for them.
template <class Body, class Run>
void each_true(const char* mask, npy_intp n, Body body, Run run) {
  npy_intp i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t w = eight(mask + i);
    if (all_eight(w)) {
      run(i);
      continue;
    }
    if (!w) {  // often more of them
      while (i + 40 <= n && !(eight(mask + i + 8) | eight(mask + i + 16) | eight(mask + i + 24) | eight(mask + i + 32)))
        i += 32;
      continue;
    }
    while (w) {
      const int byte = __builtin_ctzll(w) / 8;
      body(i + byte);
      w &= ~(uint64_t(0xff) << (8 * byte));
    }
  }
  for (; i < n; ++i)
    if (mask[i]) body(i);
}
template <class Body>
void each_true(const char* mask, npy_intp n, Body body) {
  each_true(mask, n, body, [&](npy_intp i) {
    for (npy_intp k = i; k < i + 8; ++k) body(k);
  });
}

npy_intp count_true(const char* mask, npy_intp n);
// Where they are; there is room for all.
void places_of_true(const char* mask, npy_intp n, npy_intp* to);
Loop pick_of_size(int size);
Loop place_of_size(int size);
Loop place_rows_of_size(int size);
Loop fill_of_size(int size);
// Kernel::check of a place: the error of too few or too many values, or null.
Error* misfit(const Instr& in, const Block& b);
Error* misfit_rows(const Instr& in, const Block& b);

}  // namespace lazyarray
