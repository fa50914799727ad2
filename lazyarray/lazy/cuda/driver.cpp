// Driver: the few functions of CUDA's driver library that run-time work needs, found when a GPU is opened.
#include "lazy/cuda/driver.h"

namespace lazyarray::cuda {

std::string Driver::load(const char* path) {
  if (library_) return "";
  void* h = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!h) return std::string("the CUDA driver can't be loaded: ") + dlerror();
#define LAZYARRAY_FIND(name, symbol, ...)                                      \
name = reinterpret_cast<int (*)(__VA_ARGS__)>(dlsym(h, symbol));             \
if (!name) return std::string("the CUDA driver has no ") + symbol;
  LAZYARRAY_CUDA_FUNCTIONS(LAZYARRAY_FIND)
#undef LAZYARRAY_FIND
#define LAZYARRAY_LOOK_FOR(name, symbol, ...)                                  \
name = reinterpret_cast<int (*)(__VA_ARGS__)>(dlsym(h, symbol));             \
graphs_ = graphs_ && name;
  LAZYARRAY_CUDA_GRAPH_FUNCTIONS(LAZYARRAY_LOOK_FOR)
#undef LAZYARRAY_LOOK_FOR
  if (const int r = Init(0)) return what("cuInit", r);
  library_ = h;
  return "";
}

std::string Driver::what(const char* call, int code) {
  const char *name = nullptr, *text = nullptr;
  if (ErrorName) ErrorName(code, &name);
  if (ErrorString) ErrorString(code, &text);
  return std::string(call) + " failed: " + (name ? name : std::to_string(code).c_str()) +
         (text ? std::string(", ") + text : "");
}

Error* Driver::check(const char* call, int code) {
  if (code == kSuccess) return nullptr;
  return new Error(code == kOutOfMemory ? Error::MEMORY : Error::RUNTIME, "CUDA: " + what(call, code));
}

Driver& driver() {
  static Driver* d = new Driver;  // threads may use it until the process ends
  return *d;
}

}  // namespace lazyarray::cuda
