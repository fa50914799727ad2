// hypot. NumPy's loop calls the C library's function for each number, which takes 15 ns.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// The C library's results, bit for bit and with its flags, by a loop whose data is `numpys`, which must live as long.
// Null where there is none: for other dtypes than singles and doubles, where the processor can't do it, and where this C
// library computes in another way, which is tried on some numbers.
Loop hypot_loop(char dtype, const Inner* numpys);

}  // namespace lazyarray
