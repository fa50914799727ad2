// What a DLPack capsule may say: its structures, and why one can't be believed.
#pragma once
#include <Python.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace lazyarray {

// As dlpack.h, version 1, has them.
struct DLTensor {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor tensor;
};

// Empty if the tensor can be read, else what is wrong with it. That its memory is there nobody can tell.
inline std::string flaw_of(const DLTensor& t) {
  constexpr int64_t kMost = int64_t(1) << 62;
  if (t.ndim < 0 || t.ndim > 64) return "it has " + std::to_string(t.ndim) + " axes";
  if (t.lanes != 1) return "its elements have " + std::to_string(t.lanes) + " lanes";
  if (t.bits == 0 || t.bits % 8) return "its elements have " + std::to_string(t.bits) + " bits";
  if (t.ndim && !t.shape) return "it has no shape";
  const int64_t size = t.bits / 8;
  int64_t bytes = size, low = 0, high = size;
  bool empty = false;
  for (int i = 0; i < t.ndim; ++i) empty |= t.shape[i] == 0;
  for (int i = 0; i < t.ndim; ++i) {
    const int64_t n = t.shape[i];
    if (n < 0) return "an axis is of length " + std::to_string(n);
    if (__builtin_mul_overflow(bytes, n ? n : 1, &bytes) || bytes > kMost) return "it is larger than any memory";
    int64_t span;
    if (!t.strides || empty) continue;
    if (__builtin_mul_overflow(t.strides[i], size, &span) || __builtin_mul_overflow(span, n - 1, &span) ||
        __builtin_add_overflow(span > 0 ? high : low, span, span > 0 ? &high : &low) || high > kMost || low < -kMost)
      return "its strides lead out of any memory";
  }
  if (!t.data && !empty) return "it has no memory";
  if (t.byte_offset > static_cast<uint64_t>(kMost)) return "its offset is larger than any memory";
  return "";
}

// The same of a capsule; with the GIL.
inline std::string flaw_of_capsule(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  PyErr_Clear();
  if (!name) return "it has no name";
  void* p = PyCapsule_GetPointer(capsule, name);
  if (!std::strncmp(name, "used_", 5)) return "it was used already";
  if (!std::strcmp(name, "dltensor")) return flaw_of(*static_cast<DLTensor*>(p));
  if (std::strcmp(name, "dltensor_versioned")) return std::string("it is called ") + name;
  const auto* m = static_cast<DLManagedTensorVersioned*>(p);
  if (m->major != 1) return "it is of version " + std::to_string(m->major);
  return flaw_of(m->tensor);
}

}  // namespace lazyarray
