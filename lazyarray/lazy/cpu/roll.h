// roll: elements moved along axes, those that leave at one end entering at the other.
#pragma once
#include "lazy/space.h"

namespace lazyarray {

// As a copy's, whose loop it has: a source and an output, which lies together in the order of the axes. The output's
// element is the one that lies Instr::core[a] places before it along each axis a, counted round, with
// 0 <= core[a] < shape[a]. So a part of the output needs other parts of the source: in a pass nothing that is read so
// may be written (Fuser::conflicts).

// Writes `count` elements of the output from the `begin`-th on, in order, to `to`; `from` is where the source begins.
void roll(Instr& in, const char* from, char* to, npy_intp begin, npy_intp count);

// The same along the axes of a pass.
struct Turn {
  int member;         // whose instruction it is
  int axis[4];        // of the pass, along which the instruction's axis moves; -1: along none
  npy_intp unit[4];   // elements of the instruction's axis in one step of that
};

// False if an axis moves by what is no number of steps along one axis of the pass.
bool find_turn(Instr& in, const Axes& axes, Turn& to);

}  // namespace lazyarray
