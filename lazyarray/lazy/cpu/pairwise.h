// NumPy's pairwise sum (numpy/_core/src/umath/loops_utils.h.src): where it cuts, and the sum itself.
#pragma once
#include <vector>

#include "lazy/cpu/plan.h"

namespace lazyarray {

constexpr npy_intp kLeaf = 128;  // NumPy's PW_BLOCKSIZE: what it never cuts

// Where NumPy's pairwise sum of n numbers cuts them, down to pieces of at most `most`: at half,
// rounded down to a multiple of 8 (complex numbers count twice).
npy_intp pairwise_half(npy_intp n, bool complex);
void pairwise_leaves(npy_intp start, npy_intp n, npy_intp most, bool complex,
                     std::vector<npy_intp>& out);

// What writes the sum of n numbers that lie one after the other, as NumPy adds a row to zero; null but for f4 and f8.
RowSum row_sum_of(int dtype);
// The same as a loop of `add` whose result is its first operand. Its data are NumPy's loop, an Inner, which has all else.
Loop pairwise_loop(int dtype);

// The sum of n numbers, float or double, that lie one after the other.
template <class T>
T pairwise_sum(const T* from, npy_intp n);
// What numpy/_core/_methods.py makes of rows of n such numbers, more than ddof.
enum class Moment : uint8_t { SUM, MEAN, VAR, STD };
template <class T>
void moments(Moment which, const T* from, npy_intp rows, npy_intp n, npy_intp ddof, T* to);

}  // namespace lazyarray
