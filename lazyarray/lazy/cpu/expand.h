// Expand: broadcast operands of short rows, written out for a tile.
//
// Loops run along rows, and a row of 3 or 16 elements costs as much to enter as 30 to add up. Where a broadcast operand is
// all that keeps a tile's rows from being one, it is written out in the scratch, and what reads it has one long row. (Of NumPy's
// time, before and so: `x * w`, 6250 x 16 by 16: 2.1, 0.5; by 6250 x 1: 1.8, 0.8.) Compiled loops need no call a row: they
// read what has other values in each tile where it is, but in the shortest rows, which don't fill a vector.
#pragma once
#include "lazy/cpu/chains.h"

namespace lazyarray {

// Has the member's broadcast operands written out, if that pays, and sets its nest then: it is where `member` and `mine`
// say. Not for kernels whose bits depend on the steps.
bool expand(Plan& plan, const Stage& stage, int number, Member& member, MemberSteps& mine);

// The same where tiles are pieces of a line (Plan::walk), through which the member would walk row by row.
bool expand_line(Plan& plan, const Stage& stage, int number, Member& member, npy_intp const (*steps)[kAxes]);

// Writes a tile of `length`. `from`: the tile's first element; or, on a line, the line's, of which it begins at `begin`.
void write_out(const Plan& plan, const Expansion& e, const char* from, npy_intp begin, npy_intp length, char* to);

}  // namespace lazyarray
