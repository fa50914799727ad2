// Expand: broadcast operands of short rows, written out for a tile.
//
// Loops run along rows, and a row of 3 or 16 elements costs as much to enter as 30 to add up. Where a broadcast
// operand is all that keeps a tile's rows from being one, it is written out in the scratch, and what reads it has
// one long row. (Of NumPy's time, before and so: `x * w`, 6250 x 16 by 16: 2.1, 0.5; by 6250 x 1: 1.8, 0.8.)
// Compiled loops need no call a row. They read what has other values in each tile where it is, but in the shortest
// rows, which don't fill a vector.
#pragma once
#include <unordered_map>

#include "lazy/cpu/chains.h"

namespace lazyarray {

// Finds what to write out while a plan's members are made, in order.
class Expander {
 public:
  Expander(Plan& plan, const Stage& stage);

  // Has the member's broadcast operands written out, if that pays, and sets its nest then: `member` and `mine` say
  // where it reads.
  bool expand(int number, Member& member, MemberSteps& mine);

  // The same where tiles are pieces of a line (Plan::walk), through which the member would walk row by row: all of
  // its operands that don't step evenly, or none.
  bool expand_line(int number, Member& member, MemberSteps& mine);

  // Has what a roll gives written out when somebody needs it, if compiled loops can do without: `member` says where.
  void put_off(int number, Member& member);
  // The expansion that such a temporary is, or -1.
  int turned(const Chunk* c) const {
    const auto found = turned_.find(c);
    return found == turned_.end() ? -1 : found->second;
  }

 private:
  // Whether an element's bits are the same with other steps: not of casts, of numbers that the dtype can't hold.
  static bool any_steps(const Kernel& kernel) { return kernel.any_order && !kernel.casts_range; }
  // Whether the chunk stays as it is from its maker on, for the whole pass if that isn't in it.
  bool stays(const Chunk* c) const;
  // The elements of the innermost loop, if the operands in `out`, a bit each, are written out.
  npy_intp innermost(const Instr& in, const MemberSteps& mine, int out) const;
  // The plan's expansion that is this one; a new one, if need be. -1: there are too many.
  int share(const Expansion& e, int level);
  // The member's operand is what that expansion writes out.
  void read(Member& m, int k, int expansion) const {
    m.expanded[k] = static_cast<int8_t>(expansion);
    m.where[k] = plan_.expansions[expansion].to;
  }

  Plan& plan_;
  const Stage& stage_;
  std::unordered_map<const Chunk*, int> writers_, turned_;
  bool sums_rows_ = false;  // so compiled loops go row by row anyhow
};

// Writes a tile of `length`. `from`: the tile's first element; or, on a line, the line's, of which it begins at `begin`.
void write_out(const Plan& plan, const Expansion& e, const char* from, npy_intp begin, npy_intp length, char* to);

// Copies each of `n` elements `times` times; those of one size, `step` bytes apart, to where they lie one after the other.
void repeat_each(int size, const char* from, npy_intp n, npy_intp step, npy_intp times, char* to);

// The same of blocks of elements, `block` bytes each, which lie one after the other.
void repeat_blocks(int size, npy_intp block, const char* from, npy_intp n, npy_intp times, char* to);

// Has the first `bytes` of `to` there `times` times, one after the other.
void repeat_first(char* to, npy_intp bytes, npy_intp times);

}  // namespace lazyarray
