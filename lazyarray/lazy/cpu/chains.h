// Chains: which instructions of a pass may run as one compiled loop.
//
// Only instructions that have the same bits whoever does them are in a chain (Kernel::code). A compiled loop writes
// no memory that it reads: what an instruction changes in place is written to scratch, and moved once it
// is known that no flag was raised. So whatever a loop has done to a tile, NumPy's loops can do the tile again, and say
// which instruction raised what.
#pragma once
#include "lazy/cpu/plan.h"

namespace lazyarray {

// What the planner knows of a member besides: its operands' steps over all axes of the pass, ...
struct MemberSteps {
  int level = -1;  // of what it reads; -1: it is in no chain
  Sums sums = Sums::NONE;
  npy_intp of[kPassOps][kAxes] = {};
  // ... and their values: equal numbers are the same elements of the same memory. Operands on one chunk whose
  // numbers differ may have elements in common all the same.
  int walk[kPassOps];
  int chunk[kPassOps];
  // What is written out for the tile (expand.h) has a number of that; `origin` is where it comes from. Compiled loops read
  // those with a bit in `in_place` there all the same.
  int origin[kPassOps];
  int in_place = 0;
};
// Numbers from here on are temporaries', and what is written out for a tile (expand.h).
constexpr int kTemporaryWalk = 1 << 20, kExpandedWalk = 1 << 21;

// Finds the plan's chains, and gets space in the scratch for them.
void find_chains(Plan& plan, const Stage& stage, const std::vector<MemberSteps>& steps);

}  // namespace lazyarray
