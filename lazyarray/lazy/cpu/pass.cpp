// Pass: runs a plan's instructions tile by tile, on as many threads as take part.
#include "lazy/cpu/pass.h"

#include "lazy/cpu/expand.h"
#include "lazy/cpu/roll.h"
#include "lazy/cpu/short_rows.h"

namespace lazyarray {

Scratch::Scratch(size_t bytes)
    : block_(mine()), own_(block_.busy) {
  if (own_) {
    data_ = allocate(bytes);
    return;
  }
  block_.busy = true;
  if (block_.size < bytes) {
    std::free(block_.data);
    block_.data = allocate(bytes);
    block_.size = block_.data ? bytes : 0;
  }
  data_ = block_.data;
}

Scratch::~Scratch() {
  if (own_) std::free(data_);
  else block_.busy = false;
}

Scratch::Block& Scratch::mine() {
  static thread_local Block block;
  return block;
}

Pass::Pass(Runtime& rt, const Plan& plan, Instr* const* instrs, const uint8_t* runs)
    : rt_(rt), plan_(plan), instrs_(instrs), runs_(runs), results_(plan.members.size()) {
  base_.resize(plan.members.size() * kPassOps);
  for (size_t m = 0; m < plan.members.size(); ++m) {
    if (!runs[m]) continue;
    Instr& in = *instrs[m];
    const Member& member = plan.members[m];
    int constant = 0;
    for (int k = 0; k < in.nop; ++k) {
      char*& base = base_[m * kPassOps + k];
      const bool copied = member.copied_by[k] >= 0;
      const Operand& o = copied ? instrs[member.copied_by[k]]->ops[1] : in.ops[k];
      if (!o.chunk) base = in.constants[constant++];
      else if (copied || plan.origin(member, k) == Member::kMemory) base = o.chunk->data + o.offset;
    }
  }
  if (!plan.chains.empty()) prepare_chains();
  if (plan.partials)
    partials_.reset(new char[static_cast<size_t>(plan.partials) * plan.tiles * kItem]);
}

Pass::Tile::Tile(const Nest& nest, int operands, npy_intp length, const Pointers& at) {
  ndim = nest.n;
  nop = operands;
  shape = counts;
  for (int i = 0; i < ndim; ++i) counts[i] = nest.count(i, length);
  for (int k = 0; k < nop; ++k) {
    strides[k] = nest.strides[k];
    ptrs[k] = at.p[k];
  }
}

Pass::~Pass() {
  for (Result& r : results_)
    if (Error* e = r.error) e->unref();
}

void Pass::work() noexcept {
  bool claimed = false;
  try {
    work(claimed);
  } catch (const std::bad_alloc&) {
    if (claimed) starved_ = true;  // else another thread may have memory; see finish()
  }
}

void Pass::finish() {
  if (starved_ || next_.load(std::memory_order_relaxed) < plan_.tasks) {  // or no thread had scratch
    for (size_t m = 0; m < plan_.members.size(); ++m)
      if (runs_[m])
        fail(m, new Error(Error::MEMORY, "unable to allocate " + std::to_string(plan_.scratch) +
                                             " bytes for temporaries"));
    return;
  }
  for (size_t m = 0; m < plan_.members.size(); ++m)
    if (plan_.members[m].role == Member::TREE && runs_[m]) combine(m);
}

void Pass::work(bool& claimed) {
  const Scratch mine_for_now(plan_.scratch);
  char* const scratch = mine_for_now.data();
  if (!scratch && plan_.scratch) return;  // another thread may have some; see finish()
  const size_t n = plan_.members.size();
  std::vector<int> flags(n, 0);
  // Where each operand begins for this thread; those in memory move on from tile to tile.
  std::vector<Pointers> begin(n);
  for (size_t m = 0; m < n; ++m)
    for (int k = 0; k < plan_.members[m].nop; ++k) {
      const int where = plan_.members[m].where[k];
      begin[m].p[k] = where >= 0 ? scratch + where : base_[m * kPassOps + k];
    }
  Spot spot;
  spot.scratch = scratch;
  const uint64_t still = plan_.still();
  for (bool mine = false; !Engine::called_away(); mine = true) {
    const npy_intp task = next_.fetch_add(1, std::memory_order_relaxed);
    if (task >= plan_.tasks) break;
    claimed = true;
    if (!mine) threads_.fetch_add(1, std::memory_order_relaxed);
    const npy_intp end = std::min(plan_.tiles, (task + 1) * plan_.tiles_per_task);
    for (npy_intp t = task * plan_.tiles_per_task; t < end; ++t) {
      spot.written_out &= still;
      tile(t, begin.data(), flags.data(), spot);
    }
  }
  for (size_t m = 0; m < n; ++m)
    if (flags[m]) results_[m].flags.fetch_or(flags[m], std::memory_order_relaxed);
}

void Pass::fail(size_t m, Error* error) {
  Error* none = nullptr;
  if (!results_[m].error.compare_exchange_strong(none, error)) error->unref();
}

Pass::Ahead::Ahead(const Pass& pass, const Pointers* begin, const npy_intp* index, npy_intp length)
    : pass_(pass), begin_(begin), index_(index), length_(length) {
  const Plan& p = pass.plan_;
  if (p.fetched.empty()) return;
  npy_intp bytes = 0;
  for (const Fetched& s : p.fetched) bytes += s.step * length;
  share_ = bytes / static_cast<npy_intp>(p.members.size()) + 64;
  open(0);
}

void Pass::Ahead::fetch() {
  for (npy_intp left = share_; left > 0 && at_ < end_;) {
    const char* at = at_;
    const char* const stop = std::min(end_, at + left);
    left -= stop - at;
    for (; at < stop; at += 64) __builtin_prefetch(at, 0, 2);
    at_ = at;
    if (at_ >= end_) open(operand_ + 1);
  }
}

void Pass::Ahead::open(size_t operand) {
  const Plan& p = pass_.plan_;
  operand_ = operand;
  at_ = end_ = nullptr;
  if (operand >= p.fetched.size()) return;
  const Fetched& s = p.fetched[operand];
  const Member& m = p.members[s.member];
  at_ = begin_[s.member].p[s.op];
  if (!at_) return;
  for (int a = 0; a <= p.cut; ++a) at_ += index_[a] * m.outer[s.op][a];
  at_ += s.step * length_;
  end_ = at_ + s.step * length_;
}

void Pass::tile(npy_intp t, const Pointers* begin, int* flags, Spot& spot) {
  const Plan& p = plan_;
  spot.tile = t;
  npy_intp rest = t / p.pieces;
  const npy_intp piece = t - rest * p.pieces;
  if (p.leaves.empty()) {
    spot.index[p.cut] = piece * p.length;
    spot.length = std::min(p.length, p.axes.shape[p.cut] - spot.index[p.cut]);
  } else {
    spot.index[p.cut] = p.leaves[piece];
    spot.length = p.leaves[piece + 1] - p.leaves[piece];
  }
  for (int a = p.cut - 1; a >= 0; --a) {
    spot.index[a] = rest % p.axes.shape[a];
    rest /= p.axes.shape[a];
  }
  take_flags(p.long_double);  // what came before is not ours
  Ahead ahead(*this, begin, spot.index, spot.length);
  size_t next = 0;  // chain
  for (size_t m = 0; m < p.members.size(); ++m) {
    if (next < p.chains.size() && m == static_cast<size_t>(p.chains[next].begin)) {
      const size_t now = next++;
      if (compiled(now, begin, spot, ahead) || tried(now, begin, spot, flags)) {
        m = p.chains[now].end - 1;
        continue;
      }
    }
    if (!runs_[m] || p.members[m].role == Member::NOTHING || p.put_off(p.members[m])) continue;
    ahead.fetch();
    step(m, begin, spot, flags);
  }
}

void Pass::expand(size_t m, int k, Spot& spot) {
  const int i = plan_.members[m].expanded[k];
  if (i < 0 || spot.written_out >> i & 1) return;
  spot.written_out |= uint64_t{1} << i;
  const Expansion& e = plan_.expansions[i];
  if (e.turn >= 0) {
    const int roll = plan_.turns[e.turn].member;
    return line(roll, plan_.members[roll], {{base_[roll * kPassOps], spot.scratch + e.to}}, spot);
  }
  const char* from = origin(m, k, spot);
  for (int a = 0; a <= plan_.cut; ++a) from += spot.index[a] * e.outer[a];
  const npy_intp begin = plan_.walk.n ? spot.index[0] : 0;
  write_out(plan_, e, from, begin, e.still ? plan_.length : spot.length, spot.scratch + e.to);
}

void Pass::step(size_t m, const Pointers* begin, Spot& spot, int* flags) {
  const Member& member = plan_.members[m];
  for (int k = 0; k < member.nop; ++k) expand(m, k, spot);
  const npy_intp length = spot.length;
  Pointers at = begin[m];
  for (int k = 0; k < member.nop; ++k)
    for (int a = 0; a <= plan_.cut; ++a) at.p[k] += spot.index[a] * member.outer[k][a];
  switch (member.role) {
    case Member::MAP: map(m, member, at, length, flags); break;
    case Member::WALK: walk(m, member, at, spot.index[0], length, flags); break;
    case Member::ROWS: rows(m, member, at, length); break;
    case Member::TREE: leaf(m, member, at, spot.tile, length); break;
    case Member::COLUMNS: columns(m, member, at, length, spot.index); break;
    case Member::LINE: line(m, member, at, spot); break;
    case Member::NOTHING: break;
  }
  // Read after each loop: many of them clear what was raised before. In both units, if that is done at all: what the C
  // library's fmod leaves in the x87 one is not the next instruction's.
  if (const int f = take_flags(plan_.long_double))
    if (instrs_[m]->kernel->checks_flags) flags[m] |= f;
}

void Pass::walk(size_t m, const Member& member, const Pointers& begin, npy_intp start, npy_intp length,
                int* flags) {
  const Axes& axes = plan_.walk;
  npy_intp index[kAxes];
  axes.index_of(start, index);
  const int inner = axes.n - 1;
  for (npy_intp done = 0, run; done < length; done += run) {
    run = std::min(axes.shape[inner] - index[inner], length - done);
    Pointers at = begin;
    for (int k = 0; k < member.nop; ++k) {
      if (member.where[k] >= 0) at.p[k] += done * member.nest.strides[k][0];
      else
        for (int a = 0; a < axes.n; ++a) at.p[k] += index[a] * member.walk[k][a];
    }
    map(m, member, at, run, flags);
    axes.next_row(index);
  }
}

void Pass::map(size_t m, const Member& member, const Pointers& at, npy_intp length, int* flags) {
  bool invalid = false;
  if (Error* e = run_elementwise(rt_, *instrs_[m], Tile(member.nest, member.nop, length, at), &invalid)) fail(m, e);
  if (invalid) flags[m] |= kInvalid;
}

void Pass::line(size_t m, const Member& member, const Pointers& at, const Spot& spot) {
  const Axes& axes = plan_.axes;
  npy_intp begin = 0, inner = 1;
  for (int a = 0; a <= plan_.cut; ++a) begin = begin * axes.shape[a] + spot.index[a];
  for (int a = plan_.cut + 1; a < axes.n; ++a) inner *= axes.shape[a];
  begin *= inner;
  Instr& in = *instrs_[m];
  char* part[kPassOps];
  for (int k = 1; k < member.nop; ++k)
    part[k] = at.p[k] + (member.where[k] < 0 ? begin * info(in.kernel->dtypes[k]).size : 0);
  char* const to = part[member.nop - 1];
  if (in.kernel->kind == Kernel::ROLL) roll(in, at.p[0], to, begin, spot.length * inner);
  else if (Error* e = gather_part(in, at.p[0], part + 1, spot.length * inner, to)) fail(m, e);
}

void Pass::rows(size_t m, const Member& member, const Pointers& at, npy_intp length) {
  const Kernel& kernel = *instrs_[m]->kernel;
  const Tile tile(member.nest, 2, length, at);
  if (member.sum) return each(tile, tile.ndim, [&](char* const* p, const npy_intp*) { member.sum(p[0], p[1], member.run); });
  const int last = tile.ndim - 1;
  if (last >= 0 && goes_side_by_side(kernel, member.run, tile.shape[last])) {
    each(tile, last, [&](char* const* p, const npy_intp*) {
      reduce_short_rows(kernel, p[0], tile.strides[0][last], member.run_step, member.run, p[1], tile.strides[1][last],
                        tile.shape[last]);
    });
    return;
  }
  const npy_intp steps[3] = {0, member.run_step, 0};
  each(tile, tile.ndim, [&](char* const* p, const npy_intp*) {
    start_result(kernel, p[0], p[1]);
    char* args[3] = {p[1], p[0], p[1]};
    npy_intp n = member.run;
    if (kernel.starts_with_first) {  // as NumPy: where its vectors begin decides a zero's sign
      args[1] += member.run_step;
      --n;  // of two at least (Fuser::fusable)
    }
    kernel.fn(args, &n, steps, kernel.data);
  });
}

bool Pass::has_first_rows(const Member& member, const npy_intp* index) const {
  for (int a = member.rows_begin; a < member.rows_end && a <= plan_.cut; ++a)
    if (index[a] != 0) return false;
  return true;
}

void Pass::columns(size_t m, const Member& member, const Pointers& at, npy_intp length,
                   const npy_intp* index) {
  bool first = has_first_rows(member, index);
  const Kernel& kernel = *instrs_[m]->kernel;
  const npy_intp n = member.cuts_kept ? length * member.kept : member.kept;
  const npy_intp si = member.kept_steps[0], so = member.kept_steps[1];
  const npy_intp steps[3] = {so, si, so};
  auto row = [&](char* const* p, const npy_intp*) {
    char* args[3] = {p[1], p[0], p[1]};
    if (first) {
      first = false;
      start_results(kernel, p[0], si, p[1], so, n);
      if (kernel.starts_with_first) return;
    }
    kernel.fn(args, &n, steps, kernel.data);
  };
  const Tile tile(member.nest, 2, length, at);
  const bool lie_together = si == info(kernel.dtypes[0]).size && so == info(kernel.dtypes[1]).size;
  if (member.cuts_kept) return each(tile, 0, row);
  const int last = tile.ndim - 1;
  if (last >= 0 && !(kernel.add_rows && lie_together) && goes_by_columns(kernel, n, tile.shape[last])) {
    each(tile, last, [&](char* const* p, const npy_intp*) {
      reduce_few_columns(kernel, p[0], tile.strides[0][last], tile.shape[last], p[1], si, so, n, first);
      first = false;
    });
    return;
  }
  if (!kernel.add_rows || !lie_together) return each(tile, tile.ndim, row);
  each(tile, last, [&](char* const* p, const npy_intp*) {
    if (first) start_results(kernel, p[0], si, p[1], so, n);
    first = false;
    kernel.add_rows(p[1], p[0], tile.strides[0][last], tile.shape[last], n);
  });
}

void Pass::leaf(size_t m, const Member& member, const Pointers& at, npy_intp t, npy_intp length) {
  const Kernel& kernel = *instrs_[m]->kernel;
  char* to = partial(member, t);
  const npy_intp steps[3] = {0, member.run_step, 0};
  npy_intp n = length;
  char* args[3] = {to, at.p[0], to};
  neutral(kernel, at.p[0], to);
  if (kernel.starts_with_first) {
    args[1] += member.run_step;
    --n;  // of two at least, as above: no piece of a longer row is as short (pairwise_leaves)
  }
  kernel.fn(args, &n, steps, kernel.data);
}

void Pass::neutral(const Kernel& kernel, const char* first, char* to) {
  const int code = kernel.dtypes[1];
  start_result(kernel, first, to);
  if (kernel.starts_with_first) return;
  switch (code) {
    case f4: case c8: put(to, -0.0f, code == c8); break;
    case f8: case c16: put(to, -0.0, code == c16); break;
    case fg: case cg: put(to, -0.0L, code == cg); break;
    default: break;
  }
}

void Pass::combine(size_t m) {
  const Member& member = plan_.members[m];
  Instr& in = *instrs_[m];
  const Kernel& kernel = *in.kernel;
  const int size = info(kernel.dtypes[1]).size;
  const Axes& axes = plan_.axes;
  const npy_intp rows = plan_.tiles / plan_.pieces;
  take_flags(kernel.long_double);
  for (npy_intp r = 0; r < rows; ++r) {
    char* out = base_[m * kPassOps + 1];
    npy_intp rest = r;
    for (int a = plan_.cut - 1; a >= 0; --a) {
      out += rest % axes.shape[a] * member.outer[1][a];
      rest /= axes.shape[a];
    }
    char* pieces = partial(member, r * plan_.pieces);
    npy_intp used = 0;
    fold(kernel, pieces, axes.shape[plan_.cut], used);
    alignas(32) char total[kItem];
    if (kernel.starts_with_first) std::memcpy(total, pieces, size);
    else add(kernel, kernel.identity, pieces, total);
    std::memcpy(out, total, size);
  }
  if (const int f = take_flags(kernel.long_double))
    if (kernel.checks_flags) results_[m].flags.fetch_or(f);
}

void Pass::fold(const Kernel& kernel, char* pieces, npy_intp n, npy_intp& used) {
  const npy_intp mine = used;
  const npy_intp length = plan_.leaves[used + 1] - plan_.leaves[used];
  if (length == n) {
    used++;
    return;
  }
  const npy_intp half = pairwise_half(n, plan_.complex_tree);
  fold(kernel, pieces, half, used);
  const npy_intp other = used;
  fold(kernel, pieces, n - half, used);
  alignas(32) char sum[kItem];
  add(kernel, pieces + mine * kItem, pieces + other * kItem, sum);
  std::memcpy(pieces + mine * kItem, sum, info(kernel.dtypes[1]).size);
}

void Pass::add(const Kernel& kernel, const char* a, const char* b, char* to) {
  const npy_intp one = 1, item = info(kernel.dtypes[1]).size;
  const npy_intp steps[3] = {item, item, item};
  char* args[3] = {const_cast<char*>(a), const_cast<char*>(b), to};
  (kernel.join ? kernel.join : kernel.fn)(args, &one, steps, kernel.data);
}

}  // namespace lazyarray
