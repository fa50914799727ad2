// Pass: the chains of a plan that are compiled loops.
#include "lazy/cpu/pass.h"

namespace lazyarray {

static int heard(const Instr& in) {
  if (!in.kernel->checks_flags) return 0;
  const ErrState& e = in.errstate;
  return (e.divide ? kDivide : 0) | (e.over ? kOver : 0) | (e.under ? kUnder : 0) | (e.invalid ? kInvalid : 0);
}

const Chunk* Pass::chunk_at(const Place& p) const {
  const Member& m = plan_.members[p.member];
  if (plan_.where(p) == Member::kMemory) return instrs_[p.member]->ops[p.op].chunk;
  return m.copied_by[p.op] >= 0 ? instrs_[m.copied_by[p.op]]->ops[1].chunk : nullptr;
}

// In a program, what ends and what begins may have the same memory (MemoryPlan): chunks that the plan takes for two.
bool Pass::overwrites(const Chain& chain) const {
  for (int i = 0; i < chain.operands; ++i) {
    const Chunk* const to = chain.places[i].written ? chunk_at(chain.places[i]) : nullptr;
    if (!to || !to->owner) continue;
    for (int k = 0; k < chain.operands; ++k) {
      const Chunk* const from = chain.places[k].written ? nullptr : chunk_at(chain.places[k]);
      if (from && from != to && from->data < to->data + to->nbytes && to->data < from->data + from->nbytes) return true;
    }
  }
  return false;
}

void Pass::prepare_chains() {
  chains_ = std::vector<ChainRun>(plan_.chains.size());
  for (size_t i = 0; i < chains_.size(); ++i) {
    chains_[i].runs = !overwrites(plan_.chains[i]);
    for (int m = plan_.chains[i].begin; m < plan_.chains[i].end; ++m) {
      if (plan_.members[m].role == Member::NOTHING) continue;
      chains_[i].runs &= runs_[m] != 0;
      chains_[i].heard |= heard(*instrs_[m]);
    }
    note_turned(plan_.chains[i], chains_[i]);
  }
}

void Pass::note_turned(const Chain& chain, ChainRun& run) const {
  for (int k = 0; k < chain.operands; ++k) {
    const Place& p = chain.places[k];
    if (p.turn < 0) continue;
    const Turn& turn = plan_.turns[p.turn];
    Instr& in = *instrs_[turn.member];
    for (int i = 0; i < in.ndim; ++i) {
      const int a = turn.axis[i];
      if (a < 0) continue;
      const npy_intp by = in.core[i] / turn.unit[i], step = in.strides(0)[i] * turn.unit[i];
      run.turned.push_back({k, a, by, (plan_.axes.shape[a] - by) * step, -by * step});
    }
  }
  const auto inner = std::stable_partition(run.turned.begin(), run.turned.end(), [&](const Turned& t) { return t.axis < plan_.cut; });
  run.outer = static_cast<size_t>(inner - run.turned.begin());
}

uint64_t Pass::locate(size_t number, const Pointers* begin, Spot& spot, char** ptrs) {
  static_assert(kPlaces <= 64, "a bit each");
  const Chain& chain = plan_.chains[number];
  uint64_t in_row = 0;
  for (size_t i = 0; i < chain.places.size(); ++i) {
    const Place& p = chain.places[i];
    if (p.sum && chain.sums == Sums::PIECES) {
      ptrs[i] = partial(plan_.members[p.member], spot.tile);
      continue;
    }
    if (!p.in_place) expand(p.member, p.op, spot);
    ptrs[i] = p.in_place ? origin(p.member, p.op, spot) : begin[p.member].p[p.op];
    if (plan_.where(p) >= 0) in_row |= uint64_t{1} << i;
    if (chain.line) continue;
    for (int a = 0; a <= plan_.cut; ++a) ptrs[i] += spot.index[a] * p.outer[a];
  }
  const ChainRun& run = chains_[number];
  for (size_t i = 0; i < run.outer; ++i) ptrs[run.turned[i].place] += run.turned[i].at(spot.index[run.turned[i].axis]);
  return in_row;
}

template <class F>
void Pass::stretches(const Chain& chain, const Spot& spot, char* const* ptrs, uint64_t in_row,
                     npy_intp const (*steps)[kAxes], F f) const {
  npy_intp counts[kAxes];
  if (!chain.line) {
    for (int a = 0; a < chain.nest.n; ++a) counts[a] = chain.nest.count(a, spot.length);
    f(ptrs, counts, 0);
    return;
  }
  const Axes& axes = plan_.walk;
  const int inner = axes.n - 1;
  npy_intp index[kAxes];
  axes.index_of(spot.index[0], index);
  char* at[kPlaces];
  for (npy_intp done = 0; done < spot.length;) {
    counts[1] = std::min(axes.shape[inner] - index[inner], spot.length - done);
    counts[0] = counts[1] < axes.shape[inner] ? 1 : std::min(axes.shape[inner - 1] - index[inner - 1], (spot.length - done) / counts[1]);
    for (size_t k = 0; k < chain.places.size(); ++k) {
      at[k] = ptrs[k];
      if (in_row >> k & 1) at[k] += done * steps[k][1];
      else
        for (int a = 0; a < axes.n; ++a) at[k] += index[a] * chain.places[k].outer[a];
    }
    f(at, counts, done);
    done += counts[0] * counts[1];
    axes.next_row(index, counts[0]);  // or nothing is left
  }
}

template <class F>
void Pass::pieces(size_t number, const Spot& spot, npy_intp begin, npy_intp length, char* const* ptrs,
                  npy_intp const (*steps)[kAxes], F f) const {
  const NestOf<kPlaces>& nest = plan_.chains[number].nest;
  const int operands = plan_.chains[number].operands;
  const ChainRun& run = chains_[number];
  npy_intp counts[kAxes];
  auto loop = [&](auto& self, int i, char* const* at) -> void {
    if (i == nest.n) return f(at, counts);
    const int axis = nest.axis[i];
    const bool cut = axis == plan_.cut;
    const npy_intp first = cut ? begin : 0, last = first + (cut ? length : plan_.axes.shape[axis]);
    const npy_intp index = cut ? spot.index[axis] : 0;  // where these begin
    char* here[kPlaces];
    for (npy_intp from = first, to; from < last; from = to) {
      to = last;
      for (size_t t = run.outer; t < run.turned.size(); ++t) {
        const npy_intp anew = run.turned[t].by - index;
        if (run.turned[t].axis == axis && anew > from) to = std::min(to, anew);
      }
      for (int k = 0; k < operands; ++k) here[k] = at[k] + from * nest.each[i] * steps[k][i];
      for (size_t t = run.outer; t < run.turned.size(); ++t)
        if (run.turned[t].axis == axis) here[run.turned[t].place] += run.turned[t].at(index + from);
      counts[i] = (to - from) * nest.each[i];
      self(self, i + 1, here);
    }
  };
  loop(loop, 0, ptrs);
}

// Calls body(loop of `each`) for two of a chain's operands.
static Block both(const Chain& chain, const npy_intp* counts, char* a, const npy_intp* a_steps, char* b,
                  const npy_intp* b_steps) {
  Block block;
  block.ndim = chain.nest.n;
  block.nop = 2;
  block.shape = counts;
  block.strides[0] = a_steps;
  block.strides[1] = b_steps;
  block.ptrs[0] = a;
  block.ptrs[1] = b;
  return block;
}

// By hand, as loops of NumPy's clear the flags that are up.
template <class T>
static void add_to(char* to, const char* from) {
  T a, b;
  std::memcpy(&a, to, sizeof a);
  std::memcpy(&b, from, sizeof b);
  a += b;
  std::memcpy(to, &a, sizeof a);
}

void Pass::add_up(const Chain& chain, CompiledLoop::Function loop, char* const* at, npy_intp length, npy_intp parts,
                  Ahead& ahead) const {
  if (parts < 2 || length <= kLeaf) {
    const npy_intp counts[2] = {1, length};
    ahead.fetch();
    return loop(at, counts, chain.nest.strides[0]);
  }
  const npy_intp half = pairwise_half(length, false);
  char* rest[kPlaces];
  alignas(8) char sums[kPlaces][8];
  for (int k = 0; k < chain.operands; ++k)
    rest[k] = chain.places[k].sum ? sums[k] : at[k] + half * chain.nest.strides[k][1];
  add_up(chain, loop, at, half, parts / 2, ahead);
  add_up(chain, loop, rest, length - half, parts - parts / 2, ahead);
  for (int k = 0; k < chain.operands; ++k) {
    const Place& p = chain.places[k];
    if (!p.sum) continue;
    const Kernel& kernel = *instrs_[p.member]->kernel;
    switch (kernel.dtypes[1]) {
      case f4: add_to<float>(at[k], sums[k]); break;
      case f8: add_to<double>(at[k], sums[k]); break;
      default: add(kernel, at[k], sums[k], at[k]); break;
    }
  }
}

void Pass::begin_columns(const Place& p, const Spot& spot, char* to) const {
  const Member& member = plan_.members[p.member];
  if (has_first_rows(member, spot.index))
    start_results(*instrs_[p.member]->kernel, nullptr, 0, to, member.kept_steps[1], member.kept);
}

size_t Pass::columns_bytes(const Place& p) const {
  const Member& member = plan_.members[p.member];
  return static_cast<size_t>(member.kept * member.kept_steps[1]);
}

bool Pass::compiled(size_t number, const Pointers* begin, Spot& spot, Ahead& ahead) {
  const Chain& chain = plan_.chains[number];
  const ChainRun& run = chains_[number];
  if (!run.runs) return false;
  const CompiledLoop::Function loop = chain.loop->function();
  if (!loop) return false;
  char* ptrs[kPlaces];
  uint64_t in_row = locate(number, begin, spot, ptrs);
  for (int i = 0; i < chain.operands; ++i) {
    const Place& p = chain.places[i];
    if (p.kept < 0) continue;
    ptrs[i] = spot.scratch + p.kept;
    in_row |= uint64_t{1} << i;
    if (p.sum && chain.sums == Sums::COLUMNS) {
      begin_columns(p, spot, ptrs[p.target]);
      std::memcpy(ptrs[i], ptrs[p.target], columns_bytes(p));
    }
  }
  // In as many parts as there would be instructions: between them the next tile comes.
  npy_intp parts = plan_.fetches_ahead ? chain.end - chain.begin : 1;
  if (chain.sums == Sums::PIECES) {
    add_up(chain, loop, ptrs, spot.length, parts, ahead);
  } else if (chain.line) {
    stretches(chain, spot, ptrs, in_row, chain.nest.strides, [&](char* const* at, const npy_intp* counts, npy_intp) {
      if (parts-- > 0) ahead.fetch();
      loop(at, counts, chain.nest.strides[0]);
    });
    while (parts-- > 0) ahead.fetch();
  } else if (!run.turned.empty()) {
    parts = std::min(parts, spot.length);
    for (npy_intp i = 0; i < parts; ++i) {
      const npy_intp from = spot.length * i / parts, to = spot.length * (i + 1) / parts;
      if (plan_.fetches_ahead) ahead.fetch();
      pieces(number, spot, from, to - from, ptrs, chain.nest.strides,
             [&](char* const* at, const npy_intp* few) { loop(at, few, chain.nest.strides[0]); });
    }
  } else {
    const int cut = chain.nest.cut;
    char* at[kPlaces];
    npy_intp few[kAxes];
    for (int a = 0; a < chain.nest.n; ++a) few[a] = chain.nest.count(a, spot.length);
    const npy_intp all = few[cut];
    parts = std::min(parts, all);
    for (npy_intp i = 0; i < parts; ++i) {
      const npy_intp from = all * i / parts;
      few[cut] = all * (i + 1) / parts - from;
      for (int k = 0; k < chain.operands; ++k) at[k] = ptrs[k] + from * chain.nest.strides[k][cut];
      if (plan_.fetches_ahead) ahead.fetch();
      loop(at, few, chain.nest.strides[0]);
    }
  }
  const bool in_vain = take_flags(false) & run.heard;
  chain.loop->done(in_vain);
  if (in_vain) {
    // What was turned for others may be gone: the loop, which did without, had its place.
    for (size_t i = 0; i < plan_.expansions.size(); ++i)
      if (plan_.expansions[i].turn >= 0) spot.written_out &= ~(uint64_t{1} << i);
    return false;
  }
  for (int i = 0; i < chain.operands; ++i) {
    const Place& p = chain.places[i];
    if (p.kept < 0) continue;
    if (p.sum && chain.sums == Sums::COLUMNS) {
      std::memcpy(ptrs[p.target], ptrs[i], columns_bytes(p));
      continue;
    }
    const int dtype = info(instrs_[p.member]->kernel->dtypes[p.op]).type_num;
    const Loop copy = cast_loop(dtype, dtype);
    const int inner = chain.nest.n - 1;
    const npy_intp steps[2] = {chain.nest.strides[i][inner], chain.nest.strides[p.target][inner]};
    stretches(chain, spot, ptrs, in_row, chain.nest.strides, [&](char* const* places, const npy_intp* counts, npy_intp) {
      const npy_intp length = p.sum ? 1 : counts[inner];  // a row has one
      const Block block = both(chain, counts, places[i], chain.nest.strides[i], places[p.target], chain.nest.strides[p.target]);
      each(block, inner, [&](char* const* at, const npy_intp*) {
        char* args[2] = {at[0], at[1]};
        copy(args, &length, steps, nullptr);
      });
    });
  }
  return true;
}

// The same bits; which NaN it is doesn't count, if both operands were NaNs nobody says which one is handed on.
static bool same_element(const char* a, const char* b, const DtypeInfo& d) {
  if (std::memcmp(a, b, d.size) == 0) return true;
  auto both_nan = [&](auto x) {
    auto y = x;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    return x != x && y != y;
  };
  return d.kind == 'f' && (d.size == 8 ? both_nan(0.0) : d.size == 4 && both_nan(0.0f));
}

bool Pass::tried(size_t number, const Pointers* begin, Spot& spot, int* flags) {
  const Chain& chain = plan_.chains[number];
  if (!chains_[number].runs || chain.loop->state() != CompiledLoop::COMPILED) return false;
  char* ptrs[kPlaces];
  npy_intp counts[kAxes], elements = 1, steps[kPlaces][kAxes];
  uint64_t in_row = locate(number, begin, spot, ptrs);
  for (int a = 0; a < chain.nest.n; ++a) {
    counts[a] = chain.line ? plan_.walk.shape[plan_.walk.n - 2 + a] : chain.nest.count(a, spot.length);
    elements *= counts[a];
  }
  if (chain.line) elements = spot.length;
  std::vector<std::unique_ptr<char[]>> results(chain.operands);
  for (int i = 0; i < chain.operands; ++i) {
    std::copy(chain.nest.strides[i], chain.nest.strides[i] + kAxes, steps[i]);
    const Place& p = chain.places[i];
    if (!p.written) continue;
    npy_intp step = info(instrs_[p.member]->kernel->dtypes[p.op]).size;
    results[i].reset(new char[static_cast<size_t>(step * elements)]);
    char* const to = std::exchange(ptrs[i], results[i].get());
    in_row |= uint64_t{1} << i;
    if (p.sum && chain.sums == Sums::COLUMNS) {
      begin_columns(p, spot, to);
      std::memcpy(ptrs[i], to, columns_bytes(p));
      continue;
    }
    for (int a = chain.nest.n - 1; a >= 0; --a) {
      const bool inside = p.sum && a == chain.nest.n - 1;  // one for the row
      steps[i][a] = inside ? 0 : step;
      if (!inside) step *= counts[a];
    }
  }
  const CompiledLoop::Function loop = chain.loop->on_trial();
  if (!loop) return false;  // another thread is at it
  if (!chains_[number].turned.empty())
    pieces(number, spot, 0, spot.length, ptrs, steps, [&](char* const* at, const npy_intp* few) { loop(at, few, steps[0]); });
  else
    stretches(chain, spot, ptrs, in_row, steps,
              [&](char* const* at, const npy_intp* few, npy_intp) { loop(at, few, steps[0]); });
  const int raised = take_flags(false);
  // What it raises makes NumPy's loops run again, which tell; so it may raise more than they, not less.
  bool same = true;
  for (int m = chain.begin; m < chain.end; ++m) {
    if (plan_.members[m].role == Member::NOTHING) continue;
    const int before = flags[m];
    step(m, begin, spot, flags);
    same &= !(flags[m] & ~before & heard(*instrs_[m]) & ~raised);
  }
  char* found[kPlaces];
  in_row = locate(number, begin, spot, found);
  stretches(chain, spot, found, in_row, chain.nest.strides, [&](char* const* at, const npy_intp* few, npy_intp done) {
    for (int i = 0; i < chain.operands; ++i) {
      const Place& p = chain.places[i];
      if (!p.written) continue;
      const DtypeInfo& d = info(instrs_[p.member]->kernel->dtypes[p.op]);
      const int to = p.target < 0 ? i : p.target;
      char* const result = results[i].get() + done * d.size;
      each(both(chain, few, result, steps[i], at[to], chain.nest.strides[to]), chain.nest.n,
           [&](char* const* two, const npy_intp*) { same &= same_element(two[0], two[1], d); });
    }
  });
  chain.loop->judge(same);
  return true;
}

}  // namespace lazyarray
