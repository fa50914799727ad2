// Executor: runs instructions one by one on their devices' backends, and settles their variables' errors.
#include "lazy/executor.h"

#include <new>

namespace lazyarray {

void Executor::step(Instr& in, const Crew* crew) {
  try {
    Errors errors(engine_);
    Error* error = errors.inherited(in);
    if (!error) {
      error = on(in.device()).run(in, crew);
      if (in.put_off && !in.has_refs) return;
      if (error) {
        publish(engine_, in, error);
        errors.keep(error);
      }
    }
    errors.settle(in, error);
    errors.apply();
  } catch (const std::bad_alloc&) {
    starve(engine_, in);
  }
  if (!in.has_refs)
    for (int k = in.nin; k < in.nop; ++k)
      in.ops[k].chunk->version.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace lazyarray
