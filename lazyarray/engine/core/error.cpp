// Error: what stands for any failure where there is no memory for one.
#include "error.h"

namespace lazyarray {

Error* Error::no_memory() noexcept {
  if (auto* e = new (std::nothrow) Error(MEMORY, "out of memory")) return e;
  static Error* const last = [] {
    alignas(Error) static char memory[sizeof(Error)];
    auto* e = new (memory) Error(MEMORY, "out of memory");
    e->op = "";
    e->seq = 1;
    e->shared = true;
    return e;
  }();
  return last->ref();
}

}  // namespace lazyarray
