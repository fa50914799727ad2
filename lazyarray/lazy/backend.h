// Backend: what a kind of device does with recorded work.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lazy/fuse.h"
#include "lazy/runtime.h"

namespace lazyarray {

class Executor;

// How a backend runs a fused stage. Shared by all stages of one structure; it never changes.
struct FusedPlan {
  int temporaries = 0;   // outputs that get no memory
  int64_t moved = 0;     // bytes of memory that it reads and writes
  virtual ~FusedPlan() = default;
  // Whether an operand of the stage's instruction lies in memory.
  virtual bool in_memory(size_t instr, int op) const = 0;
  // Whether it may turn out that the instructions have to run one by one, and temporaries get memory.
  virtual bool may_fall_back() const = 0;
  // Whether some memory is written before the turn of the instruction that writes it.
  virtual bool writes_early() const = 0;
  // For la.explain(): what the stage became, and where its temporaries are.
  virtual std::string text() const = 0;
  virtual const char* place() const = 0;
};

// What a backend keeps of operators that run again and again.
struct Kept {
  virtual ~Kept() = default;
};

// One for each kind of device; nothing above asks which one it is. Any thread may run what was planned.
class Backend {
 public:
  virtual ~Backend() = default;
  // Whether arrays may have the dtype there. Not asked of what the host reaches, which can have all.
  virtual bool holds(int) const { return true; }
  // How many bytes of results a program may have pending there because of the device's memory; 0: no more than
  // elsewhere.
  virtual int64_t most_pending(const Device&) const { return 0; }
  // What the instruction costs here; its maker took a core of the host's for granted.
  virtual void price(Instr& in) const = 0;
  // The plan of a stage whose chunks' `temporary` is set; `often`: it will run again and again. Under Recorder::push_mu_.
  virtual std::shared_ptr<const FusedPlan> plan(const Stage& stage, bool often) = 0;
  // What was planned is about to run so many times. Any thread, not under Recorder::push_mu_.
  virtual void expect(const FusedPlan&, double) {}
  // A figure of the policies was changed. Under Recorder::push_mu_.
  virtual void forget_plans() = 0;
  // Runs one instruction, whose inputs are healthy; the failure (owned) or null.
  virtual Error* run(Instr& in, const Crew* crew) = 0;
  // Runs the `n` instructions of a planned stage inside `op`, and settles what their variables hold; returns
  // how many threads of the host took part, or 0.
  virtual int pass(Executor& executor, const FusedPlan& plan, Instr* const* instrs, size_t n, Operator* op) = 0;
  // For an operator of a program, or for those that are run once, of which some come again; null if nothing is
  // kept. Any thread.
  virtual std::shared_ptr<Kept> keep(bool) { return nullptr; }
  // Runs such an operator, whose instructions `each` runs: it is told, or kept from, what they launch.
  virtual void again(Executor&, Kept&, Instr* const*, size_t, const std::function<void()>& each) { each(); }
};

}  // namespace lazyarray
