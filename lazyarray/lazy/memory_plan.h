// MemoryPlan: where a program's intermediate arrays lie in one block of memory.
#pragma once
#include <algorithm>
#include <vector>

#include "lazy/schedule.h"

namespace lazyarray {

// One block, shared by the chunks that lie in it and by the programs that run one at a time in it.
struct Arena {
  std::atomic<int32_t> refs{1};
  MemoryPool* const pool;
  const size_t nbytes;
  char* const data;
  // Two programs that share the block: parts read this variable; who comes after the other writes it.
  Chunk* turn;
  const void* last = nullptr;  // GIL: the program that ran last

  Arena(MemoryPool* p, size_t n, char* d, Chunk* turn) : pool(p), nbytes(n), data(d), turn(turn) {}
  ~Arena() {
    pool->release_used(data, nbytes);
    turn->unref();
  }
  void unref() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

// Liveness in steps of operators, in the order in which they are pushed. Two intermediates may share
// bytes if all that use the one are older than all that use the other; or if an operator that ends the
// one and begins the other does so in place: element by element, at the same places.
//
// Operators without an edge between them may run in any order, so whoever first writes shared bytes
// also counts as a writer of the variables of all that lie there (`conflicts`): it waits for their
// uses, those of the run before included.
class MemoryPlan {
 public:
  struct Block {
    Chunk* chunk;
    size_t bytes;       // rounded up
    int first, last;    // the operators that use it
    int in_place = -1;  // the block whose place it takes over
    size_t offset = 0;
  };
  struct Conflict {
    int part;
    Chunk* chunk;
  };
  std::vector<Block> blocks;
  std::vector<Conflict> conflicts;
  size_t planned = 0, unplanned = 0, bound = 0;

  static size_t rounded(size_t n) { return (n + 63) / 64 * 64; }

  // `blocks` are filled in, in the order of `first`.
  void place(const std::vector<Part*>& parts) {
    for (size_t b = 0; b < blocks.size(); ++b) {
      unplanned += blocks[b].bytes;
      for (size_t a = 0; a < b && blocks[b].in_place < 0; ++a)
        if (blocks[a].last == blocks[b].first && blocks[a].bytes == blocks[b].bytes && !taken(a) &&
            may_replace(*parts[blocks[b].first], blocks[a].chunk, blocks[b].chunk))
          blocks[b].in_place = static_cast<int>(a);
    }
    find_bound(static_cast<int>(parts.size()));
    // The largest first, each at the lowest place where nothing is that lives when it does: the greedy
    // order of "Efficient Memory Management for Deep Neural Net Inference" (Pisarchyk, Lee 2020). Those
    // that follow each other in place go as one.
    std::vector<Group> groups;
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b].in_place >= 0) continue;
      Group g{static_cast<int>(b), blocks[b].bytes, blocks[b].first, blocks[b].last, 0};
      for (int next = follower(g.head); next >= 0; next = follower(next)) g.last = blocks[next].last;
      groups.push_back(g);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& x, const Group& y) { return x.bytes > y.bytes; });
    for (size_t i = 0; i < groups.size(); ++i) {
      std::vector<const Group*> beside;
      for (size_t j = 0; j < i; ++j)
        if (groups[j].first <= groups[i].last && groups[i].first <= groups[j].last)
          beside.push_back(&groups[j]);
      std::sort(beside.begin(), beside.end(),
                [](const Group* x, const Group* y) { return x->offset < y->offset; });
      size_t at = 0;
      for (const Group* g : beside)
        if (g->offset < at + groups[i].bytes && at < g->offset + g->bytes) at = g->offset + g->bytes;
      groups[i].offset = at;
      planned = std::max(planned, at + groups[i].bytes);
      for (int b = groups[i].head; b >= 0; b = follower(b)) blocks[b].offset = at;
    }
    for (const Block& x : blocks)
      for (const Block& y : blocks)
        if (&x != &y && x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes)
          conflicts.push_back({x.first, y.chunk});
  }

 private:
  struct Group {
    int head;
    size_t bytes;
    int first, last;
    size_t offset;
  };

  bool taken(size_t a) const { return follower(static_cast<int>(a)) >= 0; }
  int follower(int a) const {
    for (size_t b = a + 1; b < blocks.size(); ++b)
      if (blocks[b].in_place == a) return static_cast<int>(b);
    return -1;
  }

  // The most bytes alive at once: no plan needs less.
  void find_bound(int parts) {
    std::vector<size_t> alive(parts, 0);
    for (const Block& b : blocks)
      for (int p = b.first + (b.in_place >= 0); p <= b.last; ++p) alive[p] += b.bytes;
    for (size_t n : alive) bound = std::max(bound, n);
  }

  // Whether operator `part`, the last that uses `old` and the first that uses `fresh`, may write the one
  // where the other lies.
  static bool may_replace(const Part& part, const Chunk* old, const Chunk* fresh) {
    size_t last_old = 0, first_fresh = part.instrs.size();
    for (size_t i = 0; i < part.instrs.size(); ++i) {
      if (uses(*part.instrs[i], old)) last_old = i;
      if (uses(*part.instrs[i], fresh)) first_fresh = std::min(first_fresh, i);
    }
    if (last_old > first_fresh) return false;
    for (const Part::Step& s : part.steps) {
      if (last_old < s.begin || first_fresh >= s.end) continue;
      // The one ends and the other begins in this step: in a pass, tile by tile.
      if (!s.plan && !s.gpu) return last_old < first_fresh || alike(part, last_old, last_old + 1, old, fresh);
      if (s.plan)
        for (const Member& m : s.plan->members)
          if (m.copied_by >= 0) return false;  // what it copies is written before its turn
      return alike(part, s.begin, s.end, old, fresh);
    }
    return true;  // one step ends it, a later one begins the other
  }
  static bool uses(const Instr& in, const Chunk* c) {
    for (int k = 0; k < in.nop; ++k)
      if (in.ops[k].chunk == c) return true;
    return false;
  }
  // Whether instructions `from` .. `to` are all elementwise where they use the two, at the same places.
  static bool alike(const Part& part, size_t from, size_t to, const Chunk* old, const Chunk* fresh) {
    Instr* first = nullptr;
    int op = 0;
    for (size_t i = from; i < to; ++i) {
      Instr& in = *part.instrs[i];
      for (int k = 0; k < in.nop; ++k) {
        if (in.ops[k].chunk != old && in.ops[k].chunk != fresh) continue;
        // A cast with values out of range reads its input once more.
        if (in.kernel->kind != Kernel::ELEMENTWISE || in.kernel->casts_range) return false;
        if (!first) first = &in, op = k;
        else if (!same_walk(span_of(*first, op), span_of(in, k))) return false;
      }
    }
    return true;
  }
};

}  // namespace lazyarray
