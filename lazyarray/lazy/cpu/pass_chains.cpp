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
  }
}

void Pass::locate(const Chain& chain, const Pointers* begin, Spot& spot, char** ptrs, npy_intp* counts) const {
  for (size_t i = 0; i < chain.places.size(); ++i) {
    const Place& p = chain.places[i];
    if (p.sum && chain.sums == Sums::PIECES) {
      ptrs[i] = partial(plan_.members[p.member], spot.tile);
      continue;
    }
    if (!p.in_place) expand(p.member, p.op, spot);
    ptrs[i] = p.in_place ? origin(p.member, p.op, spot) : begin[p.member].p[p.op];
    for (int a = 0; a <= plan_.cut; ++a) ptrs[i] += spot.index[a] * p.outer[a];
  }
  for (int a = 0; a < chain.nest.n; ++a) counts[a] = chain.nest.count(a, spot.length);
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
  npy_intp counts[kAxes];
  locate(chain, begin, spot, ptrs, counts);
  for (int i = 0; i < chain.operands; ++i) {
    const Place& p = chain.places[i];
    if (p.kept < 0) continue;
    ptrs[i] = spot.scratch + p.kept;
    if (p.sum && chain.sums == Sums::COLUMNS) {
      begin_columns(p, spot, ptrs[p.target]);
      std::memcpy(ptrs[i], ptrs[p.target], columns_bytes(p));
    }
  }
  if (chain.sums == Sums::PIECES) {
    add_up(chain, loop, ptrs, spot.length, plan_.fetches_ahead ? chain.end - chain.begin : 1, ahead);
  } else if (plan_.fetches_ahead) {
    // In as many parts as there would be instructions: between them the next tile comes.
    const int cut = chain.nest.cut;
    const npy_intp all = counts[cut], parts = std::min<npy_intp>(chain.end - chain.begin, all);
    char* at[kPlaces];
    npy_intp few[kAxes];
    std::copy(counts, counts + chain.nest.n, few);
    for (npy_intp i = 0; i < parts; ++i) {
      const npy_intp from = all * i / parts;
      few[cut] = all * (i + 1) / parts - from;
      for (int k = 0; k < chain.operands; ++k) at[k] = ptrs[k] + from * chain.nest.strides[k][cut];
      ahead.fetch();
      loop(at, few, chain.nest.strides[0]);
    }
  } else {
    loop(ptrs, counts, chain.nest.strides[0]);
  }
  const bool in_vain = take_flags(false) & run.heard;
  chain.loop->done(in_vain);
  if (in_vain) return false;
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
    const npy_intp length = p.sum ? 1 : counts[inner];  // a row has one
    each(both(chain, counts, ptrs[i], chain.nest.strides[i], ptrs[p.target], chain.nest.strides[p.target]), inner,
         [&](char* const* at, const npy_intp*) {
           char* args[2] = {at[0], at[1]};
           copy(args, &length, steps, nullptr);
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
  locate(chain, begin, spot, ptrs, counts);
  for (int a = 0; a < chain.nest.n; ++a) elements *= counts[a];
  std::vector<std::unique_ptr<char[]>> results(chain.operands);
  for (int i = 0; i < chain.operands; ++i) {
    std::copy(chain.nest.strides[i], chain.nest.strides[i] + kAxes, steps[i]);
    const Place& p = chain.places[i];
    if (!p.written) continue;
    npy_intp step = info(instrs_[p.member]->kernel->dtypes[p.op]).size;
    results[i].reset(new char[static_cast<size_t>(step * elements)]);
    char* const to = std::exchange(ptrs[i], results[i].get());
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
  loop(ptrs, counts, steps[0]);
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
  locate(chain, begin, spot, found, counts);
  for (int i = 0; i < chain.operands; ++i) {
    const Place& p = chain.places[i];
    if (!p.written) continue;
    const DtypeInfo& d = info(instrs_[p.member]->kernel->dtypes[p.op]);
    const npy_intp* to = chain.nest.strides[p.target < 0 ? i : p.target];
    each(both(chain, counts, ptrs[i], steps[i], found[i], to), chain.nest.n,
         [&](char* const* at, const npy_intp*) { same &= same_element(at[0], at[1], d); });
  }
  chain.loop->judge(same);
  return true;
}

}  // namespace lazyarray
