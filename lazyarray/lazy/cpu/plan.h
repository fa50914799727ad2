// Plan: how a fused pass goes over its tiles.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "lazy/backend.h"
#include "lazy/cpu/roll.h"
#include "lazy/cpu/tier.h"

namespace lazyarray {

// A row of fewer elements takes no longer than the call for it.
constexpr npy_intp kShortRow = 32;

// Some axes as a nest of loops over N operands: those that all step through alike are one.
template <int N>
struct NestOf {
  int n = 0;
  npy_intp shape[kAxes];
  npy_intp strides[N][kAxes] = {};
  npy_intp head = 1;  // the `cut` loop's count for one step of the axis that tiles cut
  int cut = 0;
  // Of each loop: its first axis, and how often it runs for one step of that.
  int axis[kAxes];
  npy_intp each[kAxes];

  // Axes `from` .. `to` of the pass, the first of which is the one that tiles cut; steps[k] are
  // operand k's over all axes. An axis with a bit in `apart` is in no loop with the one before it.
  void set(const Axes& axes, int from, int to, int nop, npy_intp const (*steps)[kAxes], uint32_t apart = 0);

  npy_intp count(int loop, npy_intp length) const {
    return loop == cut ? length * head : shape[loop];
  }

  // A piece of the axis that tiles cut, as a row: the only one.
  void set_row(int axis, int nop, npy_intp const (*steps)[kAxes]);

  // One more loop, innermost, which is no part of another.
  void append(npy_intp length, int axis, int nop, npy_intp const (*steps)[kAxes]);

  bool operator==(const NestOf& other) const;

  // Puts the loops in which operand k stands still, in their order, around the innermost one.
  void still_last(int k, int nop);

  // Puts the longest loop innermost, if the one there has fewer steps than `few`. `length` is that of a tile.
  void lengthen(int nop, npy_intp length, npy_intp few);

 private:
  void swap(int a, int b, int nop);
};
using Nest = NestOf<kPassOps>;

using RowSum = void (*)(const char*, char*, npy_intp);

// One instruction's part in a pass.
struct Member {
  enum Role : uint8_t { MAP, WALK, ROWS, TREE, COLUMNS, LINE, NOTHING };
  enum : int { kMemory = -1, kConstant = -2, kCopyTarget = -3 };

  Role role = MAP;
  int nop = 0;
  int where[kPassOps];             // an offset into the scratch, or one of the above
  int copied_by[kPassOps];         // of a result: a later copy (a member) into whose target it is written; or -1
  int8_t expanded[kPassOps];       // which of the plan's expansions it reads, or puts off; or -1
  npy_intp outer[kPassOps][kAxes] = {};  // steps over the axes up to the one that tiles cut
  Nest nest;                       // of a tile: MAP all axes, else those of the rows
  npy_intp walk[kPassOps][kAxes] = {};   // WALK: the steps over Plan::walk's axes
  npy_intp run = 1, run_step = 0;  // ROWS: what is reduced
  RowSum sum = nullptr;            // ... if that is numbers that lie together, added up in pairs
  npy_intp kept = 1, kept_steps[2] = {};  // COLUMNS: what is kept
  int partial = -1;                // TREE: which of the pass's
  bool cuts_kept = false;          // COLUMNS: tiles cut what is kept
  int rows_begin = 0, rows_end = 0;  // COLUMNS: the axes that are reduced

