// Dtype codes: the dtypes of an array, numbered densely, and the weak Python scalars after them.
#pragma once
#include <numpy/ndarraytypes.h>

#include <cstdint>

namespace lazyarray {

// In NumPy's type-number order, half moved to its size's place among the floats.
enum Dtype : int8_t {
  B_, i1, u1, i2, u2, i4, u4, il, ul, i8, u8, f2, f4, f8, fg, c8, c16, cg,
  kDtypes,
  // A Python int, float or complex takes its dtype from the other operand (NEP 50).
  kWeakInt = kDtypes, kWeakFloat, kWeakComplex,
  kOperandKinds
};

struct DtypeInfo {
  int type_num;
  int8_t size;
  int8_t align;
  char kind;  // NumPy's: b i u f c
  char code;
};

inline const DtypeInfo& info(int d) {
  static const DtypeInfo table[kDtypes] = {
      {NPY_BOOL, 1, 1, 'b', '?'},
      {NPY_BYTE, 1, 1, 'i', 'b'},
      {NPY_UBYTE, 1, 1, 'u', 'B'},
      {NPY_SHORT, sizeof(npy_short), alignof(npy_short), 'i', 'h'},
      {NPY_USHORT, sizeof(npy_ushort), alignof(npy_ushort), 'u', 'H'},
      {NPY_INT, sizeof(npy_int), alignof(npy_int), 'i', 'i'},
      {NPY_UINT, sizeof(npy_uint), alignof(npy_uint), 'u', 'I'},
      {NPY_LONG, sizeof(npy_long), alignof(npy_long), 'i', 'l'},
      {NPY_ULONG, sizeof(npy_ulong), alignof(npy_ulong), 'u', 'L'},
      {NPY_LONGLONG, sizeof(npy_longlong), alignof(npy_longlong), 'i', 'q'},
      {NPY_ULONGLONG, sizeof(npy_ulonglong), alignof(npy_ulonglong), 'u', 'Q'},
      {NPY_HALF, 2, 2, 'f', 'e'},
      {NPY_FLOAT, sizeof(npy_float), alignof(npy_float), 'f', 'f'},
      {NPY_DOUBLE, sizeof(npy_double), alignof(npy_double), 'f', 'd'},
      {NPY_LONGDOUBLE, sizeof(npy_longdouble), alignof(npy_longdouble), 'f', 'g'},
      {NPY_CFLOAT, sizeof(npy_cfloat), alignof(npy_float), 'c', 'F'},
      {NPY_CDOUBLE, sizeof(npy_cdouble), alignof(npy_double), 'c', 'D'},
      {NPY_CLONGDOUBLE, sizeof(npy_clongdouble), alignof(npy_longdouble), 'c', 'G'},
  };
  return table[d];
}

inline int dtype_of_type_num(int type_num) {
  static const int8_t table[] = {B_, i1, u1, i2, u2, i4, u4, il, ul, i8, u8, f4, f8, fg, c8, c16, cg};
  if (type_num >= 0 && type_num <= NPY_CLONGDOUBLE) return table[type_num];
  return type_num == NPY_HALF ? f2 : -1;
}

}  // namespace lazyarray
