// Cast loops between NumPy's numeric types: `astype` as native loops, equal to NumPy's bit for bit.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// The loop that casts between two NumPy type numbers, nullptr where one of them is not numeric. It
// holds for aligned pointers of native byte order, any steps, and in place where the item sizes and
// steps are equal. Floating-point flags come out as the conversions raise them, as in NumPy.
Loop cast_loop(int from, int to);

// True when the loop can meet values whose C conversion is undefined (float or complex to integer).
// Such a loop sets *(int*)data to 1, where data is not null, when an element is NaN or out of the
// target's range; its result is then 0 there, and the caller redoes the cast with np.copyto. So it
// must not run in place: it would have written over what the redo has to read.
bool cast_checks_range(int from, int to);

}  // namespace lazyarray
