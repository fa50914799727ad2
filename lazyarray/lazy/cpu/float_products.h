// float_products: products of small matrices of floats, and of a column by a row, which NumPy has BLAS multiply, one
// call each, or takes element by element.
#pragma once
#include "lazy/loop.h"

namespace lazyarray {

// matmul's loop for float32 and float64, with the bits of NumPy's. What is not for it goes to `fn`, NumPy's own, with
// its `data`: `data` of this loop is such a pair, which lives as long. Null for other dtypes.
struct Numpys {
  Loop fn;
  void* data;
};
Loop float_product_loop(int dtype);

// Whether that loop multiplies (n,k) by (k,m) matrices itself, if BLAS's bits are those, ...
bool is_small_product(npy_intp n, npy_intp k, npy_intp m);
// ... and whether it does so for such a call, which need not be of it.
bool multiplies_small(int dtype, char* const* args, const npy_intp* dims, const npy_intp* steps, void* data);

}  // namespace lazyarray
