// Fuser: cuts a segment into stages. A stage is one instruction, or several fused into one pass.
#include "lazy/fuse.h"

#include <algorithm>
#include <utility>

namespace lazyarray {

bool Form::opens(Instr& in) const {
  if (in.kernel->kind != Kernel::REDUCE) return false;
  return !in.reduces_last() || in.last() > row;
}

bool Form::add(Instr& in) {
  const npy_intp n = in.size();
  if (size == 0) size = n;
  if (n == size) {
    if (in.in_line() && axes.n) return sound();
    if (axes.n == 0) start(in);
    else if (!refine(axes, axes.n, in.ndim, in.shape())) return false;
    if (in.kernel->kind == Kernel::REDUCE && !add_reduction(in)) return false;
  } else {
    if (in.kernel->kind != Kernel::ELEMENTWISE || std::find(closed, closed + nclosed, n) == closed + nclosed)
      return false;
    if (!refine(axes, axes.level(n), in.ndim, in.shape())) return false;
  }
  return sound();
}

bool Form::merge(const Form& o) {
  if (o.size != size || !refine(axes, axes.n, o.axes.n, o.axes.shape)) return false;
  for (int i = 0; i < o.nclosed; ++i)
    if (!close(o.closed[i])) return false;
  if (o.open != NONE) {
    if (open != NONE && (open != o.open || tree != o.tree || rows != o.rows)) return false;
    open = o.open;
    tree = o.tree;
    rows = o.rows;
  }
  return sound();
}

void Form::start(Instr& in) {
  for (int i = 0; i < in.ndim; ++i)
    if (in.shape()[i] != 1) axes.shape[axes.n++] = in.shape()[i];
}

bool Form::close(npy_intp n) {
  if (std::find(closed, closed + nclosed, n) != closed + nclosed) return true;
  if (nclosed == kClosed) return false;
  closed[nclosed++] = n;
  return true;
}

bool Form::add_reduction(Instr& in) {
  const npy_intp last = in.last();
  if (!in.reduces_last()) {
    if (open != NONE && (open != COLUMNS || rows != last)) return false;
    open = COLUMNS;
    rows = last;
    return true;
  }
  if (last <= row) return close(size / last);
  const Kernel::Split split = in.kernel->split;
  if (open != NONE && (open != TREE || rows != size / last)) return false;
  if (open == TREE && tree != split && tree != Kernel::Split::ANY && split != Kernel::Split::ANY)
    return false;
  if (open == NONE || tree == Kernel::Split::ANY) tree = split;
  open = TREE;
  rows = size / last;
  return true;
}

bool Form::sound() const {
  if (open != TREE) return true;
  return nclosed == 0 && (rows == 1 || axes.shape[axes.n - 1] == size / rows);
}

bool Fuser::fusable(Instr& in) const {
  const Kernel& k = *in.kernel;
  if (in.nop > kPassOps || in.ndim >= kAxes || in.ndim == 0) return false;
  if (k.kind > Kernel::REDUCE || in.size() == 0) return false;
  if (in.in_line()) return true;
  if (k.kind == Kernel::ELEMENTWISE) {
    // Windows meet bytes several times: what is written last stays, so this is done by one, in order.
    for (int op = in.nin; op < in.nop; ++op)
      if (!nests(span_of(in, op))) return false;
    return true;
  }
  const bool all = in.ndim == 1 && in.reduced == 1;
  const bool one_of_two = in.ndim == 2 && (in.reduced == 1 || in.reduced == 2) && in.shape()[0] > 1;
  if ((!all && !one_of_two) || in.last() == 1) return false;
  return !in.reduces_last() || in.last() <= tiles_.row || k.split != Kernel::Split::NONE;
}

std::vector<Stage>& Fuser::cut(const std::vector<Instr*>& segment, uint64_t plan) {
  plan_ = plan;
  stages_.clear();
  entries_.clear();
  placed_.clear();
  int index = 0;
  for (Instr* in : segment) {
    in->index = index++;
    place(in);
  }
  sink(segment);
  // What is moved round is there before all else of a pass, which writes nothing of what that reads: so what computes
  // is one chain.
  for (Stage& s : stages_) {
    if (s.instrs.size() < 2) continue;
    std::stable_partition(s.instrs.begin(), s.instrs.end(), [](Instr* in) { return in->kernel->kind == Kernel::ROLL; });
    if (s.form.open == Form::TREE) continue;  // on several axes it is slower
    for (Instr* in : s.instrs) {
      if (in->kernel->kind != Kernel::ROLL) break;
      refine(s.form.axes, s.form.axes.n, in->ndim, in->shape());  // or it is copied
    }
  }
  return stages_;
}

int Fuser::resolve(int s) {
  int last = s;
  while (stages_[last].merged_into >= 0) last = stages_[last].merged_into;
  // Where each turn of a loop merges what was before it, the way would be as long as the loop.
  while (s != last) s = std::exchange(stages_[s].merged_into, last);
  return last;
}

int& Fuser::entries_of(Chunk* c) {
  PlanNotes& notes = notes_of(c);
  notes.begin(plan_);
  return notes.last;
}

bool Fuser::has_plus_zeros(Instr& in) {
  Chunk* const c = in.ops[0].chunk;
  const int e = c ? entries_of(c) : -1;
  Instr* const maker = e >= 0 ? entries_[e].writer : nullptr;
  if (!maker || !maker->kernel->no_minus_zero || maker->size() != in.size()) return false;
  return same_walk(span_of(*maker, entries_[e].writer_op), span_of(in, 0));
}

void Fuser::place(Instr* in) {
  const Device device = in->device();
  if (in->kernel->of_plus_zeros && device.on_host() && has_plus_zeros(*in)) in->kernel = in->kernel->of_plus_zeros;
  const bool may_fuse = fusable(*in);
  // Whom it depends on.
  needs_.clear();
  for (int k = 0; k < in->nop; ++k) {
    Chunk* c = in->ops[k].chunk;
    if (!c) continue;
    int e = entries_of(c);
    if (!in->writes(k) && notes_of(c).last_write < 0) continue;
    for (; e >= 0; e = entries_[e].next)
      if (entries_[e].written || in->writes(k)) {
        const int s = resolve(entries_[e].stage);
        if (std::find(needs_.begin(), needs_.end(), s) == needs_.end()) needs_.push_back(s);
        if (entries_[e].written) break;  // which depends on all before it
      }
  }
  std::sort(needs_.begin(), needs_.end());
  int target = -1;
  if (may_fuse) target = fuse(in, device);
  if (target < 0) {
    target = open_stage(device);
    stages_[target].instrs.push_back(in);
    if (may_fuse && in->cost_ns >= flush_.fuse_ns)
      stages_[target].fused = stages_[target].form.add(*in);
  }
  for (int s : needs_) {
    s = resolve(s);
    if (s != target) stages_[s].first_after = std::min(stages_[s].first_after, target);
  }
  note(in, target);
}

int Fuser::open_stage(Device device) {
  stages_.emplace_back();
  stages_.back().device = device;
  stages_.back().form = Form(tiles_.row);
  return static_cast<int>(stages_.size()) - 1;
}

int Fuser::fuse(Instr* in, Device device) {
  if (needs_.empty()) return -1;
  const int youngest = needs_.back();
  int target = -1;
  Form form(tiles_.row);
  auto takes = [&](int s) {
    return stages_[s].fused && stages_[s].device == device && !conflicts(in, s);
  };
  if (takes(youngest)) {
    form = stages_[youngest].form;
    if (form.add(*in)) target = youngest;
  }
  const int n = static_cast<int>(needs_.size());
  for (int i = n - 1; i >= std::max(0, n - kMergers); --i) {
    const int s = needs_[i];
    if (s == target || !takes(s)) continue;
    // Moving it must not take it past somebody who depends on it.
    if (stages_[s].first_after <= (target >= 0 ? target : INT_MAX - 1)) continue;
    Form both = stages_[s].form;
    if (target < 0) {
      if (!both.add(*in)) continue;
      target = open_stage(device);
      stages_[target].fused = true;
    } else if (!both.merge(form)) {
      continue;
    }
    form = both;
    Stage& from = stages_[s];
    Stage& to = stages_[target];
    const auto older = [](Instr* a, Instr* b) { return a->index < b->index; };
    const size_t begin = from.instrs.size();
    from.instrs.insert(from.instrs.end(), to.instrs.begin(), to.instrs.end());
    if (begin && begin < from.instrs.size() && older(from.instrs[begin], from.instrs[begin - 1]))
      std::inplace_merge(from.instrs.begin(), from.instrs.begin() + static_cast<ptrdiff_t>(begin), from.instrs.end(), older);
    to.instrs.swap(from.instrs);
    to.first_after = std::min(to.first_after, from.first_after);
    from.instrs.clear();
    from.merged_into = target;
  }
  if (target < 0) return -1;
  stages_[target].form = form;
  stages_[target].instrs.push_back(in);
  return target;
}

// The bytes of an operand lie between; all of the memory, if the instruction may look or write anywhere.
static void extent_of(Instr& in, int k, npy_intp& low, npy_intp& high) {
  if (!in.touches_all(k)) return span_of(in, k).extent(low, high);
  low = 0;
  high = static_cast<npy_intp>(in.ops[k].chunk->nbytes);
}

bool Fuser::conflicts(Instr* in, int stage) {
  const bool open = stages_[stage].form.opens(*in);
  for (int k = 0; k < in->nop; ++k) {
    Chunk* c = in->ops[k].chunk;
    if (!c) continue;
    const Span mine = span_of(*in, k);
    npy_intp low, high;
    extent_of(*in, k, low, high);
    for (int e = entries_of(c); e >= 0; e = entries_[e].next) {
      const Entry& entry = entries_[e];
      const bool here = resolve(entry.stage) == stage;
      // Another stage's write: whatever used the chunk before it is in stages that are older than
      // it, and can't take in what depends on it.
      if (entry.written && !here) break;
      if (!here || !(entry.written || in->writes(k))) continue;
      if (entry.open || (open && in->writes(k))) return true;
      if (low >= entry.high || entry.low >= high) continue;  // as most rows of one array
      const Span a = span_of(*entry.in, entry.op);
      if (entry.in->touches_all(entry.op) || in->touches_all(k)) return true;
      if (!same_walk(a, mine) && may_overlap(a, mine)) return true;
    }
  }
  return false;
}

Fuser::Entry& Fuser::enter(Instr* in, int k, int stage, bool open) {
  int& head = entries_of(in->ops[k].chunk);
  npy_intp low, high;
  extent_of(*in, k, low, high);
  Instr* const writer = head >= 0 ? entries_[head].writer : nullptr;
  const int writer_op = head >= 0 ? entries_[head].writer_op : 0;
  entries_.push_back({in, k, stage, head, in->writes(k), open, low, high, writer, writer_op});
  head = static_cast<int>(entries_.size()) - 1;
  return entries_.back();
}

Fuser::Entry* Fuser::entry_like(Instr& in, int k, int stage, int most) {
  const Span mine = span_of(in, k);
  int looked = 0;
  for (int e = entries_of(in.ops[k].chunk); e >= 0 && looked < most; e = entries_[e].next, ++looked) {
    Entry& entry = entries_[e];
    if (!entry.uses || resolve(entry.stage) != stage || entry.open || (in.writes(k) && !entry.written)) continue;
    if (entry.in->touches_all(entry.op) == in.touches_all(k) && same_walk(span_of(*entry.in, entry.op), mine)) return &entry;
  }
  return nullptr;
}

void Fuser::note(Instr* in, int stage) {
  placed_.push_back(stage);
  const bool fused = stages_[stage].fused, open = fused && stages_[stage].form.opens(*in);
  for (int k = 0; k < in->nop; ++k) {
    Chunk* c = in->ops[k].chunk;
    if (!c) continue;
    const bool writes = in->writes(k);
    if (writes) notes_of(c).last_write = stage;
    // A walk that the stage is known to make needs no second entry: x += y a thousand times.
    Entry* known = fused && !open ? entry_like(*in, k, stage, 8) : nullptr;
    if (known) {
      known->uses++;
    } else {
      known = &enter(in, k, stage, open && writes);
    }
    if (!writes) continue;
    known->last_write = in->index;
    Entry& youngest = entries_[entries_of(c)];
    youngest.writer = in;
    youngest.writer_op = k;
  }
}

}  // namespace lazyarray
