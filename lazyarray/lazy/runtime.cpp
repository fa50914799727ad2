// Runtime: what running an instruction needs besides its memory, on any backend.
#include "lazy/runtime.h"

#include <string>
#include <utility>

namespace lazyarray {

const char* flag_text(int flag) {
  switch (flag) {
    case kDivide: return "divide by zero";
    case kOver: return "overflow";
    case kUnder: return "underflow";
    default: return "invalid value";
  }
}

Error* warn(Runtime& rt, Instr& in, int flags, const char* name, uint8_t mode) {
  if (!in.has_refs) {
    if (!in.site) in.site = interpreter().here();
    in.filters = rt.hooks.filters();
  }
  const FpWarning mine{flags, name, in.filters, in.site, mode, in.errstate.handler};
  if (mode == ErrState::WARN && mine.filters & kMayRaise)
    if (Error* e = rt.hooks.refuse(in, mine)) return e;
  bool known = false;
  {
    const std::lock_guard<SpinLock> g(rt.warn_lock);
    // They pile up where nobody waits: from some number on, what is listed is not listed again.
    if (rt.warnings.size() >= kManyWarnings)
      for (const FpWarning& w : rt.warnings) known |= w == mine;
    if (!known) rt.warnings.push_back(mine);
  }
  rt.any_warning = true;
  return nullptr;
}

Error* judge_flags(Runtime& rt, Instr& in, int flags) {
  const std::pair<int, uint8_t> kinds[] = {{kDivide, in.errstate.divide},
                                           {kOver, in.errstate.over},
                                           {kUnder, in.errstate.under},
                                           {kInvalid, in.errstate.invalid}};
  const char* name = in.kernel->casts_range || !in.kernel->name[0] ? "cast"
                     : in.kernel->told_of             ? in.kernel->told_of
                     : in.kernel->kind == Kernel::REDUCE ? "reduce"
                                                         : in.kernel->name;
  if (in.kernel->warning)
    return flags & kInvalid ? warn(rt, in, 0, in.kernel->warning, ErrState::WARN) : nullptr;
  int told[ErrState::LOG + 1] = {};
  for (auto [flag, mode] : kinds) {
    if (!(flags & flag) || mode == ErrState::IGNORE) continue;
    if (mode == ErrState::RAISE)  // which needs the site, so the op's warnings are not given
      return new Error(Error::FLOATING_POINT,
                       std::string(flag_text(flag)) + " encountered in " + name);
    told[mode] |= flag;
  }
  for (const uint8_t mode : {ErrState::WARN, ErrState::CALL, ErrState::PRINT, ErrState::LOG})
    if (told[mode])
      if (Error* e = warn(rt, in, told[mode], name, mode)) return e;
  return nullptr;
}

// On a busy machine a thread is put in line for many slices of time: it had completed an op, and 20 ms were too few for
// it to let go of the memory. (Threads that are all here wait for each other, and have the error after that time.)
constexpr int64_t kReleaseNs = 2'000'000'000;

Error* allocate(Chunk* c, bool* zeroed) {
  auto made = [&] { return zeroed ? c->allocate_zeroed(zeroed) : c->allocate(); };
  if (made() || (c->engine->await_releases(kReleaseNs) && made())) return nullptr;
  const PoolStats s = c->pool->stats();
  return new Error(Error::MEMORY, "unable to allocate " + std::to_string(c->nbytes) + " bytes on " +
                                      c->device.text() + ": " + std::to_string(s.in_use) +
                                      " in use" +
                                      (s.limit ? ", limit " + std::to_string(s.limit) : ""));
}

}  // namespace lazyarray
