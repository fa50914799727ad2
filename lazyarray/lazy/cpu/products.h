// products: matrices of integers, bools and halves. NumPy has no BLAS for them, and goes by one element of the
// result after the other.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// matmul's loop for a dtype, (n,k),(k,m)->(n,m), with the bits of NumPy's; null if there is none.
Loop product_loop(int dtype);

}  // namespace lazyarray
