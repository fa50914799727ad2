// The type of an inner loop: NumPy's own, so that its loops and ours are called alike.
#pragma once
#include <cstdint>

#include "lazy/numpy.h"

namespace lazyarray {

// The signature of NumPy's PyUFuncGenericFunction. For one input and one output: args[0] is the
// input, args[1] the output, dimensions[0] the number of elements, steps[0] and steps[1] in bytes.
using Loop = void (*)(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data);

// The data of a loop of ours that calls NumPy's.
struct Inner {
  Loop fn;
  void* data;
};

// Adds `count` rows of `n` elements, the first at `row` and the next `step` bytes on, to the one at `to`, from the first
// to the last. Elements lie one after the other.
using RowsLoop = void (*)(char* to, const char* row, npy_intp step, npy_intp count, npy_intp n);

struct Sixteen { char b[16]; };
struct ThirtyTwo { char b[32]; };

// What is only moved counts by its size: f is given an element of that many bytes.
template <class F>
inline auto of_size(int size, F f) {
  switch (size) {
    case 1: return f(char());
    case 2: return f(int16_t());
    case 4: return f(int32_t());
    case 8: return f(int64_t());
    case 16: return f(Sixteen());
    default: return f(ThirtyTwo());
  }
}

}  // namespace lazyarray
