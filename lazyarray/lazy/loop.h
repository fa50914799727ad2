// The type of an inner loop: NumPy's own, so that its loops and ours are called alike.
#pragma once

#include "lazy/numpy.h"

namespace lazyarray {

// The signature of NumPy's PyUFuncGenericFunction. For one input and one output: args[0] is the
// input, args[1] the output, dimensions[0] the number of elements, steps[0] and steps[1] in bytes.
using Loop = void (*)(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data);

struct Sixteen { char b[16]; };
struct ThirtyTwo { char b[32]; };

}  // namespace lazyarray
