// Planner: makes the plan of a fused stage, once for each structure of instructions.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "lazy/cpu/pairwise.h"
#include "lazy/cpu/chains.h"
#include "lazy/cpu/expand.h"
#include "lazy/fuse.h"
#include "lazy/plan_cache.h"

namespace lazyarray {

class Planner {
 public:
  explicit Planner(const TilePolicy* policy) : policy(*policy) {}
  const TilePolicy& policy;
  std::atomic<uint64_t> hits{0}, misses{0};  // any thread reads them

  // The policy has changed.
  void forget() { plans_.clear(); }

  // What passes of plans without chains have taken. Any thread; it may lose some.
  std::atomic<double> unchained_ns{0};

  // The plan for a stage whose chunks' `temporary` is set. Its chains are found, if it doesn't run `often`, only once
  // passes have taken so long in all that one of them may be worth its compilation. A plan from before gives way then.
  std::shared_ptr<const Plan> plan(const Stage& stage, bool often);

 private:
  // The structure in words: all that build() looks at, and nothing of the data. Chunks are numbered
  // in the order of their first use.
  void describe(const Stage& stage);
  npy_intp id(Chunk* c);
  // A number that operands in memory have if they are the same elements; equal elements may have two.
  int walk(Instr* in, int k);

  void build(Plan& p, const Stage& stage);

  // Each chunk once, where the pass first meets it.
  void find_fetched(Plan& p, const Stage& stage);

  static void push_front(Axes& axes, npy_intp length);
  // Into how many equal panels an axis of this length is cut, on which `columns` elements are kept.
  npy_intp panels(npy_intp length, npy_intp columns) const;

  // A temporary that is only made and then copied into memory (b[1:-1] = ...), with nothing between
  // the two that touches that memory, isn't needed: its maker writes there. Not where the bits may
  // depend on the steps or on in and out being one.
  void skip_copy(const Stage& stage, int m);

  void choose_tiles(Plan& p, const Form& form, npy_intp rows, npy_intp per_element);

  // A temporary's piece of a tile; pieces of those that are dead are used again.
  void place_scratch(Plan& p);

  Member member(Plan& p, const Stage& stage, Expander& expander, size_t number, int level);

  // Operand `k` of a member is operand `op` of that instruction.
  void note_walk(MemberSteps& to, const Stage& stage, size_t number, int op, int k);

  // The same where tiles are pieces of a line (Plan::walk).
  Member on_line(Plan& p, const Stage& stage, Expander& expander, size_t number);

  // From the first to the last instruction that uses a temporary.
  struct Life {
    int first, last, level;
    npy_intp size;
    size_t offset;
    int uses = 0, copied_by = -1;
  };
  struct Walk {
    Instr* in;
    int op;
  };
  std::vector<uint64_t> key_;
  std::vector<Walk> walks_;        // of describe()
  std::vector<std::array<int, kPassOps>> walk_of_;  // of each operand: the numbers that the key holds
  std::vector<MemberSteps> steps_;  // by member
  bool chains_ = false;             // they are found from now on
  int chunks_ = 0, mark_ = -2;  // of describe(), which numbers chunks by Chunk::use_index
  std::vector<Life> lives_;
  npy_intp panels_ = 1;
  int panel_axis_ = 0;  // if there are several: the axis of the plan that they cut
  bool from_memory_ = false;  // it waits for memory more than it computes
  bool turns_ = false;         // it has a transposed copy
  std::vector<int> life_of_;  // by chunk: -1 not met yet, -2 memory
  PlanCache<const Plan> plans_{512, 8192};  // by their members, of 1 KiB
};

}  // namespace lazyarray
