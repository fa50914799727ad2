// Remainders and whole quotients. NumPy's loops call the C library's fmod for each float, which takes 35 ns, and divide
// integers one by one.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

enum class Quotient { fmod, remainder, floor_divide, divmod };

// NumPy's result of the dtype, bit for bit and with its flags, by a loop whose data is an `Inner` of NumPy's loop.
// Null where there is none: for other dtypes than singles and doubles, and where the processor can't do it.
Loop quotient_loop(Quotient what, char dtype);

// The data of the loop below: NumPy's loops of the remainder and of the quotient.
struct Remainder {
  Inner remainder, quotient;
};

// The remainder of integers, where one number divides all of them: NumPy's loop for their quotients is ten times as fast.
// Null for other dtypes.
Loop remainder_loop(char kind, int size);

}  // namespace lazyarray
