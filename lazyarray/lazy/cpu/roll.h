// roll: elements moved along axes, those that leave at one end entering at the other.
#pragma once
#include "lazy/instr.h"

namespace lazyarray {

// As a copy's, whose loop it has: a source and an output, which lies together in the order of the axes. The output's
// element is the one that lies Instr::core[a] places before it along each axis a, counted round, with
// 0 <= core[a] < shape[a]. So a part of the output needs other parts of the source: in a pass nothing that is read so
// may be written (Fuser::conflicts).

// Writes `count` elements of the output from the `begin`-th on, in order, to `to`; `from` is where the source begins.
void roll(Instr& in, const char* from, char* to, npy_intp begin, npy_intp count);

}  // namespace lazyarray
