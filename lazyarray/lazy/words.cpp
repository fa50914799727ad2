// Words: numbers as reports write them.
#include "lazy/words.h"

#include <cstdio>

namespace lazyarray::words {

std::string count(size_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many ? many : std::string(one) + "s");
}

const char* dtype_name(int d) {
  static const char* const names[] = {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                                      "int64", "uint64", "longlong", "ulonglong", "float16", "float32",
                                      "float64", "longdouble", "complex64", "complex128", "clongdouble"};
  return names[d];
}

std::string shape(const npy_intp* s, int n) {
  std::string out = "(";
  for (int i = 0; i < n; ++i) out += (i ? ", " : "") + std::to_string(s[i]);
  return out + ")";
}

std::string bytes(int64_t n) {
  char b[32];
  if (n < 10000) std::snprintf(b, sizeof b, "%lld B", static_cast<long long>(n));
  else if (n < 10000000) std::snprintf(b, sizeof b, "%.0f kB", static_cast<double>(n) / 1e3);
  else std::snprintf(b, sizeof b, "%.0f MB", static_cast<double>(n) / 1e6);
  return b;
}

std::string time(int64_t ns) {
  char b[32];
  if (ns < 1000000) std::snprintf(b, sizeof b, "%.0f us", static_cast<double>(ns) / 1e3);
  else std::snprintf(b, sizeof b, "%.2f ms", static_cast<double>(ns) / 1e6);
  return b;
}

}  // namespace lazyarray::words
