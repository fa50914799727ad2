// The memory of probes: arrays that only functions get which make views.
#pragma once
#include <sys/mman.h>

#include <cstddef>

namespace lazyarray {

// Zeros that may be read, and take no memory: a debugger, or pytest, shows a probe that it finds in a frame.
// Not enough for one of a large array: programs may have a limit on addresses (RLIMIT_AS).
inline char* reserve_zeros() {
  const size_t n = size_t(1) << 26;
  void* p = mmap(nullptr, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return reinterpret_cast<char*>(size_t(1) << 40);  // nobody may look then
  return static_cast<char*>(p) + n / 2;
}

}  // namespace lazyarray
