// Expand: broadcast operands of short rows, written out for a tile.
#include "lazy/cpu/expand.h"

#include "lazy/processor.h"

namespace lazyarray {

namespace {

// Rows that are short where there are no loops of our own for many, and to compiled loops, whose vectors have eight
// elements. Loops that are not so many times longer gain nothing.
constexpr npy_intp kShortCalls = 64, kShortCompiled = 8, kLonger = 4;
constexpr size_t kMost = 16;  // of a plan: each takes its place in the caches
constexpr size_t kTurns = 32;  // ... which these have anyhow
static_assert(kMost + kTurns <= 64, "Pass has a bit for each");

// Each of `n` elements, which lie one after the other, a few times.
template <int times, class T>
[[gnu::always_inline]] inline void repeat_few(const T* from, npy_intp n, T* __restrict to) {
#pragma GCC ivdep
  for (npy_intp i = 0; i < n; ++i)
    for (int k = 0; k < times; ++k) to[i * times + k] = from[i];
}
// Each of `n` elements `times` times. Stores are as wide as they come: what goes beyond an element's place the next one
// overwrites, if there is one.
template <class T>
[[gnu::always_inline]] inline void repeat(const char* from, npy_intp n, npy_intp step, npy_intp times, T* to) {
  if (times == 2 && step == sizeof(T)) return repeat_few<2>(reinterpret_cast<const T*>(from), n, to);
  if (times == 3 && step == sizeof(T)) return repeat_few<3>(reinterpret_cast<const T*>(from), n, to);
  if (times == 4 && step == sizeof(T)) return repeat_few<4>(reinterpret_cast<const T*>(from), n, to);
  constexpr npy_intp kLanes = sizeof(T) < 32 ? 32 / sizeof(T) : 1;
  struct Lanes {
    T of[kLanes];
  } lanes;
  const npy_intp vectors = (times + kLanes - 1) / kLanes * kLanes, wide = std::max<npy_intp>(0, n - (vectors - 1) / times);
  for (npy_intp i = 0; i < n; ++i, from += step, to += times) {
    T x;
    std::memcpy(&x, from, sizeof x);
    if (i >= wide) {
      std::fill(to, to + times, x);
      continue;
    }
    for (T& lane : lanes.of) lane = x;
    for (npy_intp k = 0; k < times; k += kLanes) std::memcpy(to + k, &lanes, sizeof lanes);
  }
}
template <class T>
void repeat_plain(const char* from, npy_intp n, npy_intp step, npy_intp times, T* to) {
  repeat(from, n, step, times, to);
}
#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2")]] void repeat_wide(const char* from, npy_intp n, npy_intp step, npy_intp times, T* to) {
  repeat(from, n, step, times, to);
}
#else
template <class T>
constexpr auto repeat_wide = repeat_plain<T>;
#endif

template <class T>
auto best_repeat() {
  return has_avx2() ? repeat_wide<T> : repeat_plain<T>;
}

// Copies elements of T, over loops; what is written lies one after the other.
template <class T>
class Writer {
 public:
  Writer(const NestOf<2>& nest, npy_intp length)
      : nest_(nest), inner_(nest.n - 1), repeat_(best_repeat<T>()) {
    for (int i = inner_; i >= 0; --i) {
      counts_[i] = nest.count(i, length);
      block_[i] = i == inner_ ? 1 : block_[i + 1] * counts_[i + 1];
    }
  }

  npy_intp elements() const { return counts_[0] * block_[0]; }

  // Elements `begin` .. `end` of the line that a loop and those in it are.
  void part(int loop, const char* from, npy_intp begin, npy_intp end, T* to) const {
    const npy_intp block = block_[loop], step = nest_.strides[0][loop];
    npy_intp i = begin / block;
    if (const npy_intp into = begin - i * block) {
      const npy_intp stop = std::min(block, end - i * block);
      part(loop + 1, from + i * step, into, stop, to);
      to += stop - into;
      i++;
    }
    const npy_intp whole = end / block - i;
    if (whole < 0) return;
    if (whole > 0) turns(loop, from + i * step, whole, to);
    if (const npy_intp rest = end - (i + whole) * block) part(loop + 1, from + (i + whole) * step, 0, rest, to + whole * block);
  }

 private:
  // `n` turns of a loop.
  void turns(int loop, const char* from, npy_intp n, T* to) const {
    const npy_intp step = nest_.strides[0][loop], block = block_[loop];
    if (loop == inner_) {
      if (step == 0) repeat_(from, 1, 0, n, to);
      else repeat_(from, n, step, 1, to);
    } else if (step == 0) {
      turns(loop + 1, from, counts_[loop + 1], to);
      repeat_first(reinterpret_cast<char*>(to), block * static_cast<npy_intp>(sizeof(T)), n);
    } else if (loop == inner_ - 1 && nest_.strides[0][inner_] == 0) {
      repeat_(from, n, step, block, to);
    } else if (loop == inner_ - 2 && block <= kFew) {
      small(loop, from, n, to);
    } else {
      for (npy_intp i = 0; i < n; ++i) turns(loop + 1, from + i * step, counts_[loop + 1], to + i * block);
    }
  }

