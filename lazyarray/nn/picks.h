// Elements chosen by an index in each row, what adds to them, and the losses that begin with a choice.
#pragma once
#include <cmath>
#include <cstring>
#include <string>

#include "lazy/instr.h"

namespace lazyarray {

// As gufuncs': rows, indices and result are contiguous. An index outside a row is left out: what is
// picked there is 0, and nothing is added.

// Row (n), indices (m), picked (m).
template <class T, class I>
void pick_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  const npy_intp n = dims[1], m = dims[2];
  for (npy_intp b = 0; b < dims[0]; ++b) {
    const T* row = reinterpret_cast<const T*>(args[0] + b * steps[0]);
    const I* index = reinterpret_cast<const I*>(args[1] + b * steps[1]);
    T* out = reinterpret_cast<T*>(args[2] + b * steps[2]);
    for (npy_intp j = 0; j < m; ++j) out[j] = index[j] >= 0 && index[j] < n ? row[index[j]] : T(0);
  }
}

// Its adjoint: values (m), indices (m), row (n).
template <class T, class I>
void spread_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  const npy_intp n = dims[1], m = dims[2];
  for (npy_intp b = 0; b < dims[0]; ++b) {
    const T* values = reinterpret_cast<const T*>(args[0] + b * steps[0]);
    const I* index = reinterpret_cast<const I*>(args[1] + b * steps[1]);
    T* row = reinterpret_cast<T*>(args[2] + b * steps[2]);
    std::memset(row, 0, n * sizeof(T));
    for (npy_intp j = 0; j < m; ++j)
      if (index[j] >= 0 && index[j] < n) row[index[j]] += values[j];
  }
}

// Adjoint of a choice of rows: rows (m, k), indices (m), result (n, k); a negative index counts from the end.
template <class T>
void add_rows_loop(char** args, const npy_intp* dims, const npy_intp*, void*) {
  const npy_intp n = dims[1], m = dims[2], k = dims[3];
  const T* rows = reinterpret_cast<const T*>(args[0]);
  const npy_intp* index = reinterpret_cast<const npy_intp*>(args[1]);
  T* out = reinterpret_cast<T*>(args[2]);
  std::memset(out, 0, n * k * sizeof(T));
  for (npy_intp j = 0; j < m; ++j, rows += k) {
    const npy_intp i = index[j] < 0 ? index[j] + n : index[j];
    if (i < 0 || i >= n) continue;  // the choice has failed with it
    T* to = out + i * k;
#pragma clang loop vectorize(assume_safety)
#pragma GCC ivdep
    for (npy_intp c = 0; c < k; ++c) to[c] += rows[c];
  }
}

// -log of the class's share: row (n), its maximum, the logarithm of its sum of exponentials less that,
// the class; the loss, and 1, or 0 and 0 where the class is the one to ignore.
enum ChosenCore { kChosenClasses, kChosenIgnored };

template <class T>
void chosen_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  const npy_intp ignored = dims[1 + kChosenIgnored];
  for (npy_intp b = 0; b < dims[0]; ++b) {
    const npy_intp i = *reinterpret_cast<const npy_intp*>(args[3] + b * steps[3]);
    const T x = i == ignored ? T(0) : reinterpret_cast<const T*>(args[0] + b * steps[0])[i];
    const T top = *reinterpret_cast<const T*>(args[1] + b * steps[1]);
    const T total = *reinterpret_cast<const T*>(args[2] + b * steps[2]);
    *reinterpret_cast<T*>(args[4] + b * steps[4]) = i == ignored ? T(0) : total - (x - top);
    *reinterpret_cast<T*>(args[5] + b * steps[5]) = i == ignored ? T(0) : T(1);
  }
}

inline Error* no_such_class(const Instr& in, const Block& b) {
  const npy_intp n = in.core[kChosenClasses], ignored = in.core[kChosenIgnored];
  const npy_intp* index = reinterpret_cast<const npy_intp*>(b.ptrs[3]);
  for (npy_intp i = 0; i < b.shape[0]; ++i)
    if (index[i] != ignored && (index[i] < 0 || index[i] >= n))
      return new Error(Error::INDEX, "target " + std::to_string(index[i]) + " is out of bounds for " +
                                         std::to_string(n) + " classes");
  return nullptr;
}

// The error function, elementwise: NumPy has no loop for it.
template <class T>
void erf_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  for (npy_intp i = 0; i < dims[0]; ++i)
    *reinterpret_cast<T*>(args[1] + i * steps[1]) =
        std::erf(*reinterpret_cast<const T*>(args[0] + i * steps[0]));
}

}  // namespace lazyarray
