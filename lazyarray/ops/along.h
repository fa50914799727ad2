// Loops along one axis that NumPy keeps in its dtypes (argmax, sort) or builds from a ufunc's
// (accumulate). All are plain C over memory, and NumPy itself calls them without the GIL.
#pragma once
#include <Python.h>
#include <numpy/arrayobject.h>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "lazy/loop.h"

namespace lazyarray {

// Running sums, products, maxima or minima of lines side by side: `line` bytes from a line's first element to the next
// one's, `step` from one of its elements to the next. NumPy's loop writes a number and reads it again to add to it, which
// takes it 3.8 ns; kept in a register a sum takes 1.
using Running = void (*)(const char* in, npy_intp in_line, npy_intp in_step, char* out, npy_intp out_line,
                         npy_intp out_step, npy_intp n, npy_intp lines);

namespace running {

struct Sum { template <class T> static T of(T so_far, T x) { return so_far + x; } };
struct Product { template <class T> static T of(T so_far, T x) { return so_far * x; } };
// The first NaN, and the last of equals (of zeros). Without a flag for a NaN.
struct Largest {
  template <class T> static T of(T so_far, T x) {
    if constexpr (std::is_integral_v<T>) return so_far >= x ? so_far : x;
    else return std::isgreater(so_far, x) || std::isnan(so_far) ? so_far : x;
  }
};
struct Smallest {
  template <class T> static T of(T so_far, T x) {
    if constexpr (std::is_integral_v<T>) return so_far <= x ? so_far : x;
    else return std::isless(so_far, x) || std::isnan(so_far) ? so_far : x;
  }
};

// So many lines at a time, as each waits for its own last result.
template <class T, class Op, int kLines>
inline void side_by_side(const char* in, npy_intp in_line, npy_intp in_step, char* out, npy_intp out_line,
                         npy_intp out_step, npy_intp n) {
  T so_far[kLines];
  for (int k = 0; k < kLines; ++k) {
    std::memcpy(&so_far[k], in + k * in_line, sizeof(T));
    std::memcpy(out + k * out_line, &so_far[k], sizeof(T));
  }
  for (npy_intp i = 1; i < n; ++i)
#pragma GCC unroll 4  // which keeps them in registers, however seldom a profile's programs came here
    for (int k = 0; k < kLines; ++k) {
      T x;
      std::memcpy(&x, in + k * in_line + i * in_step, sizeof x);
      so_far[k] = Op::of(so_far[k], x);
      std::memcpy(out + k * out_line + i * out_step, &so_far[k], sizeof x);
    }
}

template <class T, class Op>
void lines(const char* in, npy_intp in_line, npy_intp in_step, char* out, npy_intp out_line, npy_intp out_step,
           npy_intp n, npy_intp count) {
  if (n == 0) return;
  npy_intp b = 0;
  for (; b + 4 <= count; b += 4)
    side_by_side<T, Op, 4>(in + b * in_line, in_line, in_step, out + b * out_line, out_line, out_step, n);
  for (; b < count; ++b)
    side_by_side<T, Op, 1>(in + b * in_line, in_line, in_step, out + b * out_line, out_line, out_step, n);
}

template <class T>
Running of_sign(char sign) {
#if !defined(__x86_64__)
  // Which of two zeros NumPy takes is known of that processor's instructions.
  if (std::is_floating_point_v<T> && (sign == '>' || sign == '<')) return nullptr;
#endif
  switch (sign) {
    case '+': return lines<T, Sum>;
    case '*': return lines<T, Product>;
    case '>': return lines<T, Largest>;
    case '<': return lines<T, Smallest>;
    default: return nullptr;
  }
}

}  // namespace running

// For floats, doubles and integers of 64 bits, by NumPy's number of the dtype; null for all else.
inline Running running_of(char sign, int type_num) {
  switch (type_num) {
    case NPY_DOUBLE: return running::of_sign<double>(sign);
    case NPY_FLOAT: return running::of_sign<float>(sign);
    case NPY_LONG: return sign == '<' || sign == '>' ? running::of_sign<npy_long>(sign) : running::of_sign<npy_ulong>(sign);
    case NPY_ULONG: return running::of_sign<npy_ulong>(sign);  // which wraps around
    default: return nullptr;
  }
}

// What a loop of this file is given as its data; made once for each kernel.
struct Along {
  PyArray_ArgFunc* extremum = nullptr;
  PyArray_SortFunc* sort = nullptr;
  PyArray_ArgSortFunc* argsort = nullptr;
  Running running = nullptr;  // accumulate: a loop of ours, or null
  Loop fn = nullptr;    // ... the ufunc's, and its data
  void* data = nullptr;
  npy_intp size = 0;    // bytes of an element
  bool any_order = false;  // accumulate: the bits don't depend on the loop's steps

