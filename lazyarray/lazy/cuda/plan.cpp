// GpuPlan: which kernels run a fused stage (or one instruction) on a GPU, and what each is told.
#include "lazy/cuda/plan.h"

#include <algorithm>

namespace lazyarray::cuda {

void Launch::shape_grid() {
  if (reductions == 0) {
    grid_x = (n_kept + kThreads * kUnroll - 1) / (kThreads * kUnroll);
    return;
  }
  npy_intp results;  // of a block
  npy_intp team;     // threads for one of them
  if (elements) {
    team = 1;
    while (team * elements < n_reduced) team *= 2;
    block_x = static_cast<unsigned>(team);
    block_y = static_cast<unsigned>(kThreads / team);
    grid_x = (n_kept + block_y - 1) / block_y;
    return;
  }
  if (lanes_kept) {
    block_x = 32;
    block_y = 8;
    results = 32;
    team = 8;
  } else {
    team = 1;
    while (team < kThreads && team < n_reduced) team *= 2;
    block_x = static_cast<unsigned>(team);
    block_y = static_cast<unsigned>(kThreads / team);
    results = kThreads / team;
  }
  grid_x = (n_kept + results - 1) / results;
  const npy_intp useful = n_reduced / (team * kLeastRun), wanted = (kBlocks + grid_x - 1) / grid_x;
  splits = std::max<npy_intp>(1, std::min(useful, wanted));
  // Whole runs for all but the last.
  const npy_intp run = (n_reduced + splits - 1) / splits;
  splits = run ? (n_reduced + run - 1) / run : 1;
  words[2] = run;
}

Functions Launch::functions(int gpu) const {
  std::lock_guard<std::mutex> g(mu_);
  auto found = functions_.find(gpu);
  return found == functions_.end() ? Functions() : found->second;
}

void Launch::set_functions(int gpu, Functions f) const {
  std::lock_guard<std::mutex> g(mu_);
  functions_[gpu] = f;
}

std::shared_ptr<const GpuPlan> GpuPlanner::plan(Instr* const* instrs, size_t n, const Axes* axes) {
  std::lock_guard<std::mutex> g(mu_);
  describe(instrs, n, axes != nullptr);
  if (auto known = plans_.find(key_)) return known;
  auto fresh = std::make_shared<GpuPlan>();
  Builder(*fresh, instrs, n, axes, ids_).build();
  plans_.add(key_, fresh, fresh->launches.size());
  return fresh;
}

void GpuPlanner::describe(Instr* const* instrs, size_t n, bool fused) {
  key_.clear();
  ids_.clear();
  std::vector<npy_intp> first;
  auto push = [&](npy_intp w) { key_.push_back(static_cast<uint64_t>(w)); };
  push(fused);
  for (size_t m = 0; m < n; ++m) {
    Instr& in = *instrs[m];
    push(reinterpret_cast<intptr_t>(in.kernel));
    push(in.nop | in.ndim << 8 | static_cast<npy_intp>(in.reduced) << 32);
    for (int a = 0; a < in.ndim; ++a) push(in.shape()[a]);
    for (int k = 0; k < in.nop; ++k) {
      const Chunk* c = in.ops[k].chunk;
      if (!c) {
        push(-1);
        continue;
      }
      auto [at, fresh] = ids_.try_emplace(c, static_cast<int>(ids_.size()));
      if (fresh) first.push_back(in.ops[k].offset);
      push(at->second << 1 | (fused && is_temporary(c)));
      push(in.ops[k].offset - first[at->second]);
      for (int a = 0; a < in.ndim; ++a) push(in.strides(k)[a]);
    }
  }
}

GpuPlanner::Builder::Builder(GpuPlan& plan, Instr* const* instrs, size_t n, const Axes* axes, const Ids& ids)
    : plan_(plan), instrs_(instrs), n_(n), ids_(ids), fused_(axes != nullptr) {
  if (axes) axes_.assign(axes->shape, axes->shape + axes->n);
  else axes_.assign(instrs[0]->shape(), instrs[0]->shape() + instrs[0]->ndim);
  if (axes) shared_ = *axes;
}

void GpuPlanner::Builder::build() {
  plan_.memory.resize(n_);
  last_.resize(ids_.size());
  for (size_t m = 0; m < n_; ++m)
    for (int k = 0; k < instrs_[m]->nop; ++k)
      if (const Chunk* c = instrs_[m]->ops[k].chunk) last_[ids_.at(c)] = m;
  for (size_t m = 0; m < n_; ++m) {
    place(m);
    if (!plan_.possible) return;
  }
  if (fused_) join_rows();
  find_memory();
  for (const Group& g : groups_) {
    plan_.launches.push_back(std::make_unique<Launch>());
    write(g, *plan_.launches.back());
    if (!plan_.possible) return;
  }
}

int GpuPlanner::Builder::level_of(Instr& in) const {
  if (!fused_) return in.ndim;
  const npy_intp size = in.size();
  return size == shared_.size() ? shared_.n : shared_.level(size);
}

Steps GpuPlanner::Builder::steps_of(Instr& in, int k, int level) const {
  Steps out(level);
  if (!fused_) std::copy(in.strides(k), in.strides(k) + level, out.begin());
  else if (level) spread(shared_, level, in.ndim, in.shape(), in.strides(k), out.data());
  return out;
}

std::vector<bool> GpuPlanner::Builder::reduced_of(Instr& in, int level) const {
  std::vector<bool> out(level);
  int j = in.ndim - 1;
  npy_intp left = 1;
  bool now = false;
  for (int a = level - 1; a >= 0; --a) {
    while (left == 1 && j >= 0) {
      left = in.shape()[j];
      now = in.reduced >> j & 1;
      --j;
      if (!fused_) break;
    }
    out[a] = now;
    if (fused_) left /= axes_[a];
    else left = 1;
  }
  return out;
}

GpuPlanner::Builder::View GpuPlanner::Builder::view_of(Instr& in, int k, int level) const {
  return {ids_.at(in.ops[k].chunk), in.ops[k].offset, in.kernel->dtypes[k], steps_of(in, k, level)};
}

size_t GpuPlanner::Builder::place_of(const Group& g, Instr& in, int k, int level) const {
  const View wanted = view_of(in, k, level);
  const bool memory = !may_be_register(in, k);
  const auto found = std::find_if(g.views.begin(), g.views.end(), [&](const View& v) { return v.same(wanted, memory); });
  return found - g.views.begin();
}

void GpuPlanner::Builder::add(Group& g, size_t m, int level) const {
  Instr& in = *instrs_[m];
  g.members.push_back(m);
  for (int k = 0; k < in.nop; ++k) {
    if (!in.ops[k].chunk) {
      g.words += 2;
    } else if (place_of(g, in, k, level) == g.views.size()) {
      g.views.push_back(view_of(in, k, level));
      g.views.back().made = in.writes(k) && may_be_register(in, k);
      g.words += level + 1;
    }
  }
  for (int k = 0; k < in.nop; ++k) {
    const Chunk* c = in.ops[k].chunk;
    if (!c || last_[ids_.at(c)] != m) continue;
    const size_t at = place_of(g, in, k, level);
    if (at == g.views.size() || !g.views[at].made) continue;
    g.views.erase(g.views.begin() + at);
    g.words -= level + 1;
  }
}

bool GpuPlanner::Builder::fits(const Group& g, size_t m, int level, const std::vector<bool>& reduced) const {
  Instr& in = *instrs_[m];
  if (g.level != level || g.members.size() >= kMembers) return false;
  size_t words = g.words;
  for (int k = 0; k < in.nop; ++k) {
    if (!in.ops[k].chunk) words += 2;
    else if (place_of(g, in, k, level) == g.views.size()) words += level + 1;
  }
  if (words > kWords) return false;
  if (is_reduce(in) && !g.reduced.empty() && g.reduced != reduced) return false;
  for (int k = 0; k < in.nop; ++k) {
    const Chunk* c = in.ops[k].chunk;
    if (!c) continue;
    const bool result = is_reduce(in) && in.writes(k);
    for (size_t other : g.members) {
      Instr& o = *instrs_[other];
      for (int j = 0; j < o.nop; ++j) {
        if (o.ops[j].chunk != c) continue;
        // The result of a reduction is there when its kernel is over.
        if (result || (is_reduce(o) && o.writes(j))) return false;
        // One memory, two dtypes: not by way of registers.
        if ((in.writes(k) || o.writes(j)) && in.kernel->dtypes[k] != o.kernel->dtypes[j]) return false;
      }
    }
  }
  return true;
}

void GpuPlanner::Builder::place(size_t m) {
  Instr& in = *instrs_[m];
  const int level = level_of(in);
  if (level < 0) {
    plan_.possible = false;
    return;
  }
  std::vector<bool> reduced;
  if (is_reduce(in)) reduced = reduced_of(in, level);
  if (static_cast<size_t>(in.nop) * (level + 2) + level + 4 > kWords) {
    plan_.possible = false;
    return;
  }
  if (groups_.empty() || !fits(groups_.back(), m, level, reduced)) {
    groups_.emplace_back();
    groups_.back().level = level;
    groups_.back().words = 4 + level;
  }
  Group& g = groups_.back();
  add(g, m, level);
  if (is_reduce(in)) g.reduced = reduced;
}

bool GpuPlanner::Builder::joins(const Group& rows, int kept, const Group& g) const {
  const bool whole = g.level == rows.level && (g.reduced.empty() || g.reduced == rows.reduced);
  if (!whole && !(g.level == kept && g.reduced.empty())) return false;
  if (rows.members.size() + g.members.size() > kRowMembers || rows.words + g.words > kWords) return false;
  // What one of them writes, a thread has for the elements (or the row) of its own.
  for (size_t m : rows.members)
    for (size_t n : g.members) {
      Instr &a = *instrs_[m], &b = *instrs_[n];
      for (int j = 0; j < a.nop; ++j)
        for (int k = 0; k < b.nop; ++k)
          if (a.ops[j].chunk && a.ops[j].chunk == b.ops[k].chunk && (a.writes(j) || b.writes(k)) &&
              (a.kernel->dtypes[j] != b.kernel->dtypes[k] || !same_walk(span_of(a, j), span_of(b, k))))
            return false;
    }
  return true;
}

void GpuPlanner::Builder::join_rows() {
  std::vector<Group> joined;
  size_t next = 0;  // of groups_: those before are in `joined`
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (i < next || groups_[i].reduced.empty()) continue;
    Group rows = groups_[i];
    int kept = 0;
    while (kept < rows.level && !rows.reduced[kept]) ++kept;
    npy_intp length = 1;
    bool last = true;  // its axes are the last ones
    for (int a = kept; a < rows.level; ++a) {
      last = last && rows.reduced[a];
      length *= axes_[a];
    }
    if (!last || length < 2 || length > Launch::kRow) continue;
    size_t first = i, end = i + 1;
    auto add = [&](const Group& g, bool before) {
      if (!joins(rows, kept, g)) return false;
      rows.members.insert(before ? rows.members.begin() : rows.members.end(), g.members.begin(), g.members.end());
      rows.words += g.words;
      return true;
    };
    while (end < groups_.size() && add(groups_[end], false)) ++end;
    while (first > next && add(groups_[first - 1], true)) --first;
    if (end - first == 1) continue;
    rows.rows = true;
    joined.insert(joined.end(), groups_.begin() + next, groups_.begin() + first);
    joined.push_back(std::move(rows));
    next = end;
  }
  joined.insert(joined.end(), groups_.begin() + next, groups_.end());
  groups_ = std::move(joined);
}

