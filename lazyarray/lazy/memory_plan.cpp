// MemoryPlan: where a program's intermediate arrays lie in one block of memory.
#include "lazy/memory_plan.h"

namespace lazyarray {

Arena::~Arena() {
  pool->release_used(data, nbytes);
  turn->unref();
}

void MemoryPlan::place(const std::vector<Bundle*>& bundles) {
  for (size_t b = 0; b < blocks.size(); ++b) {
    unplanned += blocks[b].bytes;
    for (size_t a = 0; a < b && blocks[b].in_place < 0; ++a)
      if (blocks[a].last == blocks[b].first && blocks[a].bytes == blocks[b].bytes && !taken(a) &&
          may_replace(*bundles[blocks[b].first], blocks[a].chunk, blocks[b].chunk))
        blocks[b].in_place = static_cast<int>(a);
  }
  find_bound(static_cast<int>(bundles.size()));
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

int MemoryPlan::follower(int a) const {
  for (size_t b = a + 1; b < blocks.size(); ++b)
    if (blocks[b].in_place == a) return static_cast<int>(b);
  return -1;
}

void MemoryPlan::find_bound(int bundles) {
  std::vector<size_t> alive(bundles, 0);
  for (const Block& b : blocks)
    for (int p = b.first + (b.in_place >= 0); p <= b.last; ++p) alive[p] += b.bytes;
  for (size_t n : alive) bound = std::max(bound, n);
}

bool MemoryPlan::may_replace(const Bundle& bundle, const Chunk* old, const Chunk* fresh) {
  size_t last_old = 0, first_fresh = bundle.instrs.size();
  for (size_t i = 0; i < bundle.instrs.size(); ++i) {
    if (uses(*bundle.instrs[i], old)) last_old = i;
    if (uses(*bundle.instrs[i], fresh)) first_fresh = std::min(first_fresh, i);
  }
  if (last_old > first_fresh) return false;
  for (const Bundle::Step& s : bundle.steps) {
    if (last_old < s.begin || first_fresh >= s.end) continue;
    // The one ends and the other begins in this step: in a pass, tile by tile.
    if (!s.plan) return last_old < first_fresh || alike(bundle, last_old, last_old + 1, old, fresh);
    if (s.plan->writes_early()) return false;
    return alike(bundle, s.begin, s.end, old, fresh);
  }
  return true;  // one step ends it, a later one begins the other
}

bool MemoryPlan::uses(const Instr& in, const Chunk* c) {
  for (int k = 0; k < in.nop; ++k)
    if (in.ops[k].chunk == c) return true;
  return false;
}

bool MemoryPlan::alike(const Bundle& bundle, size_t from, size_t to, const Chunk* old, const Chunk* fresh) {
  Instr* first = nullptr;
  int op = 0;
  for (size_t i = from; i < to; ++i) {
    Instr& in = *bundle.instrs[i];
    for (int k = 0; k < in.nop; ++k) {
      if (in.ops[k].chunk != old && in.ops[k].chunk != fresh) continue;
      // A cast with values out of range reads its input once more.
      if (in.kernel->kind != Kernel::ELEMENTWISE || in.kernel->casts_range) return false;
      if (!nests(span_of(in, k))) return false;
      if (!first) first = &in, op = k;
      else if (!same_walk(span_of(*first, op), span_of(in, k))) return false;
    }
  }
  return true;
}

}  // namespace lazyarray
