// Tier: the loops that are compiled for chains of passes, and those who wait for it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "lazy/numpy.h"

namespace lazyarray {

// A structure that may be compiled: ops, dtypes, and how the operands step, but no lengths. One for the
// process; it goes if no plan has it any more, the space is needed, and nobody asked for it.
class CompiledLoop {
 public:
  // The operands' addresses; how often each loop runs, at least once; each operand's steps over the loops.
  using Function = void (*)(char* const* ptrs, const npy_intp* counts, const npy_intp* steps);
  // NEW: nobody asked for it. ASKED: the compiler has it. TRIED: it is there, and one thread compares a tile.
  enum State : int { NEW, ASKED, COMPILED, TRIED, READY, REFUSED };

  explicit CompiledLoop(std::string t) : text(std::move(t)) {}
  const std::string text;  // see jit/description.py

  bool ready() const { return state_.load(std::memory_order_relaxed) == READY; }
  // Null, too, while it rests.
  Function function();
  // Whether a tile that it did had to be done once more, for a flag; that is likely of the next one, too.
  // After each such tile it rests for twice as many.
  void done(bool in_vain);
  // For the one thread that is to compare a tile's results; it calls judge() then.
  Function on_trial();
  void judge(bool same) { state_.store(same ? READY : REFUSED, std::memory_order_release); }
  // The compiler's answer; null: it can't.
  void made(Function f);
  State state() const { return static_cast<State>(state_.load(std::memory_order_relaxed)); }

 private:
  friend class Tier;
  std::atomic<int> state_{NEW};
  Function function_ = nullptr;
  // Of how many tiles in a row, and for how many more. Any thread; a lost count costs a tile.
  std::atomic<int> in_vain_{0}, rest_{0};
  std::atomic<int64_t> ns_{0};  // the work that was done without it
};

class Tier {
 public:
  static constexpr size_t kMost = 2048;   // structures that are compiled
  static constexpr size_t kListed = 8192;  // structures; more than plans are kept with

  bool on = false;  // there is a compiler
  // Set at import. `wake`: somebody has to come and ask next(); any thread. `now`: compile it at once,
  // for tests.
  void (*wake)() = nullptr;
  void (*now)(CompiledLoop*) = nullptr;

  // The structure of this description, or null: there are too many.
  std::shared_ptr<CompiledLoop> find(const std::string& text);
  // There is `ns` of work for the structure, which is compiled once there was `enough` of it. Any thread; under no
  // lock that one with the GIL may want. The caller's plan has it, so that it can't go: see sweep().
  void worked(CompiledLoop* loop, double ns, double enough);
  // What to compile next. Waits until there is something, or leave() was called: then null. Without the GIL.
  CompiledLoop* next();
  void leave();
  // In the child of a fork, where nobody waits.
  void forked();
  // How many there are in each state.
  void count(int64_t (&states)[6]) const;
  // Those that the compiler or the comparison has refused, by their descriptions.
  std::vector<std::string> refused() const;

 private:
  // Drops those that nobody asked for and no plan has. Only find() makes another owner out of the list's.
  void sweep();

  mutable std::mutex mu_;  // guards what follows
  std::unordered_map<std::string, std::shared_ptr<CompiledLoop>> loops_;
  size_t in_vain_ = 0;     // look-ups since a sweep that found too little
  size_t were_asked_ = 0;
  std::condition_variable more_;
  std::deque<CompiledLoop*> asked_;
  bool leaving_ = false;
};

Tier& tier();

}  // namespace lazyarray
