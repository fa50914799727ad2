// narrow_sums: adds integers, or bools, of fewer than eight bytes to integers of eight, without casting them first.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// What adds elements of a dtype to an integer of eight bytes, signed or not: as a loop of `add` with such a first
// operand, and for rows. Null for other dtypes.
Loop narrow_sum(int dtype);
RowsLoop narrow_rows(int dtype);

}  // namespace lazyarray