void GpuPlanner::Builder::find_memory() {
  std::unordered_map<const Chunk*, int> only;  // the group that uses it, or -1
  for (size_t g = 0; g < groups_.size(); ++g)
    for (size_t m : groups_[g].members)
      for (int k = 0; k < instrs_[m]->nop; ++k) {
        const Chunk* c = instrs_[m]->ops[k].chunk;
        if (!c) continue;
        auto [at, fresh] = only.try_emplace(c, static_cast<int>(g));
        if (!fresh && at->second != static_cast<int>(g)) at->second = -1;
        if (is_reduce(*instrs_[m]) && instrs_[m]->writes(k) && !groups_[g].rows) at->second = -1;
      }
  for (size_t m = 0; m < n_; ++m)
    for (int k = 0; k < instrs_[m]->nop; ++k) {
      const Chunk* c = instrs_[m]->ops[k].chunk;
      plan_.memory[m][k] = c && !(fused_ && is_temporary(c) && only[c] >= 0);
      if (c && instrs_[m]->writes(k)) plan_.temporaries += !plan_.memory[m][k];
    }
}

void GpuPlanner::Builder::write(const Group& g, Launch& l) {
  std::vector<Seen> seen;
  int values = 0;
  auto find = [&](size_t m, int k) -> Seen& {
    Instr& in = *instrs_[m];
    View wanted = view_of(in, k, level_of(in));
    wanted.steps.resize(g.level);  // of a row's numbers: they don't step within it
    for (Seen& s : seen)
      if (s.same(wanted, plan_.memory[m][k])) return s;
    seen.push_back({std::move(wanted)});
    return seen.back();
  };
  auto operand = [&](size_t m, int k, const Steps& steps, bool result) {
    Operand o;
    o.member = static_cast<int>(m);
    o.op = k;
    o.dtype = instrs_[m]->kernel->dtypes[k];
    o.steps = steps;
    o.reduced_to = result;
    l.operands.push_back(std::move(o));
    return static_cast<int>(l.operands.size()) - 1;
  };
  for (size_t m : g.members) {
    Instr& in = *instrs_[m];
    Statement op;
    op.kernel = in.kernel;
    op.what = is_reduce(in) ? Statement::REDUCE : Statement::OP;
    int constant = 0;
    for (int k = 0; k < in.nin; ++k) {
      if (!in.ops[k].chunk) {
        l.constants.push_back({static_cast<int>(m), constant++, in.kernel->dtypes[k]});
        Statement s;
        s.what = Statement::CONST;
        s.operand = static_cast<int>(l.constants.size()) - 1;
        s.out = {values};
        l.body.push_back(s);
        op.in.push_back(values++);
        continue;
      }
      Seen& s = find(m, k);
      if (s.value < 0) {
        if (s.operand < 0) s.operand = operand(m, k, s.steps, false);
        Statement load;
        load.what = Statement::LOAD;
        load.operand = s.operand;
        load.out = {values};
        l.body.push_back(load);
        s.value = values++;
      }
      op.in.push_back(s.value);
    }
    if (is_reduce(in)) l.reductions++;
    if (is_reduce(in) && !g.rows) {
      op.operand = operand(m, 1, steps_of(in, 1, g.level), true);
      l.body.push_back(op);
      continue;
    }
    for (int k = in.nin; k < in.nop; ++k) op.out.push_back(values++);
    l.body.push_back(op);
    for (int k = in.nin; k < in.nop; ++k) {
      Seen& s = find(m, k);
      s.value = op.out[k - in.nin];
      if (!plan_.memory[m][k]) continue;
      if (s.operand < 0) s.operand = operand(m, k, s.steps, false);
      if (s.store >= 0) l.body[s.store].in.clear();  // overwritten before anybody else sees it
      Statement store;
      store.what = Statement::STORE;
      store.operand = s.operand;
      store.in = {s.value};
      s.store = static_cast<int>(l.body.size());
      l.body.push_back(store);
    }
  }
  l.body.erase(std::remove_if(l.body.begin(), l.body.end(), [](const Statement& s) {
    return s.what == Statement::STORE && s.in.empty();
  }), l.body.end());
  arrange(g, l);
}

