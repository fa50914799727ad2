// products: matrices of integers, bools and halves. NumPy has no BLAS for them, and goes by one element of the
// result after the other.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// matmul's loop for a dtype, (n,k),(k,m)->(n,m), with the bits of NumPy's; null if there is none.
Loop product_loop(int dtype);

// matmul's loop for float32 and float64, which multiplies a column by a row itself: NumPy goes by one element after the
// other there, np.dot by BLAS. All else is for `fn`, NumPy's own, with its `data`. `data` of this loop is such a pair,
// which lives as long. Null for other dtypes.
struct Numpys {
  Loop fn;
  void* data;
};
Loop outer_loop(int dtype);

}  // namespace lazyarray
