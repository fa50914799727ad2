// Device: where an operator runs and where memory lives, as the engine sees it.
#pragma once
#include <cstdint>
#include <string>

namespace lazyarray {

struct Device {
  enum Kind : int32_t { CPU = 1, GPU = 2, CPU_PINNED = 3 };  // MXNet's numbers
  static constexpr int kKinds = 4;
  int32_t kind = CPU;
  int32_t id = 0;

  // Pinned memory is host memory: the CPU's workers serve it.
  bool is_gpu() const { return kind == GPU; }
  bool operator==(const Device& o) const { return kind == o.kind && id == o.id; }
  bool operator!=(const Device& o) const { return !(*this == o); }
  // As users write it: "cpu(0)".
  std::string text() const {
    const char* name = kind == CPU ? "cpu(" : kind == GPU ? "gpu(" : "cpu_pinned(";
    return name + std::to_string(id) + ")";
  }
};

}  // namespace lazyarray
