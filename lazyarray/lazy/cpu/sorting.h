// sorting: one long line, of which threads sort parts by NumPy's own loops, and merge them.
#pragma once
#include "lazy/runtime.h"

namespace lazyarray {

// Sorts the one line of a kernel with `sort` or `argsort`, with the very bits of NumPy's; false if that is not worth
// it, there is no memory, or the order of equals would be seen: then nothing of it counts.
bool sort_in_parts(const Instr& in, const Block& b, const Crew& crew);

}  // namespace lazyarray
