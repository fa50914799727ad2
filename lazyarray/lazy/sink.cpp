// Fuser::sink: moves instructions into a later pass that alone needs what they give.
//
// An instruction joins the oldest stage that it may join. Of a time loop with stencils, whose steps are passes, so the
// first instructions of a step are in the pass of the step before, and what they give goes through memory. (Five steps
// of reaction and diffusion by `roll`, 1000 x 1000: 488 MB moved, and 160 where each step is waited for.)
//
// Invariants: those of Fuser. Moved from stage `from` to `to`, an instruction comes after all between, so none of these
// may write what it reads; in `to` it keeps its place in program order, so what is written there must be so by the same
// walk. Nobody else may use its result: no stage but `to` reads that, and no handle is left, so what it costs in memory
// is saved, and no wait takes longer.
#include <algorithm>

#include "lazy/fuse.h"

namespace lazyarray {

static constexpr int64_t kNever = INT64_MAX / 4;
static constexpr int kDeep = 32;     // instructions that follow each other into the later pass, weighed as one
// Entries of a chunk, of which some have thousands (rows of one array): of the stages that matter, and in all.
static constexpr int kLooked = 64, kPassed = 1024;

// How the stages use what an instruction reads.
struct Fuser::Met {
  bool there = false;      // the later stage walks it likewise
  bool elsewhere = false;  // another one but the two uses it
  int here = 0;            // operands of the earlier stage that read it, or write it so
  Instr* maker = nullptr;  // the only writer, which is in the earlier stage
};

// Whether all that it does is to write one array anew, element by element.
static bool makes_one(const Instr& in) {
  return in.kernel->kind == Kernel::ELEMENTWISE && in.nop == in.nin + 1 && in.overwritten(in.nin);
}

void Fuser::sink(const std::vector<Instr*>& segment) {
  const auto passes = std::count_if(stages_.begin(), stages_.end(), [](const Stage& s) { return s.fused && s.merged_into < 0; });
  if (passes < 2) return;
  bool moved = false;
  // The youngest first: what moves may free what it reads to follow.
  for (auto it = segment.rbegin(); it != segment.rend(); ++it) {
    Instr* const in = *it;
    const int to = later_reader_of(*in);
    if (to < 0) continue;
    sinking_.clear();
    sunk_ = stages_[to].form;
    if (price_of_sinking(in, to, 0) > 2 * reach(*in, in->nin)) continue;
    for (Instr* each : sinking_) move(each, to);
    stages_[to].form = sunk_;
    moved = true;
  }
  if (!moved) return;
  for (Stage& s : stages_) s.instrs.clear();
  for (Instr* in : segment) stages_[resolve(placed_[in->index])].instrs.push_back(in);
}

// The stage, a later pass, whose elementwise reads are the only uses of an instruction's result; -1 if there is none.
int Fuser::later_reader_of(Instr& in) {
  if (!makes_one(in)) return -1;
  Chunk* const c = in.ops[in.nin].chunk;
  const int from = resolve(placed_[in.index]);
  int head = entries_of(c);
  while (head >= 0 && !entries_[head].uses) head = entries_[head].next;
  if (head < 0 || resolve(entries_[head].stage) == from) return -1;  // most are: what lives and dies in one pass
  if (!stages_[from].fused || c->handles.load(std::memory_order_acquire) || lazy(c)->resource) return -1;
  const Span mine = span_of(in, in.nin);
  int to = -1, looked = 0;
  for (int e = head; e >= 0; e = entries_[e].next) {
    const Entry& entry = entries_[e];
    if (!entry.uses) continue;
    if (++looked > kLooked) return -1;
    const int s = resolve(entry.stage);
    if (entry.written) {
      if (entry.in != &in || entry.uses > 1) return -1;
      continue;
    }
    if (s == from || (to >= 0 && s != to) || entry.in->touches_all(entry.op)) return -1;
    if (!same_walk(span_of(*entry.in, entry.op), mine)) return -1;
    to = s;
  }
  if (to < 0 || !stages_[to].fused || !(stages_[to].device == stages_[from].device)) return -1;
  return to;
}

// The bytes that are moved more if an instruction runs in `to`, its result aside; kNever if it can't run there. What goes
// with it is added to sinking_, and sunk_ has room for it: who won't have it moved puts both back.
int64_t Fuser::price_of_sinking(Instr* in, int to, int depth) {
  const int from = resolve(placed_[in->index]);
  if (in->size() != sunk_.size || !sunk_.add(*in)) return kNever;
  sinking_.push_back(in);
  int64_t bytes = 0;
  for (int k = 0; k < in->nin; ++k) {
    Chunk* const c = in->ops[k].chunk;
    if (!c) continue;
    Met met;
    if (!look(*in, k, from, to, met)) return kNever;
    int mine = 0, first = k;  // operands of this instruction that are the same: x * x
    for (int j = in->nin - 1; j >= 0; --j)
      if (in->ops[j].chunk == c && same_walk(span_of(*in, j), span_of(*in, k))) mine++, first = j;
    if (first != k) continue;
    const int64_t size = reach(*in, k);
    const bool temporary = met.maker && !met.elsewhere && !met.there && !c->handles.load(std::memory_order_acquire);
    if (!temporary) {
      bytes += (met.there ? 0 : size) - (met.here == mine ? size : 0);
    } else if (met.here > mine + 1) {  // others in the earlier stage read it, so that it goes through memory
      bytes += 2 * size;
    } else {
      const bool may = depth < kDeep && makes_one(*met.maker);
      const Form without = sunk_;
      const size_t end = sinking_.size();
      const int64_t follows = may ? price_of_sinking(met.maker, to, depth + 1) : kNever;
      if (follows > 2 * size) {
        sinking_.resize(end);
        sunk_ = without;
      }
      bytes += std::min(follows, 2 * size);
    }
  }
  return bytes;
}

// Who uses what an operand reads; false if the instruction would read something else in `to`.
bool Fuser::look(Instr& in, int k, int from, int to, Met& met) {
  Chunk* const c = in.ops[k].chunk;
  const Span mine = span_of(in, k);
  npy_intp low, high;
  mine.extent(low, high);
  int looked = 0, passed = 0, writers = 0;
  for (int e = entries_of(c); e >= 0; e = entries_[e].next) {
    const Entry& entry = entries_[e];
    if (!entry.uses) continue;
    if (++passed > kPassed) return false;
    const int s = resolve(entry.stage);
    writers += entry.written;
    if (s > to || s < from) {
      met.elsewhere = true;
      if (s < from && entry.written) break;  // which depends on all before it
      continue;
    }
    if (++looked > kLooked) return false;
    const bool all = entry.in->touches_all(entry.op);
    const bool alike = !all && same_walk(span_of(*entry.in, entry.op), mine);
    if (entry.written) {
      const bool meets = low < entry.high && entry.low < high &&
                         (all || alike || may_overlap(span_of(*entry.in, entry.op), mine));
      if (s == from && meets && entry.last_write > in.index) return false;
      if (s > from && s < to && meets) return false;
      if (s == to && (entry.open || (meets && !alike))) return false;
      if (s == from && alike && !entry.open && entry.in->index == entry.last_write && entry.in->overwritten(entry.op))
        met.maker = entry.in;
    }
    if (s == from && alike) met.here += entry.uses;
    else if (s == to && alike) met.there = true;
    else met.elsewhere |= !entry.written || s != from;
  }
  if (writers != 1) met.maker = nullptr;
  return true;
}

void Fuser::move(Instr* in, int to) {
  const int from = resolve(placed_[in->index]);
  for (int k = 0; k < in->nop; ++k) {
    Chunk* const c = in->ops[k].chunk;
    if (!c) continue;
    if (in->writes(k)) {
      for (int e = entries_of(c); e >= 0; e = entries_[e].next)
        if (entries_[e].written) entries_[e].stage = to;
      continue;
    }
    if (Entry* const old = entry_like(*in, k, from)) old->uses--;
    if (Entry* const known = entry_like(*in, k, to)) known->uses++;
    else enter(in, k, to, false);
  }
  placed_[in->index] = to;
}

}  // namespace lazyarray
