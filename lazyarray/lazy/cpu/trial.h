// Trials of loops of ours against NumPy's: another version of it, or of the C library, may compute in another way.
#pragma once
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lazy/loop.h"

namespace lazyarray {

// Numbers from -1 to 1, the same in each process: D. E. Knuth's linear congruential generator for MMIX.
class TrialNumbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1p-52 - 1;
  }

 private:
  uint64_t state_ = 1;
};

// Whether both write the same `bytes` for n elements: `args` has the operands, and a place for the output. No flag stays.
inline bool writes_the_same(Loop loop, const Inner* numpys, char** args, int output, npy_intp n, const npy_intp* steps,
                            size_t bytes) {
  std::vector<char> ours(bytes), theirs(bytes);
  std::fexcept_t before;
  std::fegetexceptflag(&before, FE_ALL_EXCEPT);
  args[output] = ours.data();
  loop(args, &n, steps, const_cast<Inner*>(numpys));
  args[output] = theirs.data();
  numpys->fn(args, &n, steps, numpys->data);
  std::fesetexceptflag(&before, FE_ALL_EXCEPT);
  return std::memcmp(ours.data(), theirs.data(), bytes) == 0;
}

}  // namespace lazyarray