  // Of one line without gaps.
  npy_intp find(char* line, npy_intp n) const {
    npy_intp found = 0;
    extremum(line, n, &found, nullptr);
    return found;
  }
  void put_in_order(char* line, npy_intp n) const { sort(line, n, nullptr); }
};

// What NumPy's dtype number `type_num` has: 0 argmax, 1 argmin, 2 sort, 3 stable sort, 4 and 5
// the same for argsort. False if it lacks it.
inline bool fill_along(Along& along, int type_num, int what) {
  PyArray_Descr* descr = PyArray_DescrFromType(type_num);
  PyArray_ArrFuncs* f = PyDataType_GetArrFuncs(descr);
  const int kind = what & 1 ? NPY_STABLESORT : NPY_QUICKSORT;
  along.size = PyDataType_ELSIZE(descr);
  if (what < 2) along.extremum = what ? f->argmin : f->argmax;
  else along.sort = f->sort[kind];
  if (what > 3) along.argsort = f->argsort[kind];
  Py_DECREF(descr);
  return along.extremum || along.sort || along.argsort;
}

// Copies n elements without gaps, each with its bytes in the other order.
inline void copy_swapped(int type_num, char* to, const char* from, npy_intp n) {
  PyArray_Descr* descr = PyArray_DescrFromType(type_num);
  const npy_intp size = PyDataType_ELSIZE(descr);
  PyDataType_GetArrFuncs(descr)->copyswapn(to, size, const_cast<char*>(from), size, n, 1, nullptr);
  Py_DECREF(descr);
}

// argmax, argmin: lines (n) without gaps, output ().
inline void extremum_loop(char** args, const npy_intp* dims, const npy_intp* steps, void* data) {
  const Along& along = *static_cast<Along*>(data);
  char *in = args[0], *out = args[1];
  for (npy_intp b = 0; b < dims[0]; ++b, in += steps[0], out += steps[1])
    along.extremum(in, dims[1], reinterpret_cast<npy_intp*>(out), nullptr);
}

// sort: lines (n) and output (n) without gaps.
inline void sort_loop(char** args, const npy_intp* dims, const npy_intp* steps, void* data) {
  const Along& along = *static_cast<Along*>(data);
  char *in = args[0], *out = args[1];
  for (npy_intp b = 0; b < dims[0]; ++b, in += steps[0], out += steps[1]) {
    if (in != out) std::memcpy(out, in, dims[1] * along.size);
    along.sort(out, dims[1], nullptr);
  }
}

inline void argsort_loop(char** args, const npy_intp* dims, const npy_intp* steps, void* data) {
  const Along& along = *static_cast<Along*>(data);
  char *in = args[0], *out = args[1];
  for (npy_intp b = 0; b < dims[0]; ++b, in += steps[0], out += steps[1]) {
    npy_intp* order = reinterpret_cast<npy_intp*>(out);
    for (npy_intp i = 0; i < dims[1]; ++i) order[i] = i;
    along.argsort(in, order, dims[1], nullptr);
  }
}

// accumulate: input and output (n, m), the m without gaps; core steps from one of the n to the next.
// A line goes element by element, as NumPy's does; several may go side by side.
inline void accumulate_loop(char** args, const npy_intp* dims, const npy_intp* steps, void* data) {
  const Along& along = *static_cast<Along*>(data);
  const npy_intp n = dims[1], m = dims[2], size = along.size, si = steps[2], so = steps[3];
  char *in = args[0], *out = args[1];
  if (along.running && m < 8) {
    for (npy_intp c = 0; c < m; ++c)
      along.running(in + c * size, steps[0], si, out + c * size, steps[1], so, n, dims[0]);
    return;
  }
  for (npy_intp b = 0; b < dims[0]; ++b, in += steps[0], out += steps[1]) {
    std::memcpy(out, in, m * size);
    if (m < 8 || !along.any_order) {
      const npy_intp count = n - 1, walk[3] = {so, si, so};
      for (npy_intp c = 0; c < m && count > 0; ++c) {
        char* p[3] = {out + c * size, in + si + c * size, out + so + c * size};
        along.fn(p, &count, walk, along.data);
      }
      continue;
    }
    const npy_intp walk[3] = {size, size, size};
    for (npy_intp i = 1; i < n; ++i) {
      char* p[3] = {out + (i - 1) * so, in + i * si, out + i * so};
      along.fn(p, &m, walk, along.data);
    }
  }
}

}  // namespace lazyarray
