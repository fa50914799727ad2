// Executor: runs instructions one by one on their devices' backends, and settles their variables' errors.
#pragma once
#include "lazy/backend.h"
#include "lazy/settle.h"

namespace lazyarray {

class Executor {
 public:
  explicit Executor(Engine* e) : engine_(e) {}

  Runtime runtime;
  Backend* host = nullptr;  // set once, at import
  Backend* gpu = nullptr;   // ... and once a GPU is open

  Backend& on(Device d) const { return d.is_gpu() ? *gpu : *host; }
  Engine* engine() const { return engine_; }

  // Fused or not, the outcome is that of running one after the other.
  void step(Instr& in, const Crew* crew = nullptr);

 private:
  Engine* const engine_;
};

}  // namespace lazyarray
