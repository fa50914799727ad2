// MemoryPlan: where a program's intermediate arrays lie in one block of memory.
#include "lazy/memory_plan.h"

namespace lazyarray {

Arena::~Arena() {
  pool->release_used(data, nbytes);
  turn->unref();
}

void MemoryPlan::place(const std::vector<Bundle*>& bundles, const std::vector<int>& ends) {
  // By operator: what it is the last to use, and nothing took over.
  std::vector<std::vector<int>> ending(bundles.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    Block& fresh = blocks[b];
    unplanned += fresh.bytes;
    std::vector<int>& old = ending[fresh.first];
    const auto found = std::find_if(old.begin(), old.end(), [&](int a) {
      return blocks[a].bytes == fresh.bytes && may_replace(*bundles[fresh.first], blocks[a], fresh);
    });
    if (found != old.end()) {
      fresh.in_place = *found;
      blocks[*found].next = static_cast<int>(b);
      old.erase(found);
    }
    ending[fresh.last].push_back(static_cast<int>(b));
  }
  find_bound(bundles.size());
  // The largest first, each at the lowest place where nothing is that lives when it does: the greedy
  // order of "Efficient Memory Management for Deep Neural Net Inference" (Pisarchyk, Lee 2020). Those
  // that follow each other in place go as one.
  std::vector<Group> groups;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].in_place >= 0) continue;
    Group g{static_cast<int>(b), blocks[b].bytes, blocks[b].first, blocks[b].last, 0};
    for (int next = blocks[b].next; next >= 0; next = blocks[next].next) g.last = blocks[next].last;
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
    for (int b = groups[i].head; b >= 0; b = blocks[b].next) blocks[b].offset = at;
  }
  find_conflicts(ends);
}

void MemoryPlan::find_conflicts(const std::vector<int>& ends) {
  // Any phase may follow any, itself included. What an earlier phase began lies there already.
  for (size_t p = 0; p < ends.size(); ++p)
    for (size_t q = 0; q < ends.size(); ++q) {
      const int before = p ? ends[p - 1] : 0, after = q ? ends[q - 1] : 0;
      Lying lying;
      for (size_t b = 0; b < blocks.size(); ++b)
        if (blocks[b].first < ends[p] && blocks[b].last >= before) take_place(lying, static_cast<int>(b));
      for (size_t b = 0; b < blocks.size(); ++b)
        if (blocks[b].first < ends[q] && blocks[b].first >= after) take_place(lying, static_cast<int>(b));
    }
}

void MemoryPlan::take_place(Lying& lying, int b) {
  const size_t begin = blocks[b].offset, end = begin + blocks[b].bytes;
  auto at = lying.lower_bound(begin);
  if (at != lying.begin() && std::prev(at)->second.end > begin) --at;
  while (at != lying.end() && at->first < end) {
    const auto [from, piece] = *at;
    at = lying.erase(at);
    if (piece.block != b) conflicts.push_back({blocks[b].first, blocks[piece.block].chunk});
    if (from < begin) lying[from] = {begin, piece.block};
    if (piece.end > end) lying[end] = piece;
  }
  lying[begin] = {end, b};
}

void MemoryPlan::find_bound(size_t bundles) {
  std::vector<size_t> more(bundles + 1, 0), less(bundles + 1, 0);  // of them alive from here on
  for (const Block& b : blocks) {
    more[b.first + (b.in_place >= 0)] += b.bytes;
    less[b.last + 1] += b.bytes;
  }
  size_t alive = 0;
  for (size_t p = 0; p < bundles; ++p) {
    alive += more[p];
    alive -= less[p];
    bound = std::max(bound, alive);
  }
}

bool MemoryPlan::may_replace(const Bundle& bundle, const Block& old, const Block& fresh) {
  if (old.last_at > fresh.first_at) return false;
  for (const Bundle::Step& s : bundle.steps) {
    if (old.last_at < s.begin || fresh.first_at >= s.end) continue;
    // The one ends and the other begins in this step: in a pass, tile by tile.
    if (!s.plan)
      return old.last_at < fresh.first_at ||
             alike(bundle, old.last_at, old.last_at + 1, old.chunk, fresh.chunk);
    if (s.plan->writes_early()) return false;
    return alike(bundle, s.begin, s.end, old.chunk, fresh.chunk);
  }
  return true;  // one step ends it, a later one begins the other
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
