// NumPy's pairwise sum (numpy/_core/src/umath/loops_utils.h.src): where it cuts, and short rows.
#include "lazy/cpu/pairwise.h"

namespace lazyarray {

npy_intp pairwise_half(npy_intp n, bool complex) {
  if (complex) {
    const npy_intp half = n - n % 8;  // of 2n reals
    return half / 2;
  }
  const npy_intp half = n / 2;
  return half - half % 8;
}

void pairwise_leaves(npy_intp start, npy_intp n, npy_intp most, bool complex,
                     std::vector<npy_intp>& out) {
  if (n <= most) {
    out.push_back(start);
    return;
  }
  const npy_intp half = pairwise_half(n, complex);
  pairwise_leaves(start, half, most, complex, out);
  pairwise_leaves(start + half, n - half, most, complex, out);
}

ShortSum short_sums_of(int dtype, npy_intp n) {
  if (n > 32) return nullptr;
  return dtype == f8 ? short_sum<double> : dtype == f4 ? short_sum<float> : nullptr;
}

}  // namespace lazyarray
