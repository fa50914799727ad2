// NumPy's pairwise sum (numpy/_core/src/umath/loops_utils.h.src): where it cuts, and rows side by side.
#pragma once
#include <vector>

#include "lazy/cpu/plan.h"

namespace lazyarray {

// Where NumPy's pairwise sum of n numbers cuts them, down to pieces of at most `most`: at half,
// rounded down to a multiple of 8 (complex numbers count twice).
npy_intp pairwise_half(npy_intp n, bool complex);
void pairwise_leaves(npy_intp start, npy_intp n, npy_intp most, bool complex,
                     std::vector<npy_intp>& out);

// Sums of contiguous rows of floats, some side by side: in a row alone each addition waits for the one before it, and
// for short rows the call of NumPy's loop takes most of the time. Null: there is none for that dtype.
RowSums row_sums_of(int dtype);

}  // namespace lazyarray
