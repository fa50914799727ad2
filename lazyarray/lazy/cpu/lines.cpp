// Arithmetic over many short rows in one call: which loop does it.
#include "lazy/cpu/lines.h"

namespace lazyarray {

LineLoop LineLoops::find(npy_intp item, const npy_intp* steps, npy_intp n) const {
  if (steps[2] != item || n > kLongest) return nullptr;
  if (steps[0] == item) return steps[1] == item ? both : steps[1] == 0 ? first : nullptr;
  return steps[0] == 0 && steps[1] == item ? second : nullptr;
}

}  // namespace lazyarray
