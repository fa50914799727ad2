// Powers of negative floats. NumPy's vector loops hand each to a function of its own, which takes 90 to 150 ns.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// NumPy's `power`, bit for bit and with its flags, where one whole number is the exponent of all: by a loop whose data is
// `numpys`, which must live as long. Null for other dtypes than singles and doubles, where the processor can't do it, and
// where NumPy's loop computes in another way, which is tried on some numbers.
Loop power_loop(char dtype, const Inner* numpys);

}  // namespace lazyarray