void GpuPlanner::Builder::arrange(const Group& g, Launch& l) {
  std::vector<int> order;
  const bool reduces = !g.reduced.empty();
  for (int a = 0; a < g.level; ++a)
    if (axes_[a] != 1 && !(reduces && g.reduced[a])) order.push_back(a);
  const size_t kept = order.size();
  for (int a = 0; a < g.level; ++a)
    if (axes_[a] != 1 && reduces && g.reduced[a]) order.push_back(a);
  std::vector<npy_intp> shape;
  std::vector<Steps> steps(l.operands.size());
  size_t last_kept = 0;  // how many of the merged ones are kept
  for (size_t i = 0; i < order.size(); ++i) {
    const int a = order[i];
    bool merge = !shape.empty() && i != kept;
    for (size_t o = 0; merge && o < l.operands.size(); ++o)
      merge = steps[o].back() == l.operands[o].steps[a] * axes_[a];
    if (merge) {
      shape.back() *= axes_[a];
      for (size_t o = 0; o < l.operands.size(); ++o) steps[o].back() = l.operands[o].steps[a];
    } else {
      shape.push_back(axes_[a]);
      for (size_t o = 0; o < l.operands.size(); ++o) steps[o].push_back(l.operands[o].steps[a]);
    }
    if (i < kept) last_kept = shape.size();
  }
  l.kept = static_cast<int>(last_kept);
  l.reduced = static_cast<int>(shape.size() - last_kept);
  for (size_t i = 0; i < shape.size(); ++i) (i < last_kept ? l.n_kept : l.n_reduced) *= shape[i];
  // Axes of length zero were not merged away, so the counts are right.
  if (reduces && l.reduced == 0) {  // what is reduced has one element
    shape.push_back(1);
    for (Steps& s : steps) s.push_back(0);
    l.reduced = 1;
  }
  if (shape.empty() || l.kept == 0) {
    shape.insert(shape.begin(), 1);
    for (Steps& s : steps) s.insert(s.begin(), 0);
    l.kept = 1;
  }
  if (g.rows) {
    l.elements = l.n_reduced <= 32 ? 1 : l.n_reduced <= 64 ? 2 : 4;
    while (Launch::kThreads * l.elements < l.n_reduced) l.elements *= 2;
  }
  l.wide = static_cast<double>(l.n_kept) * static_cast<double>(l.n_reduced) > 2147000000.0;
  int along_kept = 0, along_reduced = 0;
  for (size_t o = 0; o < l.operands.size(); ++o) {
    Operand& op = l.operands[o];
    const npy_intp item = info(op.dtype).size;
    if (g.rows) {
      op.reduced_to = true;
      for (size_t i = l.kept; i < shape.size(); ++i) op.reduced_to = op.reduced_to && steps[o][i] == 0;
    }
    if (!op.reduced_to) {
      bool dense = true, one = true;
      npy_intp step = item;
      for (size_t i = shape.size(); i-- > 0;) {
        if (shape[i] == 1) continue;
        dense = dense && steps[o][i] == step;
        one = one && steps[o][i] == 0;
        step *= shape[i];
      }
      op.kind = one ? Operand::ONE : dense ? Operand::DENSE : Operand::STRIDED;
      const npy_intp k = std::abs(steps[o][l.kept - 1]), r = reduces ? std::abs(steps[o].back()) : 0;
      if (reduces && k != r) (k && (k < r || !r) ? along_kept : along_reduced)++;
    } else {
      steps[o].resize(l.kept);
    }
    op.steps = steps[o];
    npy_intp bytes = item;
    for (size_t i = 0; i < op.steps.size(); ++i)
      if (op.steps[i]) bytes *= shape[i];
    plan_.moved += bytes;
  }
  l.lanes_kept = reduces && l.n_kept > 1 && along_kept > along_reduced;
  // The argument: see source.py.
  l.words.push_back(l.n_kept);
  if (reduces) l.words.insert(l.words.end(), {l.n_reduced, l.n_reduced, 0});
  l.words.insert(l.words.end(), shape.begin(), shape.end());
  for (Operand& o : l.operands) {
    o.word = l.words.size();
    l.words.push_back(0);
    if (o.kind == Operand::STRIDED) l.words.insert(l.words.end(), o.steps.begin(), o.steps.end());
  }
  for (Constant& c : l.constants) {
    c.word = l.words.size();
    l.words.insert(l.words.end(), {0, 0});
  }
  if (l.words.size() > 500) plan_.possible = false;
  l.shape_grid();
}

}  // namespace lazyarray::cuda
