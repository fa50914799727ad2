// Preloaded (LD_PRELOAD): has chosen allocations of lazyarray's own libraries fail. See tests/faults.
// With FAULTS_TRACE=1 the stack of each is printed (addr2line -Cfe LIBRARY OFFSET names its frames).
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

// By glibc's own names: what is defined here would otherwise call itself.
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_memalign(size_t, size_t);

namespace {

constexpr int kMost = 64;
struct Range {
  uintptr_t begin, end;
} ranges[kMost];
int nranges = 0;

std::atomic<long> seen{0}, first{0}, times{0};
std::atomic<bool> armed{false};

// Text of a library whose allocations count: ours, and libstdc++, where strings grow.
int note(dl_phdr_info* info, size_t, void*) {
  const char* name = info->dlpi_name;
  if (!std::strstr(name, "/lazyarray/") && !std::strstr(name, "libstdc++")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& p = info->dlpi_phdr[i];
    if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) || nranges == kMost) continue;
    ranges[nranges++] = {info->dlpi_addr + p.p_vaddr, info->dlpi_addr + p.p_vaddr + p.p_memsz};
  }
  return 0;
}

// Whether LLVM asks, by way of libstdc++: it ends the process where it gets nothing.
bool for_llvm() {
  void* stack[16];
  const int n = backtrace(stack, 16);
  for (int i = 0; i < n; ++i) {
    Dl_info info;
    if (dladdr(stack[i], &info) && info.dli_fname && std::strstr(info.dli_fname, "llvmlite")) return true;
  }
  return false;
}

bool fails(void* caller) {
  if (!armed.load(std::memory_order_acquire)) return false;
  const auto at = reinterpret_cast<uintptr_t>(caller);
  bool ours = false;
  for (int i = 0; i < nranges && !ours; ++i) ours = ranges[i].begin <= at && at < ranges[i].end;
  if (!ours) return false;
  const long n = ++seen, from = first.load();
  if (n < from || n >= from + times.load() || for_llvm()) return false;
  if (std::getenv("FAULTS_TRACE")) {
    void* stack[40];
    backtrace_symbols_fd(stack, backtrace(stack, 40), 2);
  }
  return true;
}

void* get(size_t n, size_t align = 0) {
  void* p = align ? __libc_memalign(align, n) : __libc_malloc(n ? n : 1);
  if (!p) throw std::bad_alloc();
  return p;
}

}  // namespace

// From the `nth` allocation on (counted from 1) this many fail; 0: none does, they are counted.
extern "C" void faults_arm(long nth, long count) {
  armed = false;
  for_llvm();  // the first time it allocates itself
  nranges = 0;
  dl_iterate_phdr(note, nullptr);
  seen = 0;
  first = nth;
  times = count;
  armed.store(true, std::memory_order_release);
}
// How many allocations there were.
extern "C" long faults_disarm() {
  armed = false;
  return seen;
}

#define HERE __builtin_return_address(0)
void* operator new(size_t n) {
  if (fails(HERE)) throw std::bad_alloc();
  return get(n);
}
void* operator new[](size_t n) {
  if (fails(HERE)) throw std::bad_alloc();
  return get(n);
}
void* operator new(size_t n, std::align_val_t a) {
  if (fails(HERE)) throw std::bad_alloc();
  return get(n, static_cast<size_t>(a));
}
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  return fails(HERE) ? nullptr : __libc_malloc(n ? n : 1);
}
void* operator new[](size_t n, const std::nothrow_t&) noexcept {
  return fails(HERE) ? nullptr : __libc_malloc(n ? n : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

extern "C" int posix_memalign(void** to, size_t align, size_t n) {
  if (fails(HERE)) return ENOMEM;
  *to = __libc_memalign(align, n);
  return *to ? 0 : ENOMEM;
}
extern "C" void* aligned_alloc(size_t align, size_t n) {
  if (fails(HERE)) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_memalign(align, n);
}
extern "C" void* malloc(size_t n) {
  if (fails(HERE)) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(n);
}
