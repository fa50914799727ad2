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

  // What the rooms ask of a device. Kinds are compared here, and by the backend of a kind.
  // Whether no device but the host's processors ever touches its memory.
  bool plain() const { return kind == CPU; }
  // Whether the host's processors reach its memory: pinned memory, too, whose work they do.
  bool on_host() const { return kind != GPU; }
  // Whether an op is over, for the engine, once its work is launched: see Streams. The loops are its own then.
  bool has_streams() const { return kind == GPU; }
  // What DLPack calls its kind.
  int32_t dlpack_kind() const { return on_host() ? 1 : 2; }
  // A number that no other device has.
  uint32_t number() const { return static_cast<uint32_t>(kind) << 16 | static_cast<uint32_t>(id); }
  bool operator==(const Device& o) const { return kind == o.kind && id == o.id; }
  bool operator!=(const Device& o) const { return !(*this == o); }
  // As users write it: "cpu(0)".
  std::string text() const {
    const char* name = kind == CPU ? "cpu(" : kind == GPU ? "gpu(" : "cpu_pinned(";
    return name + std::to_string(id) + ")";
  }
};

}  // namespace lazyarray
