// sin and cos of doubles, and exp of complex ones. NumPy's loops call the C library's function for each number, which takes
// 7 to 8 ns, and 12.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// The C library's results, bit for bit and with its flags, by a loop whose data is `numpys`, which must live as long.
// Null where the processor can't do it, and where NumPy's loop computes in another way, which is tried on some numbers.
Loop sine_loop(bool cosine, const Inner* numpys);
Loop exponential_loop(const Inner* numpys);

}  // namespace lazyarray
