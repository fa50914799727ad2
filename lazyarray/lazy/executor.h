// Executor: runs instructions one by one on their devices' backends, and settles their variables' errors.
#pragma once
#include "lazy/backend.h"
#include "lazy/settle.h"

namespace lazyarray {

class Executor {
 public:
  explicit Executor(Engine* e) : engine_(e) {}

  Runtime runtime;
  // Whose work that of a kind of device is: set once, at import or as the first such device is opened.
  Backend* backends[Device::kKinds] = {};

  Backend& on(Device d) const { return *backends[d.kind]; }
  Engine* engine() const { return engine_; }

  // Fused or not, the outcome is that of running one after the other.
  void step(Instr& in, const Crew* crew = nullptr);

 private:
  Engine* const engine_;
};

}  // namespace lazyarray
