// Planner: makes the plan of a fused stage, once for each structure of instructions.
#include "lazy/cpu/planner.h"

#include "lazy/cpu/rows.h"
#include "lazy/cpu/turn.h"

namespace lazyarray {

static constexpr npy_intp kLineOfRows = 16;
// Of so few columns the sums are no vector of a compiled loop's.
static constexpr npy_intp kFewColumns = 8;

// Whether something of it may be compiled.
static bool may_chain(const Stage& stage) {
  if (!tier().on) return false;
  const auto& all = stage.instrs;
  return std::count_if(all.begin(), all.end(), [](const Instr* in) { return in->kernel->code || in->kernel->kind == Kernel::ROLL; }) > 1;
}

std::shared_ptr<const Plan> Planner::plan(const Stage& stage, bool often) {
  describe(stage);
  const std::shared_ptr<const Plan> known = plans_.find(key_);
  known ? hits++ : misses++;
  chains_ |= unchained_ns.load(std::memory_order_relaxed) >= policy.compile_ns;
  const bool chains = often || tier().now || chains_;
  if (known && (known->chained || !known->may_chain || !chains)) return known;
  auto fresh = std::make_shared<Plan>();
  fresh->may_chain = may_chain(stage);
  fresh->chained = fresh->may_chain && chains;
  if (known) fresh->follow(*known);
  build(*fresh, stage);
  plans_.add(key_, fresh, fresh->members.size());
  return fresh;
}

void Planner::describe(const Stage& stage) {
  key_.clear();
  walks_.clear();
  walk_of_.clear();
  chunks_ = 0;
  mark_ = stage.mark;
  auto push = [&](npy_intp w) { key_.push_back(static_cast<uint64_t>(w)); };
  for (Instr* in : stage.instrs) {
    walk_of_.emplace_back();
    push(reinterpret_cast<intptr_t>(in->kernel));
    push(in->nop | in->ndim << 8 | static_cast<npy_intp>(in->reduced) << 32);
    for (int a = 0; a < in->ndim; ++a) push(in->shape()[a]);
    if (in->kernel->kind == Kernel::ROLL) {  // by how much is seen to at each run
      Turn turn;
      const bool found = find_turn(*in, stage.form.axes, turn);
      for (int a = 0; a < in->ndim; ++a) push(found ? turn.axis[a] : -2);
    }
    for (int k = 0; k < in->nop; ++k) {
      Chunk* c = in->ops[k].chunk;
      push(c ? (id(c) + 1) << 1 | is_temporary(c) : 0);
      // Temporaries have numbers of their own: whoever uses one in the pass has each element at the same place.
      walk_of_.back()[k] = !c ? -1 : is_temporary(c) ? kTemporaryWalk + static_cast<int>(id(c)) : walk(in, k);
      if (c && !is_temporary(c)) push(walk_of_.back()[k]);
      for (int a = 0; a < in->ndim; ++a) push(in->strides(k)[a]);
    }
  }
}

npy_intp Planner::id(Chunk* c) {
  PlanNotes& notes = notes_of(c);
  if (notes.group != mark_) {
    notes.group = mark_;
    notes.index = chunks_++;
  }
  return notes.index;
}

int Planner::walk(Instr* in, int k) {
  const Operand& o = in->ops[k];
  const size_t most = 24, n = walks_.size();
  for (size_t i = n; i-- > 0 && i + most >= n;) {
    Instr* const other = walks_[i].in;
    const int op = walks_[i].op;
    if (other->ops[op].chunk != o.chunk || other->ops[op].offset != o.offset || other->ndim != in->ndim) continue;
    if (info(other->kernel->dtypes[op]).size != info(in->kernel->dtypes[k]).size) continue;
    if (std::equal(in->shape(), in->shape() + in->ndim, other->shape()) &&
        std::equal(in->strides(k), in->strides(k) + in->ndim, other->strides(op)))
      return static_cast<int>(i);
  }
  walks_.push_back({in, k});
  return static_cast<int>(n);
}

// Whether it is a transposed copy along its last two axes.
static bool is_turned(Instr& in) {
  return in.kernel->copies && in.ndim >= 2 && in.ops[0].chunk &&
         turned_row(info(in.kernel->dtypes[0]).size, in.strides(0) + in.ndim - 2, in.strides(1) + in.ndim - 2) >= 0;
}

void Planner::build(Plan& p, const Stage& stage) {
  const Form& form = stage.form;
  const size_t n = stage.instrs.size();
  p.axes = form.axes;
  npy_intp rows = 0;  // of the closed reductions: how many whole rows there are at least
  for (int i = 0; i < form.nclosed; ++i)
    rows = rows ? std::min(rows, form.closed[i]) : form.closed[i];
  double cost = 0;
  for (Instr* in : stage.instrs) cost += in->cost_ns;
  p.ns = cost;
  panels_ = 1;
  const bool in_line = std::any_of(stage.instrs.begin(), stage.instrs.end(), [](Instr* in) { return in->in_line(); });
  if (form.open == Form::COLUMNS && rows == 0 && cost >= policy.split_ns && !in_line) {  // a tile of a panel is no part of it
    panel_axis_ = form.axes.level(form.size / form.rows);
    panels_ = panels(p.axes.shape[panel_axis_], form.rows);
  }
  if (form.open == Form::TREE && form.axes.n > 1 && form.rows == 1) {
    // All of several axes is reduced: tiles are pieces of the line of all elements, through which
    // those who step unevenly walk row by row.
    p.walk = form.axes;
    p.axes.n = 1;
    p.axes.shape[0] = form.size;
  } else if (p.axes.n == 0 || rows == 1) {
    // One tile is all there is: it is cut from an axis of length one.
    push_front(p.axes, 1);
  } else if (panels_ > 1) {
    // Rows have to be added up in order, so what threads share out is panels of columns: they
    // are the first axis, and tiles are cut within one. A panel is a piece of the first of the
    // kept axes, whole in all later ones, so that its columns are one run (see Pass::columns).
    p.axes.shape[panel_axis_] /= panels_;
    push_front(p.axes, panels_);
    panel_axis_++;
  }
  // Which temporaries live when, and what of a tile the cache holds: for an element, the bytes of the
  // operands in memory that were used and will be used again, and of live temporaries.
  struct Met {
    npy_intp item = 0;
    int first = 0, last = 0;
  };
  std::vector<Met> met(chunks_);  // operands in memory that step through the whole space
  lives_.clear();
  life_of_.assign(chunks_, -1);
  std::vector<int> level(n);
  npy_intp per_element = 0;
  size_t operands = 0;  // in memory
  std::vector<int64_t> moved(chunks_);  // of each array: all its views, but none twice
  std::vector<bool> walked(walks_.size());
  for (size_t m = 0; m < n; ++m) {
    Instr& in = *stage.instrs[m];
    const npy_intp size = in.size();
    level[m] = size == form.size ? p.axes.n : std::max(1, p.axes.level(size));
    for (int k = 0; k < in.nop; ++k) {
      Chunk* c = in.ops[k].chunk;
      if (!c) continue;
      const npy_intp item = info(in.kernel->dtypes[k]).size;
      int& life = life_of_[id(c)];
      if (!is_temporary(c)) {
        if (level[m] == p.axes.n) {
          Met& o = met[id(c)];
          if (life == -1) {
            per_element += item;
            operands++;
            o = {item, static_cast<int>(m), 0};
          }
          o.last = static_cast<int>(m);
        }
        life = -2;
        const size_t w = static_cast<size_t>(walk_of_[m][k]);
        if (walked[w]) continue;
        walked[w] = true;
        const int64_t more = std::min(reach(in, k), static_cast<int64_t>(c->nbytes) - moved[id(c)]);
        moved[id(c)] += more;
        p.moved += more;
        continue;
      }
      if (life == -1) {
        const bool reduces = in.kernel->kind == Kernel::REDUCE;
        const npy_intp out = reduces ? size / in.last() : size;
        life = static_cast<int>(lives_.size());
        lives_.push_back({static_cast<int>(m), 0,
                          out == form.size ? p.axes.n : std::max(1, p.axes.level(out)), item, 0});
      }
      lives_[life].last = static_cast<int>(m);
      lives_[life].uses++;
    }
  }
  for (size_t m = 0; m < n; ++m) skip_copy(stage, static_cast<int>(m));
  turns_ = std::any_of(stage.instrs.begin(), stage.instrs.end(), [](Instr* in) { return is_turned(*in); });
  std::vector<npy_intp> alive(n, 0);
  for (const Life& l : lives_)
    if (l.level == p.axes.n && l.copied_by < 0)
      for (int m = l.first; m <= l.last; ++m) alive[m] += l.size;
  // A pass that waits for memory fetches all of the next tile while it computes this one.
  from_memory_ = p.moved >= policy.stream && cost < policy.ns_per_byte * static_cast<double>(p.moved);
  p.fetches_ahead = from_memory_ && n >= operands;
  if (!from_memory_) {
    per_element = 0;
    for (const Met& o : met)
      for (int m = o.first; o.item && m <= o.last; ++m) alive[m] += o.item;
  }
  per_element += *std::max_element(alive.begin(), alive.end());
  choose_tiles(p, form, rows, std::max<npy_intp>(per_element, 1));
  place_scratch(p);
  steps_.assign(p.chained ? n : 1, {});
  Expander expander(p, stage);
  p.members.reserve(n);  // they are large
  for (size_t m = 0; m < n; ++m) {
    p.members.push_back(member(p, stage, expander, m, level[m]));
    p.long_double |= stage.instrs[m]->kernel->long_double;
  }
  if (p.chained) find_chains(p, stage, steps_);
  if (p.fetches_ahead) find_fetched(p, stage);
  // Tasks depend on sizes alone.
  if (cost < policy.split_ns) p.tiles_per_task = p.tiles;
  else if (form.open == Form::COLUMNS) p.tiles_per_task = p.tiles / panels_;
  else p.tiles_per_task = std::max<npy_intp>(
      1, static_cast<npy_intp>(static_cast<double>(p.tiles) * policy.task_ns / std::max(cost, 1.0)));
  p.tasks = (p.tiles + p.tiles_per_task - 1) / p.tiles_per_task;
}

void Planner::find_fetched(Plan& p, const Stage& stage) {
  std::fill(life_of_.begin(), life_of_.end(), -1);
  for (size_t m = 0; m < p.members.size(); ++m) {
    const Member& member = p.members[m];
    if (member.role == Member::WALK || member.role == Member::COLUMNS || member.role == Member::NOTHING) continue;
    Instr& in = *stage.instrs[m];
    for (int k = 0; k < in.nop; ++k) {
      if (member.where[k] != Member::kMemory && member.where[k] != Member::kCopyTarget) continue;
      npy_intp step = info(in.kernel->dtypes[k]).size;
      for (int a = p.axes.n - 1; a > p.cut; --a) step *= p.axes.shape[a];
      int& met = life_of_[id(in.ops[k].chunk)];
      if (met == 0 || member.outer[k][p.cut] != step) continue;
      met = 0;
      p.fetched.push_back({static_cast<int>(m), k, step});
    }
  }
}

void Planner::push_front(Axes& axes, npy_intp length) {
  std::copy_backward(axes.shape, axes.shape + axes.n, axes.shape + axes.n + 1);
  axes.shape[0] = length;
  axes.n++;
}

npy_intp Planner::panels(npy_intp length, npy_intp columns) const {
  for (npy_intp n = std::max<npy_intp>(policy.panels, columns / policy.widest); n > 1; --n)
    if (length % n == 0 && columns / n >= policy.panel) return n;
  return 1;
}

void Planner::skip_copy(const Stage& stage, int m) {
  Instr& copy = *stage.instrs[m];
  if (!copy.kernel->copies || !copy.ops[0].chunk || !is_temporary(copy.ops[0].chunk)) return;
  const Chunk* target = copy.ops[1].chunk;
  Life& life = lives_[life_of_[id(copy.ops[0].chunk)]];
  if (is_temporary(target) || life.last != m || life.uses != 2) return;
  Instr& maker = *stage.instrs[life.first];
  if (maker.kernel->kind != Kernel::ELEMENTWISE) return;
  // A maker of rows is read by a copy to whole rows: not the same elements.
  if (maker.size() != copy.size()) return;
  // It may read what it writes only element by element, and not once more (a cast's recast).
  const bool in_place = maker.kernel->any_order && maker.kernel->dtypes[0] == copy.kernel->dtypes[0];
  for (int i = life.first; i < m; ++i)
    for (int k = 0; k < stage.instrs[i]->nop; ++k)
      if (stage.instrs[i]->ops[k].chunk == target && (i > life.first || !in_place)) return;
  if (!maker.kernel->any_order && copy.strides(1)[copy.ndim - 1] != life.size) return;
  life.copied_by = m;
}

void Planner::choose_tiles(Plan& p, const Form& form, npy_intp rows, npy_intp per_element) {
  const int64_t bytes = p.fetches_ahead ? policy.ahead_bytes
                       : from_memory_ ? policy.stream_bytes
                                  : policy.tile_bytes;
  const int64_t least = p.fetches_ahead ? std::min(policy.least, policy.ahead_least) : policy.least;
  const npy_intp want = std::min<npy_intp>(policy.most, std::max<npy_intp>(least, bytes / per_element));
  const Axes& axes = p.axes;
  if (form.open == Form::TREE) {
    p.cut = axes.n - 1;
    p.complex_tree = form.tree == Kernel::Split::PAIRWISE_COMPLEX;
    // No less than what NumPy's sum never cuts; no more pieces than a list may name that is made before anyone
    // knows whether there is memory.
    p.length = std::max({want, kLeaf, axes.shape[p.cut] >> 20});
    pairwise_leaves(0, axes.shape[p.cut], p.length, p.complex_tree, p.leaves);
    p.pieces = static_cast<npy_intp>(p.leaves.size());
    p.leaves.push_back(axes.shape[p.cut]);
  } else {
    // The first axis within which a tile holds at least one whole of the rest; where rows must
    // be whole, not beyond them.
    p.cut = panels_ > 1 ? 1 : 0;
    npy_intp inner = axes.size() / axes.shape[0];
    if (p.cut) inner /= axes.shape[1];
    const int limit = rows ? std::max(1, axes.level(rows)) - 1 : axes.n - 1;
    while (p.cut < limit && inner > want) inner /= axes.shape[++p.cut];
    const npy_intp whole = axes.shape[p.cut];
    p.length = std::min(whole, std::max<npy_intp>(1, want / inner));
    p.pieces = (whole + p.length - 1) / p.length;
    p.length = (whole + p.pieces - 1) / p.pieces;  // all about alike
    if (inner == 1) p.length = std::min(whole, (p.length + 15) / 16 * 16);
    // So many rows are added up at a time (see Pass::columns).
    else if (form.open == Form::COLUMNS && p.length < whole && inner * kRowsAtOnce <= 2 * policy.most)
      p.length = std::min(whole, (p.length + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce);
    // Rows of transposed copies are read by cache lines.
    else if (turns_ && p.length < whole && inner * kLineOfRows <= 2 * policy.most)
      p.length = std::min(whole, (p.length + kLineOfRows - 1) / kLineOfRows * kLineOfRows);
    p.pieces = (whole + p.length - 1) / p.length;
  }
  p.tiles = p.pieces;
  for (int a = 0; a < p.cut; ++a) p.tiles *= axes.shape[a];
}

void Planner::place_scratch(Plan& p) {
  struct Slot {
    size_t offset, bytes;
    int busy_until;
  };
  std::vector<Slot> slots;
  for (Life& l : lives_) {  // in the order in which they begin
    if (l.copied_by >= 0) continue;
    const size_t bytes = p.scratch_bytes(l.level, l.size);
    Slot* best = nullptr;
    for (Slot& s : slots)
      if (s.busy_until < l.first && s.bytes == bytes) best = &s;
    if (!best) {
      slots.push_back({p.scratch, bytes, 0});
      p.scratch += bytes;
      best = &slots.back();
    }
    best->busy_until = l.last;
    l.offset = best->offset;
  }
  p.temporaries = static_cast<int>(lives_.size());
}

Member Planner::member(Plan& p, const Stage& stage, Expander& expander, size_t number, int level) {
  const Form& form = stage.form;
  Instr& in = *stage.instrs[number];
  Member m(in.nop);
  MemberSteps& mine = steps_[p.chained ? number : 0];
  mine = {};
  if (in.in_line()) {
    m.role = Member::LINE;
    for (int k = 0; k < in.nop; ++k) {
      Chunk* const c = in.ops[k].chunk;
      note_walk(mine, stage, number, k, k);
      m.where[k] = is_temporary(c) ? static_cast<int>(lives_[life_of_[id(c)]].offset) : Member::kMemory;
      if (k < in.nin) m.expanded[k] = static_cast<int8_t>(expander.turned(c));  // indices
    }
    if (in.kernel->kind == Kernel::ROLL && !p.walk.n && is_temporary(in.ops[1].chunk)) {
      spread(form.axes, form.axes.n, in.ndim, in.shape(), in.strides(0), mine.of[0] + p.axes.n - form.axes.n);
      expander.put_off(static_cast<int>(number), m);
    }
    return m;
  }
  if (p.walk.n) return on_line(p, stage, expander, number);
  npy_intp(&steps)[kPassOps][kAxes] = mine.of;
  // The axis of length one in front (see build) belongs to nobody.
  const int shift = p.axes.n - form.axes.n;
  for (int k = 0; k < in.nop; ++k) {
    Chunk* c = in.ops[k].chunk;
    m.where[k] = c ? Member::kMemory : Member::kConstant;
    note_walk(mine, stage, number, k, k);
    if (c) spread(form.axes, std::max(0, level - shift), in.ndim, in.shape(), in.strides(k), steps[k] + shift);
    if (c && panels_ > 1) steps[k][0] = steps[k][panel_axis_] * p.axes.shape[panel_axis_];
    // An axis of length one may step anyhow; loops tell a step of zero (a scalar) from others.
    if (c && level == 1 && shift) steps[k][0] = in.strides(k)[in.ndim - 1];
    if (c && is_temporary(c) && lives_[life_of_[id(c)]].copied_by >= 0) {
      Instr& copy = *stage.instrs[lives_[life_of_[id(c)]].copied_by];
      m.where[k] = Member::kCopyTarget;
      if (k < in.nin) m.role = Member::NOTHING;  // it is that copy
      else m.copied_by[k] = lives_[life_of_[id(c)]].copied_by;
      note_walk(mine, stage, lives_[life_of_[id(c)]].copied_by, 1, k);
      spread(form.axes, std::max(0, level - shift), copy.ndim, copy.shape(), copy.strides(1), steps[k] + shift);
      if (panels_ > 1) steps[k][0] = steps[k][panel_axis_] * p.axes.shape[panel_axis_];
    } else if (c && is_temporary(c)) {
      const Life& l = lives_[life_of_[id(c)]];
      m.where[k] = static_cast<int>(l.offset);
      m.expanded[k] = static_cast<int8_t>(k < in.nin ? expander.turned(c) : -1);
      p.scratch_steps(l.level, l.size, steps[k]);
    }
    if (m.where[k] == Member::kMemory || m.where[k] == Member::kCopyTarget)
      std::copy(steps[k], steps[k] + p.cut + 1, m.outer[k]);
  }
  if (in.kernel->kind != Kernel::REDUCE) {
    mine.level = level;
    if (expander.expand(static_cast<int>(number), m, mine)) return m;
    m.nest.set(p.axes, p.cut, level, in.nop, steps);
    if (in.kernel->any_order) m.nest.lengthen(in.nop, p.length, kShortRow);
    return m;
  }
  const npy_intp last = in.last();
  const int end = std::max(form.axes.level(form.size / last) + shift, shift);  // of the rows' axes
  if (!in.reduces_last()) {
    m.role = Member::COLUMNS;
    m.rows_begin = panels_ > 1 ? 1 : 0;
    m.rows_end = end;
    m.cuts_kept = p.cut >= end;
    if (!m.cuts_kept) m.nest.set(p.axes, p.cut, end, in.nop, steps);
    for (int a = std::max(end, p.cut + 1); a < p.axes.n; ++a) m.kept *= p.axes.shape[a];
    for (int k = 0; k < 2; ++k) m.kept_steps[k] = steps[k][p.axes.n - 1];
    if (in.kernel->code && !m.cuts_kept && m.where[1] == Member::kMemory &&
        m.kept_steps[1] == info(in.kernel->dtypes[1]).size && p.axes.shape[p.axes.n - 1] >= kFewColumns) {
      mine.level = level;
      mine.sums = Sums::COLUMNS;
    }
  } else if (form.opens(in)) {
    m.role = Member::TREE;
    m.partial = p.partials++;
    m.run_step = steps[0][p.axes.n - 1];
    if (in.kernel->code && m.where[1] == Member::kMemory) {
      mine.level = level;
      mine.sums = Sums::PIECES;
    }
  } else {
    m.role = Member::ROWS;
    m.nest.set(p.axes, p.cut, end, in.nop, steps);
    m.run = last;
    m.run_step = steps[0][p.axes.n - 1];
    if (in.kernel->code && end == level - 1 && end > p.cut) {
      mine.level = level;
      mine.sums = Sums::ROWS;
    }
    if (in.kernel->split == Kernel::Split::PAIRWISE && m.run_step == info(in.kernel->dtypes[0]).size)
      m.sum = row_sum_of(in.kernel->dtypes[0]);
  }
  return m;
}

void Planner::note_walk(MemberSteps& to, const Stage& stage, size_t number, int op, int k) {
  Chunk* c = stage.instrs[number]->ops[op].chunk;
  to.chunk[k] = c ? static_cast<int>(id(c)) : -1;
  to.walk[k] = to.origin[k] = walk_of_[number][op];
}

Member Planner::on_line(Plan& p, const Stage& stage, Expander& expander, size_t number) {
  Instr& in = *stage.instrs[number];
  const Axes& axes = p.walk;
  const int inner = axes.n - 1;
  Member m(in.nop);
  bool even = true;
  MemberSteps& mine = steps_[p.chained ? number : 0];
  mine = {};
  npy_intp(&steps)[kPassOps][kAxes] = mine.of;
  for (int k = 0; k < in.nop; ++k) {
    Chunk* c = in.ops[k].chunk;
    m.where[k] = c ? Member::kMemory : Member::kConstant;
    note_walk(mine, stage, number, k, k);
    if (!c) continue;
    Instr* from = &in;
    int op = k;
    if (is_temporary(c)) {
      const Life& l = lives_[life_of_[id(c)]];
      m.where[k] = static_cast<int>(l.offset);
      steps[k][inner] = l.size;
      if (l.copied_by < 0) continue;
      m.where[k] = Member::kCopyTarget;
      if (k < in.nin) m.role = Member::NOTHING;
      else m.copied_by[k] = l.copied_by;
      from = stage.instrs[l.copied_by];
      op = 1;
      note_walk(mine, stage, l.copied_by, op, k);  // who reads that memory next reads what is written there
    }
    spread(axes, axes.n, from->ndim, from->shape(), from->strides(op), steps[k]);
    if (in.kernel->kind == Kernel::REDUCE && k >= in.nin) continue;  // its only element
    even &= p.even(steps[k]);
  }
  if (in.kernel->kind == Kernel::REDUCE) {
    m.role = Member::TREE;
    m.partial = p.partials++;
    m.run_step = steps[0][inner];
  } else {
    mine.level = 1;
    if (m.role == Member::MAP && !even && !expander.expand_line(static_cast<int>(number), m, mine)) m.role = Member::WALK;
  }
  m.nest.n = 1;
  m.nest.shape[0] = 1;
  for (int k = 0; k < in.nop; ++k) {
    const bool memory = m.where[k] == Member::kMemory || m.where[k] == Member::kCopyTarget;
    m.nest.strides[k][0] = m.expanded[k] < 0 ? steps[k][inner] : info(in.kernel->dtypes[k]).size;
    if (memory && m.role == Member::WALK) std::copy(steps[k], steps[k] + axes.n, m.walk[k]);
    else if (memory && m.role != Member::TREE) m.outer[k][0] = steps[k][inner];
    else if (memory && k == 0) m.outer[k][0] = steps[k][inner];
  }
  return m;
}

}  // namespace lazyarray
