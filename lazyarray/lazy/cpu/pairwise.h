// NumPy's pairwise sum (numpy/_core/src/umath/loops_utils.h.src): where it cuts, and short rows.
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

// The sum of a short row, in the order of NumPy's pairwise_sum below its block size, and added to
// zero as its loop adds it. For short rows the call of that loop takes most of the time.
template <class T>
inline void short_sum(const char* from, char* to, npy_intp n) {
  const T* a = reinterpret_cast<const T*>(from);
  T sum;
  npy_intp i = 0;
  if (n < 8) {
    sum = T(-0.0);
  } else {
    T r[8];
    for (int j = 0; j < 8; ++j) r[j] = a[j];
    for (i = 8; i < n - n % 8; i += 8)
      for (int j = 0; j < 8; ++j) r[j] += a[i + j];
    sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  }
  for (; i < n; ++i) sum += a[i];
  *reinterpret_cast<T*>(to) = T(0) + sum;
}
ShortSum short_sums_of(int dtype, npy_intp n);

}  // namespace lazyarray
