// MemoryPlan: where a program's intermediate arrays lie in one block of memory.
#pragma once
#include <algorithm>
#include <map>
#include <vector>

#include "lazy/schedule.h"

namespace lazyarray {

// One block, shared by the chunks that lie in it and by the programs that run one at a time in it.
struct Arena {
  std::atomic<int32_t> refs{1};
  MemoryPool* const pool;
  const size_t nbytes;
  char* const data;
  // Two programs that share the block: bundles read this variable; who comes after the other writes it.
  Chunk* turn;
  const void* last = nullptr;  // GIL: the program that ran last

  Arena(MemoryPool* p, size_t n, char* d, Chunk* turn) : pool(p), nbytes(n), data(d), turn(turn) {}
  ~Arena();
  void unref() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

// Liveness in steps of operators, in the order in which they are pushed. Two intermediates may share
// bytes if all that use the one are older than all that use the other; or if an operator that ends the
// one and begins the other does so in place: element by element, at the same places.
//
// Operators without an edge between them may run in any order, so memory is passed on by variables, too:
// the operator that begins a block also counts as a writer of those that lay in its bytes just before it
// (`conflicts`), and so waits for their uses. It is enough to name these, for each byte the one: whoever
// uses a block comes after the operator that began it, and that after all who used the bytes before. What
// lay there before is found by pushing any two phases one after the other: a call begins where another
// ended, and one phase may be pushed again and again.
class MemoryPlan {
 public:
  struct Block {
    Chunk* chunk;
    size_t bytes;       // rounded up
    int first, last;    // the operators that use it
    size_t first_at, last_at;  // ... and which of their instructions
    int in_place = -1;  // the block whose place it takes over
    int next = -1;      // ... that takes over its place
    size_t offset = 0;
  };
  struct Conflict {
    int bundle;
    Chunk* chunk;
  };
  std::vector<Block> blocks;
  std::vector<Conflict> conflicts;
  size_t planned = 0, unplanned = 0, bound = 0;

  static size_t rounded(size_t n) { return (n + 63) / 64 * 64; }

  // `blocks` are filled in, in the order of `first`. Each phase ends before operator `ends[i]`.
  void place(const std::vector<Bundle*>& bundles, const std::vector<int>& ends);

 private:
  struct Group {
    int head;
    size_t bytes;
    int first, last;
    size_t offset;
  };

  struct Piece {
    size_t end;
    int block;
  };
  using Lying = std::map<size_t, Piece>;  // what lies where at some time, by the first byte

  // The most bytes alive at once: no plan needs less.
  void find_bound(size_t bundles);
  void find_conflicts(const std::vector<int>& ends);
  void take_place(Lying& lying, int b);

  // Whether operator `bundle`, the last that uses `old` and the first that uses `fresh`, may write the one
  // where the other lies.
  static bool may_replace(const Bundle& bundle, const Block& old, const Block& fresh);
  // Whether instructions `from` .. `to` are all elementwise where they use the two, at the same places.
  static bool alike(const Bundle& bundle, size_t from, size_t to, const Chunk* old, const Chunk* fresh);
};

}  // namespace lazyarray
