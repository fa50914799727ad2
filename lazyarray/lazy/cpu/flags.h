// Floating-point flags.
#pragma once
#include <cfenv>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "lazy/runtime.h"

namespace lazyarray {

// Many loops clear flags raised before them, so they are read after each loop call. Reading costs
// 1 to 3 ns, clearing far more: cleared only when set.

inline int take_flags(bool x87) {
  int flags = 0;
#if defined(__SSE__)
  const unsigned csr = _mm_getcsr();
  if (csr & 0x1d) {
    flags = (csr & 4 ? kDivide : 0) | (csr & 8 ? kOver : 0) | (csr & 16 ? kUnder : 0) |
            (csr & 1 ? kInvalid : 0);
    _mm_setcsr(csr & ~0x3fu);
  }
  if (!x87) return flags;
#endif
  const int all = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;
  if (const int f = std::fetestexcept(all)) {
    flags |= (f & FE_DIVBYZERO ? kDivide : 0) | (f & FE_OVERFLOW ? kOver : 0) |
             (f & FE_UNDERFLOW ? kUnder : 0) | (f & FE_INVALID ? kInvalid : 0);
    std::feclearexcept(all);
  }
  return flags;
}

}  // namespace lazyarray
