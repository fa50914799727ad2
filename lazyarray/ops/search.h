// Where numbers belong in a vector that is in order, and what a function through points is there.
#pragma once
#include "lazy/numpy.h"

namespace lazyarray {

// How many of n numbers in order are below each of m keys, or not above it, if `right`: of double, float, long and int. False,
// with nothing written, if the table isn't in order, or a key is no number.
template <class T>
bool searched(const char* table, npy_intp n, const char* keys, npy_intp m, bool right, npy_intp* places);

// The piecewise linear function through n points at m places, by the formulas of NumPy's loop
// (numpy/_core/src/multiarray/compiled_base.c: arr_interp). False, with nothing written, if the points aren't in order, or
// a place is no number.
bool interpolated(const double* x, npy_intp m, const double* at, const double* values, npy_intp n, double left, double right,
                  double* out);

}  // namespace lazyarray
