// NumPy's pairwise sum (numpy/_core/src/umath/loops_utils.h.src): where it cuts, and rows side by side.
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

// Elements `begin` to `begin + n` of R rows, each in NumPy's order.
template <class T, int R>
static void add_up(const T* const* rows, npy_intp begin, npy_intp n, T* sums) {
  constexpr npy_intp kBlock = 128;  // which NumPy never cuts
  if (n > kBlock) {
    const npy_intp half = pairwise_half(n, false);
    T others[R];
    add_up<T, R>(rows, begin, half, sums);
    add_up<T, R>(rows, begin + half, n - half, others);
    for (int k = 0; k < R; ++k) sums[k] += others[k];
    return;
  }
  npy_intp i = 0;
  if (n < 8) {
    for (int k = 0; k < R; ++k) sums[k] = T(-0.0);
  } else {
    T r[R][8];
    for (int k = 0; k < R; ++k)
      for (int j = 0; j < 8; ++j) r[k][j] = rows[k][begin + j];
    for (i = 8; i < n - n % 8; i += 8)
      for (int k = 0; k < R; ++k)
        for (int j = 0; j < 8; ++j) r[k][j] += rows[k][begin + i + j];
    for (int k = 0; k < R; ++k)
      sums[k] = ((r[k][0] + r[k][1]) + (r[k][2] + r[k][3])) + ((r[k][4] + r[k][5]) + (r[k][6] + r[k][7]));
  }
  for (; i < n; ++i)
    for (int k = 0; k < R; ++k) sums[k] += rows[k][begin + i];
}

template <class T, int R>
static void sums_of(const char* from, npy_intp step, char* to, npy_intp to_step, npy_intp n) {
  const T* rows[R];
  T sums[R];
  for (int k = 0; k < R; ++k) rows[k] = reinterpret_cast<const T*>(from + k * step);
  add_up<T, R>(rows, 0, n, sums);
  // Added to zero, as NumPy's loop adds it.
  for (int k = 0; k < R; ++k) *reinterpret_cast<T*>(to + k * to_step) = T(0) + sums[k];
}

template <class T, int R>  // so many that the registers hold their sums
static void row_sums(const char* from, npy_intp step, char* to, npy_intp to_step, npy_intp count, npy_intp n) {
  for (; count >= R; count -= R, from += R * step, to += R * to_step) sums_of<T, R>(from, step, to, to_step, n);
  for (; count > 0; --count, from += step, to += to_step) sums_of<T, 1>(from, step, to, to_step, n);
}

RowSums row_sums_of(int dtype) {
  return dtype == f8 ? row_sums<double, 2> : dtype == f4 ? row_sums<float, 4> : nullptr;
}

}  // namespace lazyarray
