// NumPy's C types and type numbers (its ABI), for what uses its loops but neither its headers nor Python's.
#pragma once
#include <cstdint>

// As in numpy/npy_common.h, which may be included beside this.
typedef std::intptr_t npy_intp;
typedef unsigned char npy_bool;
typedef signed char npy_byte;
typedef unsigned char npy_ubyte;
typedef short npy_short;
typedef unsigned short npy_ushort;
typedef int npy_int;
typedef unsigned int npy_uint;
typedef long npy_long;
typedef unsigned long npy_ulong;
typedef long long npy_longlong;
typedef unsigned long long npy_ulonglong;
typedef float npy_float;
typedef double npy_double;
typedef long double npy_longdouble;
typedef std::uint16_t npy_half;

namespace lazyarray::numpy {

enum TypeNumber : int {
  kBool, kByte, kUByte, kShort, kUShort, kInt, kUInt, kLong, kULong, kLongLong, kULongLong,
  kFloat, kDouble, kLongDouble, kCFloat, kCDouble, kCLongDouble, kHalf = 23
};

}  // namespace lazyarray::numpy