  // Three loops, of which the inner two are too short for calls.
  void small(int loop, const char* from, npy_intp n, T* to) const {
    const npy_intp rows = counts_[loop + 1], columns = counts_[loop + 2];
    const npy_intp step = nest_.strides[0][loop], by_row = nest_.strides[0][loop + 1], by_column = nest_.strides[0][loop + 2];
    for (npy_intp i = 0; i < n; ++i, from += step)
      for (npy_intp r = 0; r < rows; ++r)
        for (npy_intp c = 0; c < columns; ++c, ++to) std::memcpy(to, from + r * by_row + c * by_column, sizeof(T));
  }

  static constexpr npy_intp kFew = 64;
  const NestOf<2>& nest_;
  const int inner_;
  void (*const repeat_)(const char* from, npy_intp n, npy_intp step, npy_intp times, T* to);
  npy_intp counts_[kAxes];
  npy_intp block_[kAxes];  // elements of one turn of the loop
};

}  // namespace

void repeat_first(char* to, npy_intp bytes, npy_intp times) {
  for (npy_intp done = 1; done < times; done *= 2)
    std::memcpy(to + done * bytes, to, static_cast<size_t>(std::min(done, times - done) * bytes));
}

void repeat_each(int size, const char* from, npy_intp n, npy_intp step, npy_intp times, char* to) {
  of_size(size, [&](auto item) {
    using T = decltype(item);
    best_repeat<T>()(from, n, step, times, reinterpret_cast<T*>(to));
  });
}

void repeat_blocks(int size, npy_intp block, const char* from, npy_intp n, npy_intp times, char* to) {
  if (times == 0) return;
  if (block == size) return repeat_each(size, from, n, size, times, to);
  for (npy_intp i = 0; i < n; ++i, from += block, to += block * times) {
    std::memcpy(to, from, static_cast<size_t>(block));
    repeat_first(to, block, times);
  }
}

Expander::Expander(Plan& plan, const Stage& stage) : plan_(plan), stage_(stage) {
  for (const Instr* in : stage.instrs) {
    for (int k = in->nin; k < in->nop; ++k) writers_[in->ops[k].chunk]++;
    sums_rows_ |= in->kernel->kind == Kernel::REDUCE && in->kernel->code && in->reduces_last();
  }
}

bool Expander::stays(const Chunk* c) const {
  const auto found = writers_.find(c);
  return (found == writers_.end() ? 0 : found->second) == is_temporary(c);
}

npy_intp Expander::innermost(const Instr& in, const MemberSteps& mine, int out) const {
  npy_intp steps[kPassOps][kAxes];
  for (int k = 0; k < in.nop; ++k)
    if (out >> k & 1) plan_.scratch_steps(mine.level, info(in.kernel->dtypes[k]).size, steps[k]);
    else std::copy(mine.of[k], mine.of[k] + kAxes, steps[k]);
  Nest nest;
  nest.set(plan_.axes, plan_.cut, mine.level, in.nop, steps);
  return nest.n ? nest.count(nest.n - 1, plan_.length) : 0;
}

int Expander::share(const Expansion& e, int level) {
  std::vector<Expansion>& all = plan_.expansions;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].turn < 0 && all[i].walk == e.walk && all[i].item == e.item && all[i].nest == e.nest &&
        std::equal(e.outer, e.outer + kAxes, all[i].outer))
      return static_cast<int>(i);
  if (all.size() - plan_.turns.size() == kMost) return -1;
  all.push_back(e);
  all.back().to = plan_.scratch_for(level, e.item);
  return static_cast<int>(all.size()) - 1;
}

