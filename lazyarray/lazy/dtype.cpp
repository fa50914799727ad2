// Dtype codes: the dtypes of an array, numbered densely, and the weak Python scalars after them.
#include "lazy/dtype.h"

namespace lazyarray {

int dtype_of_type_num(int type_num) {
  static const int8_t table[] = {B_, i1, u1, i2, u2, i4, u4, il, ul, i8, u8, f4, f8, fg, c8, c16, cg};
  if (type_num >= 0 && type_num <= numpy::kCLongDouble) return table[type_num];
  return type_num == numpy::kHalf ? f2 : -1;
}

}  // namespace lazyarray