  explicit Member(int operands = 0) : nop(operands) {
    std::fill_n(copied_by, kPassOps, -1);
    std::fill_n(expanded, kPassOps, -1);
  }
};

// An operand of a chain: one of an instruction's.
struct Place {
  int member, op;
  bool written;
  bool sum = false;  // it has no step where it is added up
  // Where in the scratch it is written first, as the chain reads the same memory, and from which place after the
  // loop's own it is moved to; or -1.
  int kept = -1, target = -1;
  bool in_place = false;  // it reads where it is what is written out besides
  int turn = -1;       // it reads where it is what this one of the plan's turns moves
  npy_intp outer[kAxes] = {};  // steps over the axes up to the one that tiles cut; of a line's chain, over Plan::walk
};

constexpr int kPlaces = 64;

// What a chain adds up: rows, along which the innermost loop goes, and no other is in it; pieces of a row (a tile is one),
// whose sums are partial ones; or columns, the loops along which are around the innermost one.
enum class Sums : uint8_t { NONE, ROWS, PIECES, COLUMNS };

// Instructions, one after the other, that may run as one compiled loop: see Chains.
struct Chain {
  int begin, end;             // members
  int level = 0;              // how many of the axes they have
  double ns = 0;              // of a pass, without it
  std::vector<Place> places;  // in the order of the loop's operands; then targets
  int operands = 0;           // of the loop
  Sums sums = Sums::NONE;
  bool line = false;          // a tile is a piece of Plan::walk: the nest is of that one's last two axes
  NestOf<kPlaces> nest;       // of a tile
  std::shared_ptr<CompiledLoop> loop;
};

// What is written out in the scratch for a tile, once somebody needs it there: a broadcast operand whose rows are short
// (see expand.h), or what a roll moves.
struct Expansion {
  int turn = -1;             // which of the plan's turns; nothing of the rest is about it, but for where
  int walk;                  // which elements: see MemberSteps
  int from;                  // an offset into the scratch, or Member::kMemory
  int to;                    // an offset into the scratch
  bool still;                // it is the same for all tiles: done once by each thread
  int item;                  // bytes
  npy_intp outer[kAxes] = {};  // steps over the axes up to the one that tiles cut
  NestOf<2> nest;            // of a tile: the source, and what is written
};

// A contiguous operand in memory that a pass runs through from tile to tile, so that it can fetch it ahead.
struct Fetched {
  int member, op;
  npy_intp step;   // bytes from one element of the cut axis to the next
};

struct Plan final : FusedPlan {
  std::vector<Member> members;
  std::deque<Chain> chains;  // in order; large ones
  std::vector<Expansion> expansions;
  std::vector<Turn> turns;  // rolls that compiled loops may read where their sources are
  Axes axes;
  bool fetches_ahead = false;
  std::vector<Fetched> fetched;  // what it fetches, while the tile before is computed
  Axes walk;                  // if tiles are pieces of a line through several axes: those
  int cut = 0;                // tiles are pieces of this axis, whole in all later ones
  npy_intp length = 1;        // of a piece
  npy_intp pieces = 1, tiles = 1, tiles_per_task = 1, tasks = 1;
  std::vector<npy_intp> leaves;  // TREE: where the pieces of a row begin, and its end
  int partials = 0;           // TREE: how many reductions
  bool complex_tree = false;
  bool long_double = false;   // some flags are the x87 unit's
  size_t scratch = 0;         // bytes for each thread
  double ns = 0;              // what it takes, by estimate
  bool may_chain = false;     // something of it may be compiled ...
  bool chained = false;       // ... and is in `chains`, if it is worth it
  // What changes, by any thread: whether some pass ran, and the work that no chain was told of, in runs by estimate.
  mutable std::atomic<bool> ran{false};
  mutable std::atomic<double> uncounted{0};

  // It takes the place of another plan.
  void follow(const Plan& other) {
    ran.store(other.ran.load(std::memory_order_relaxed), std::memory_order_relaxed);
    uncounted.store(other.uncounted.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  // The steps of what lies in the scratch, over the first `level` axes: a tile's elements one after the other.
  void scratch_steps(int level, npy_intp item, npy_intp* steps) const;
  // Whether the steps over the axes of `walk` are those of one line.
  bool even(const npy_intp* steps) const {
    for (int a = 0; a + 1 < walk.n; ++a)
      if (steps[a] != steps[a + 1] * walk.shape[a + 1]) return false;
    return true;
  }
  // Space in the scratch for a tile of these; its offset.
  size_t scratch_bytes(int level, npy_intp item) const;
  int scratch_for(int level, npy_intp item);
  // Where an operand is that may be written out for the tile besides, and where a chain reads one: as Member::where.
  int origin(const Member& m, int op) const { return m.expanded[op] < 0 ? m.where[op] : expansions[m.expanded[op]].from; }
  int where(const Place& p) const { return p.in_place ? origin(members[p.member], p.op) : members[p.member].where[p.op]; }
  // Whether it is done once somebody needs it.
  bool put_off(const Member& m) const { return m.role == Member::LINE && m.expanded[m.nop - 1] >= 0; }
  // Which expansions are the same for all tiles, a bit each.
  uint64_t still() const {
    uint64_t bits = 0;
    for (size_t i = 0; i < expansions.size(); ++i) bits |= static_cast<uint64_t>(expansions[i].still) << i;
    return bits;
  }
  bool in_memory(size_t instr, int op) const override { return members[instr].where[op] == Member::kMemory; }
  bool may_fall_back() const override { return false; }
  bool writes_early() const override;  // by a copy's maker
  std::string text() const override;
  std::string compiled() const;  // ... of which
  const char* place() const override { return "in scratch"; }
};

}  // namespace lazyarray
