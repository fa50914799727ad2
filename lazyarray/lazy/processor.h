// What vectors the processor has, asked when the process runs: what is built takes any x86-64-v2.
#pragma once

namespace lazyarray {

#if defined(__x86_64__)
inline bool has_avx2() { return __builtin_cpu_supports("avx2"); }
inline bool has_fma() { return has_avx2() && __builtin_cpu_supports("fma"); }
inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}
#else
inline bool has_avx2() { return false; }
inline bool has_fma() { return false; }
inline bool has_avx512() { return false; }
#endif

}  // namespace lazyarray
