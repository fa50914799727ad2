// Runtime: what running an instruction needs besides its memory, on any backend.
#pragma once
#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "lazy/instr.h"

namespace lazyarray {

// Floating-point flags, as NumPy numbers them.
enum : int { kDivide = 1, kOver = 2, kUnder = 4, kInvalid = 8 };

// A floating-point warning on its way to the next wait, where it is given in the user's thread.
struct FpWarning {
  int flags;
  const char* op;
  uint32_t filters;  // what Python's warning filters were: see lazy/filters.pxi
  uint32_t site;
  uint8_t mode;  // of ErrState: a warning, or what np.errstate says instead
  uint32_t handler;
  bool operator==(const FpWarning& o) const {
    return flags == o.flags && op == o.op && filters == o.filters && site == o.site &&
           mode == o.mode && handler == o.handler;
  }
};
constexpr size_t kManyWarnings = 256;
constexpr uint32_t kMayRaise = 1;  // in `filters`: one of them may make an error of a warning

// The threads that may take part in an instruction which runs inside an operator, and in what pieces
// (see TilePolicy).
struct Crew {
  Engine* engine;
  Operator* op;
  double split_ns, task_ns, call_ns;

  // How many of `length` places, which cost so much in all, make a task of about `task_ns`.
  npy_intp portion(double cost_ns, npy_intp length) const {
    const double tasks = std::min(cost_ns / std::max(task_ns, 1.0), 1e6);
    return std::max<npy_intp>(1, static_cast<npy_intp>(static_cast<double>(length) / std::max(tasks, 1.0)));
  }
  // Runs work.work(), which claims tasks until none is left, on as many threads as take part.
  template <class Work>
  void share(Work& work, npy_intp tasks) const {
    engine->share(op, [](void* p) { static_cast<Work*>(p)->work(); }, &work,
                  static_cast<int>(std::min<npy_intp>(tasks - 1, 1 << 20)));
  }
};

// What running an instruction needs of the room above; set once at import.
struct Hooks {
  // A PYTHON instruction; takes the GIL. Null for the crew: nobody takes part.
  Error* (*python)(Instr&, const Crew*) = nullptr;
  // A cast with out-of-range values; takes the GIL.
  Error* (*recast)(Instr&, const Block&, bool* invalid) = nullptr;
  int (*blas_threads)() = nullptr;
  uint32_t (*filters)() = nullptr;                      // those of now
  Error* (*refuse)(Instr&, const FpWarning&) = nullptr;  // a warning that is an error; takes the GIL
};
struct Runtime {
  Hooks hooks;
  std::mutex blas_mu;  // held by one product that BLAS runs on several threads
  SpinLock warn_lock;
  std::vector<FpWarning> warnings;
  std::atomic<bool> any_warning{false};
  // Of the last passes that can be compiled: above zero they were (8 at most), below it their plans were new (-4 at
  // least), as those of a loop whose slices grow are. Any thread; a lost count does no harm.
  std::atomic<int> compiled{0};
};

const char* flag_text(int flag);

// Notes a warning of an instruction, or makes it the op's error. Where the GIL is held (the inline tier)
// the site and the filters are the caller's own, captured only when needed.
Error* warn(Runtime& rt, Instr& in, int flags, const char* name, uint8_t mode = ErrState::WARN);

Error* judge_flags(Runtime& rt, Instr& in, int flags);

// Memory for an output, or for an input that nobody wrote (la.empty). `zeroed`: see Instr::zeros.
Error* allocate(Chunk* c, bool* zeroed = nullptr);

}  // namespace lazyarray