bool Expander::expand(int number, Member& m, MemberSteps& mine) {
  const Instr& in = *stage_.instrs[number];
  if (!any_steps(*in.kernel)) return false;
  const npy_intp now = innermost(in, mine, 0);
  if (now == 0 || now >= (in.kernel->lines ? kShortRow : kShortCalls)) return false;
  int mixed = 0;  // operands that step along some of a tile's axes, and stand still along others
  for (int k = 0; k < in.nin; ++k) {
    if (m.where[k] < 0 && m.where[k] != Member::kMemory) continue;
    bool steps = false, stands = false;
    for (int a = plan_.cut; a < mine.level; ++a)
      if ((a == plan_.cut ? plan_.length : plan_.axes.shape[a]) > 1) (mine.of[k][a] ? steps : stands) = true;
    if (steps && stands && stays(in.ops[k].chunk)) mixed |= 1 << k;
  }
  if (!mixed || innermost(in, mine, mixed) < kLonger * now) return false;
  bool some = false;
  npy_intp steps[kPassOps][kAxes];
  std::copy(mine.of[0], mine.of[0] + kPassOps * kAxes, steps[0]);
  for (int k = 0; k < in.nin; ++k) {
    if (!(mixed >> k & 1)) continue;
    Expansion e;
    e.walk = mine.walk[k];
    e.from = m.where[k];
    e.item = info(in.kernel->dtypes[k]).size;
    std::copy(m.outer[k], m.outer[k] + kAxes, e.outer);
    e.still = e.from == Member::kMemory && std::all_of(e.outer, e.outer + kAxes, [](npy_intp step) { return step == 0; });
    npy_intp both[2][kAxes];
    std::copy(mine.of[k], mine.of[k] + kAxes, both[0]);
    plan_.scratch_steps(mine.level, e.item, both[1]);
    e.nest.set(plan_.axes, plan_.cut, mine.level, 2, both);
    const int i = share(e, mine.level);
    if (i < 0) continue;
    read(m, k, i);
    some = true;
    std::fill(m.outer[k], m.outer[k] + kAxes, 0);
    plan_.scratch_steps(mine.level, e.item, steps[k]);
    if (!e.still && (now >= kShortCompiled || sums_rows_)) {
      mine.in_place |= 1 << k;
    } else {
      std::copy(steps[k], steps[k] + kAxes, mine.of[k]);
      mine.walk[k] = kExpandedWalk + i;
    }
  }
  if (!some) return false;
  m.nest.set(plan_.axes, plan_.cut, mine.level, in.nop, steps);
  m.nest.lengthen(in.nop, plan_.length, kShortRow);
  return true;
}

void Expander::put_off(int number, Member& m) {
  Instr& in = *stage_.instrs[number];
  Turn turn{number};
  if (!plan_.chained || plan_.turns.size() == kTurns || !stays(in.ops[1].chunk)) return;
  if (!find_turn(in, plan_.axes, turn)) return;
  Expansion e;
  e.turn = static_cast<int>(plan_.turns.size());
  e.from = e.to = m.where[1];
  e.still = false;
  m.expanded[1] = static_cast<int8_t>(plan_.expansions.size());
  turned_[in.ops[1].chunk] = m.expanded[1];
  plan_.turns.push_back(turn);
  plan_.expansions.push_back(e);
}

bool Expander::expand_line(int number, Member& m, MemberSteps& mine) {
  const Axes& axes = plan_.walk;
  const Instr& in = *stage_.instrs[number];
  if (!any_steps(*in.kernel) || axes.shape[axes.n - 1] >= kShortCalls) return false;
  int uneven = 0;
  for (int k = 0; k < in.nop; ++k) {
    if (m.where[k] != Member::kMemory && m.where[k] != Member::kCopyTarget) continue;
    if (plan_.even(mine.of[k])) continue;
    if (k >= in.nin || m.where[k] != Member::kMemory || !stays(in.ops[k].chunk)) return false;
    uneven |= 1 << k;
  }
  const size_t before = plan_.expansions.size(), scratch = plan_.scratch;
  int found[kPassOps];
  for (int k = 0; k < in.nin; ++k) {
    if (!(uneven >> k & 1)) continue;
    Expansion e;
    e.walk = mine.walk[k];
    e.from = Member::kMemory;
    e.item = info(in.kernel->dtypes[k]).size;
    e.still = false;  // a piece begins anywhere in a row
    npy_intp both[2][kAxes] = {};
    std::copy(mine.of[k], mine.of[k] + axes.n, both[0]);
    axes.lie_in_a_row(e.item, both[1]);
    e.nest.set(axes, 0, axes.n, 2, both);
    found[k] = share(e, 1);
    if (found[k] >= 0) continue;
    plan_.expansions.resize(before);
    plan_.scratch = scratch;
    return false;
  }
  for (int k = 0; k < in.nin; ++k) {
    if (!(uneven >> k & 1)) continue;
    read(m, k, found[k]);
    mine.walk[k] = kExpandedWalk + found[k];
  }
  return true;
}

void write_out(const Plan& p, const Expansion& e, const char* from, npy_intp begin, npy_intp length, char* to) {
  of_size(e.item, [&](auto item) {
    using T = decltype(item);
    const npy_intp turns = p.walk.n ? p.walk.shape[0] : length;
    const Writer<T> w(e.nest, turns);
    const npy_intp elements = p.walk.n ? length : w.elements();
    w.part(0, from, begin, begin + elements, reinterpret_cast<T*>(to));
  });
}

}  // namespace lazyarray
