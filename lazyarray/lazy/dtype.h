// Dtype codes: the dtypes of an array, numbered densely, and the weak Python scalars after them.
#pragma once
#include <cstdint>

#include "lazy/numpy.h"

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
      {numpy::kBool, 1, 1, 'b', '?'},
      {numpy::kByte, 1, 1, 'i', 'b'},
      {numpy::kUByte, 1, 1, 'u', 'B'},
      {numpy::kShort, sizeof(npy_short), alignof(npy_short), 'i', 'h'},
      {numpy::kUShort, sizeof(npy_ushort), alignof(npy_ushort), 'u', 'H'},
      {numpy::kInt, sizeof(npy_int), alignof(npy_int), 'i', 'i'},
      {numpy::kUInt, sizeof(npy_uint), alignof(npy_uint), 'u', 'I'},
      {numpy::kLong, sizeof(npy_long), alignof(npy_long), 'i', 'l'},
      {numpy::kULong, sizeof(npy_ulong), alignof(npy_ulong), 'u', 'L'},
      {numpy::kLongLong, sizeof(npy_longlong), alignof(npy_longlong), 'i', 'q'},
      {numpy::kULongLong, sizeof(npy_ulonglong), alignof(npy_ulonglong), 'u', 'Q'},
      {numpy::kHalf, 2, 2, 'f', 'e'},
      {numpy::kFloat, sizeof(npy_float), alignof(npy_float), 'f', 'f'},
      {numpy::kDouble, sizeof(npy_double), alignof(npy_double), 'f', 'd'},
      {numpy::kLongDouble, sizeof(npy_longdouble), alignof(npy_longdouble), 'f', 'g'},
      {numpy::kCFloat, 2 * sizeof(npy_float), alignof(npy_float), 'c', 'F'},
      {numpy::kCDouble, 2 * sizeof(npy_double), alignof(npy_double), 'c', 'D'},
      {numpy::kCLongDouble, 2 * sizeof(npy_longdouble), alignof(npy_longdouble), 'c', 'G'},
  };
  return table[d];
}

int dtype_of_type_num(int type_num);

}  // namespace lazyarray
