// Plan: how a fused pass goes over its tiles, made once for each structure of instructions.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lazy/fuse.h"
#include "lazy/policy.h"

namespace lazyarray {

// Some axes as a nest of loops: those that all operands step through alike are one.
struct Nest {
  int n = 0;
  npy_intp shape[kAxes];
  npy_intp strides[kPassOps][kAxes] = {};
  npy_intp head = 1;  // the `cut` loop's count for one step of the axis that tiles cut
  int cut = 0;

  // Axes `from` .. `to` of the pass, the first of which is the one that tiles cut; steps[k] are
  // operand k's over all axes.
  void set(const Axes& axes, int from, int to, int nop, npy_intp const (*steps)[kAxes]) {
    n = 0;
    for (int a = from; a < to; ++a) {
      if (a == from && axes.shape[a] == 1 && to > from + 1) continue;
      if (n == 0) head = a == from ? 1 : axes.shape[a];
      bool merge = n > 0;
      for (int k = 0; merge && k < nop; ++k)
        merge = strides[k][n - 1] == steps[k][a] * axes.shape[a];
      if (merge) {
        shape[n - 1] *= axes.shape[a];
        if (n == 1) head *= axes.shape[a];
      } else {
        shape[n++] = axes.shape[a];
      }
      for (int k = 0; k < nop; ++k) strides[k][n - 1] = steps[k][a];
    }
  }

  npy_intp count(int loop, npy_intp length) const {
    return loop == cut ? length * head : shape[loop];
  }

  // Puts the longest loop innermost, if the calls for the innermost one would be short. `length` is
  // that of a tile.
  void lengthen(int nop, npy_intp length) {
    constexpr npy_intp kShort = 32;  // elements that take as long as the call
    int longest = n - 1;
    for (int i = 0; i < n - 1; ++i)
      if (count(i, length) > count(longest, length)) longest = i;
    if (longest == n - 1 || count(n - 1, length) >= kShort) return;
    std::swap(shape[longest], shape[n - 1]);
    for (int k = 0; k < nop; ++k) std::swap(strides[k][longest], strides[k][n - 1]);
    if (cut == longest) cut = n - 1;
    else if (cut == n - 1) cut = longest;
  }
};

// The sum of a short row, in the order of NumPy's pairwise_sum below its block size, and added to
// zero as its loop adds it. For short rows the call of that loop takes most of the time.
template <class T>
inline void short_sum(const char* from, char* to, npy_intp n) {
  const T* a = reinterpret_cast<const T*>(from);
  T sum;
  npy_intp i = 0;
  if (n < 8) {
    sum = T(-0.0);
  } else {
    T r[8];
    for (int j = 0; j < 8; ++j) r[j] = a[j];
    for (i = 8; i < n - n % 8; i += 8)
      for (int j = 0; j < 8; ++j) r[j] += a[i + j];
    sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  }
  for (; i < n; ++i) sum += a[i];
  *reinterpret_cast<T*>(to) = T(0) + sum;
}
using ShortSum = void (*)(const char*, char*, npy_intp);
inline ShortSum short_sums_of(int dtype, npy_intp n) {
  if (n > 32) return nullptr;
  return dtype == f8 ? short_sum<double> : dtype == f4 ? short_sum<float> : nullptr;
}

// One instruction's part in a pass.
struct Member {
  enum Role : uint8_t { MAP, ROWS, TREE, COLUMNS };
  enum : int { kMemory = -1, kConstant = -2 };

  Role role = MAP;
  int nop = 0;
  int where[kPassOps];             // an offset into the scratch, or one of the above
  npy_intp outer[kPassOps][kAxes] = {};  // steps over the axes up to the one that tiles cut
  Nest nest;                       // of a tile: MAP all axes, else those of the rows
  npy_intp run = 1, run_step = 0;  // ROWS: what is reduced
  ShortSum short_sums = nullptr;
  npy_intp kept = 1, kept_steps[2] = {};  // COLUMNS: what is kept
  int partial = -1;                // TREE: which of the pass's
  bool cuts_kept = false;          // COLUMNS: tiles cut what is kept
  int rows_begin = 0, rows_end = 0;  // COLUMNS: the axes that are reduced
};

struct Plan {
  std::vector<uint64_t> key;  // the structure; see Planner::describe
  std::vector<Member> members;
  Axes axes;
  int cut = 0;                // tiles are pieces of this axis, whole in all later ones
  npy_intp length = 1;        // of a piece
  npy_intp pieces = 1, tiles = 1, tiles_per_task = 1, tasks = 1;
  std::vector<npy_intp> leaves;  // TREE: where the pieces of a row begin, and its end
  int partials = 0;           // TREE: how many reductions
  bool complex_tree = false;
  bool long_double = false;   // some flags are the x87 unit's
  size_t scratch = 0;         // bytes for each thread
  int temporaries = 0;        // outputs that exist only there
  int64_t moved = 0, saved = 0;  // bytes of memory operands; of the temporaries
};

// Where NumPy's pairwise sum of n numbers cuts them, down to pieces of at most `most`: at half,
// rounded down to a multiple of 8 (complex numbers count twice). pairwise_sum in
// numpy/_core/src/umath/loops_utils.h.src.
inline npy_intp pairwise_half(npy_intp n, bool complex) {
  if (complex) {
    const npy_intp half = n - n % 8;  // of 2n reals
    return half / 2;
  }
  const npy_intp half = n / 2;
  return half - half % 8;
}
inline void pairwise_leaves(npy_intp start, npy_intp n, npy_intp most, bool complex,
                            std::vector<npy_intp>& out) {
  if (n <= most) {
    out.push_back(start);
    return;
  }
  const npy_intp half = pairwise_half(n, complex);
  pairwise_leaves(start, half, most, complex, out);
  pairwise_leaves(start + half, n - half, most, complex, out);
}

// The bytes of an operand's distinct elements: an axis without a step holds one.
inline int64_t reach(Instr& in, int k) {
  int64_t bytes = info(in.kernel->dtypes[k]).size;
  for (int a = 0; a < in.ndim; ++a)
    if (in.strides(k)[a]) bytes *= in.shape()[a];
  return bytes;
}

class Planner {
 public:
  TilePolicy policy;
  uint64_t hits = 0, misses = 0;

  // The policy has changed.
  void forget() {
    recent_.clear();
    known_.clear();
    hashes_.clear();
  }

  // A value of Chunk::use_group that no chunk has.
  int new_mark() { return last_mark_ = last_mark_ == INT_MIN ? -2 : last_mark_ - 1; }

  // The plan for a stage whose chunks' `temporary` is set.
  std::shared_ptr<const Plan> plan(const Stage& stage) {
    describe(stage);
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint64_t w : key_) hash = (hash ^ w) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    auto found = known_.find(hash);
    if (found != known_.end() && (*found->second)->key == key_) {
      hits++;
      recent_.splice(recent_.begin(), recent_, found->second);
      return recent_.front();
    }
    misses++;
    auto fresh = std::make_shared<Plan>();
    build(*fresh, stage);
    fresh->key = key_;
    if (found != known_.end()) {  // another structure of the same hash gives way
      recent_.erase(found->second);
      known_.erase(found);
    }
    recent_.push_front(fresh);
    known_[hash] = recent_.begin();
    hashes_[fresh.get()] = hash;
    if (recent_.size() > kMost) {
      auto last = hashes_.find(recent_.back().get());
      known_.erase(last->second);
      hashes_.erase(last);
      recent_.pop_back();
    }
    return fresh;
  }

 private:
  static constexpr size_t kMost = 512;

  // The structure in words: all that build() looks at, and nothing of the data. Chunks are numbered
  // in the order of their first use.
  void describe(const Stage& stage) {
    key_.clear();
    chunks_ = 0;
    mark_ = new_mark();
    auto push = [&](npy_intp w) { key_.push_back(static_cast<uint64_t>(w)); };
    for (Instr* in : stage.instrs) {
      push(reinterpret_cast<intptr_t>(in->kernel));
      push(in->nop | in->ndim << 8 | static_cast<npy_intp>(in->reduced) << 32);
      for (int a = 0; a < in->ndim; ++a) push(in->shape()[a]);
      for (int k = 0; k < in->nop; ++k) {
        Chunk* c = in->ops[k].chunk;
        push(c ? (id(c) + 1) << 1 | c->temporary : 0);
        for (int a = 0; a < in->ndim; ++a) push(in->strides(k)[a]);
      }
    }
  }
  npy_intp id(Chunk* c) {
    if (c->use_group != mark_) {
      c->use_group = mark_;
      c->use_index = chunks_++;
    }
    return c->use_index;
  }

  void build(Plan& p, const Stage& stage) {
    const Form& form = stage.form;
    const size_t n = stage.instrs.size();
    p.axes = form.axes;
    npy_intp rows = 0;  // of the closed reductions: how many whole rows there are at least
    for (int i = 0; i < form.nclosed; ++i)
      rows = rows ? std::min(rows, form.closed[i]) : form.closed[i];
    double cost = 0;
    for (Instr* in : stage.instrs) cost += in->cost_ns;
    panels_ = form.open == Form::COLUMNS && rows == 0 && cost > 2 * policy.task_ns
                  ? panels(p.axes) : 1;
    if (p.axes.n == 0 || rows == 1) {
      // One tile is all there is: it is cut from an axis of length one.
      push_front(p.axes, 1);
    } else if (panels_ > 1) {
      // Rows have to be added up in order, so what threads share out is panels of columns: they
      // are the first axis, and tiles are cut within one.
      p.axes.shape[p.axes.n - 1] /= panels_;
      push_front(p.axes, panels_);
    }
    // Which temporaries live when, and the bytes of memory and of live temporaries for an element.
    lives_.clear();
    life_of_.assign(chunks_, -1);
    std::vector<int> level(n);
    npy_intp per_element = 0;
    for (size_t m = 0; m < n; ++m) {
      Instr& in = *stage.instrs[m];
      npy_intp size = 1;
      for (int a = 0; a < in.ndim; ++a) size *= in.shape()[a];
      level[m] = size == form.size ? p.axes.n : std::max(1, p.axes.level(size));
      for (int k = 0; k < in.nop; ++k) {
        Chunk* c = in.ops[k].chunk;
        if (!c) continue;
        const npy_intp item = info(in.kernel->dtypes[k]).size;
        int& life = life_of_[id(c)];
        if (!c->temporary) {
          if (life == -1 && level[m] == p.axes.n) per_element += item;
          p.moved += life == -1 ? reach(in, k) : 0;
          p.saved += life == -1 ? 0 : reach(in, k);
          life = -2;
          continue;
        }
        p.saved += reach(in, k);
        if (life == -1) {
          const bool reduces = in.kernel->kind == Kernel::REDUCE;
          const npy_intp out = reduces ? size / in.shape()[in.ndim - 1] : size;
          life = static_cast<int>(lives_.size());
          lives_.push_back({static_cast<int>(m), 0,
                            out == form.size ? p.axes.n : std::max(1, p.axes.level(out)), item, 0});
        }
        lives_[life].last = static_cast<int>(m);
      }
    }
    std::vector<npy_intp> alive(n, 0);
    for (const Life& l : lives_)
      if (l.level == p.axes.n)
        for (int m = l.first; m <= l.last; ++m) alive[m] += l.size;
    per_element += *std::max_element(alive.begin(), alive.end());
    choose_tiles(p, form, rows, std::max<npy_intp>(per_element, 1));
    place_scratch(p);
    for (size_t m = 0; m < n; ++m) {
      p.members.push_back(member(p, form, *stage.instrs[m], level[m]));
      p.long_double |= stage.instrs[m]->kernel->long_double;
    }
    // Tasks depend on sizes alone.
    if (form.open == Form::COLUMNS) p.tiles_per_task = p.tiles / panels_;
    else p.tiles_per_task = std::max<npy_intp>(
        1, static_cast<npy_intp>(static_cast<double>(p.tiles) * policy.task_ns / std::max(cost, 1.0)));
    p.tasks = (p.tiles + p.tiles_per_task - 1) / p.tiles_per_task;
  }

  static void push_front(Axes& axes, npy_intp length) {
    std::copy_backward(axes.shape, axes.shape + axes.n, axes.shape + axes.n + 1);
    axes.shape[0] = length;
    axes.n++;
  }
  // Into how many equal panels of at least a cache line's elements the last axis is cut.
  static npy_intp panels(const Axes& axes) {
    if (axes.n < 2) return 1;
    const npy_intp last = axes.shape[axes.n - 1];
    for (npy_intp n = 8; n > 1; --n)
      if (last % n == 0 && last / n >= 64) return n;
    return 1;
  }

  void choose_tiles(Plan& p, const Form& form, npy_intp rows, npy_intp per_element) {
    const int64_t room = p.moved >= policy.stream ? policy.stream_bytes : policy.tile_bytes;
    const npy_intp want = std::min<npy_intp>(policy.most, std::max<npy_intp>(policy.least, room / per_element));
    const Axes& axes = p.axes;
    if (form.open == Form::TREE) {
      p.cut = axes.n - 1;
      p.complex_tree = form.tree == Kernel::Split::PAIRWISE_COMPLEX;
      pairwise_leaves(0, axes.shape[p.cut], std::max<npy_intp>(want, 128), p.complex_tree, p.leaves);
      p.pieces = static_cast<npy_intp>(p.leaves.size());
      p.leaves.push_back(axes.shape[p.cut]);
      p.length = want;
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
      p.pieces = (whole + p.length - 1) / p.length;
    }
    p.tiles = p.pieces;
    for (int a = 0; a < p.cut; ++a) p.tiles *= axes.shape[a];
  }

  // A temporary's piece of a tile; pieces of those that are dead are used again.
  void place_scratch(Plan& p) {
    struct Slot {
      size_t offset, bytes;
      int busy_until;
    };
    std::vector<Slot> slots;
    for (Life& l : lives_) {  // in the order in which they begin
      size_t bytes = static_cast<size_t>(l.size) * p.length;
      for (int a = p.cut + 1; a < l.level; ++a) bytes *= p.axes.shape[a];
      // Not all at the same place in a page: loads and stores would be taken for each other.
      bytes = (bytes + 63) / 64 * 64 + 192;
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

  Member member(Plan& p, const Form& form, Instr& in, int level) {
    Member m;
    m.nop = in.nop;
    npy_intp steps[kPassOps][kAxes] = {};
    // The axis of length one in front (see build) belongs to nobody.
    const int shift = p.axes.n - form.axes.n;
    for (int k = 0; k < in.nop; ++k) {
      Chunk* c = in.ops[k].chunk;
      m.where[k] = c ? Member::kMemory : Member::kConstant;
      if (c) spread(form.axes, std::max(0, level - shift), in.ndim, in.shape(), in.strides(k), steps[k] + shift);
      if (c && panels_ > 1) steps[k][0] = steps[k][p.axes.n - 1] * p.axes.shape[p.axes.n - 1];
      // An axis of length one may step anyhow; loops tell a step of zero (a scalar) from others.
      if (c && level == 1 && shift) steps[k][0] = in.strides(k)[in.ndim - 1];
      if (c && c->temporary) {
        const Life& l = lives_[life_of_[id(c)]];
        m.where[k] = static_cast<int>(l.offset);
        // In the scratch the elements of a tile lie one after the other.
        npy_intp step = l.size;
        std::fill(steps[k], steps[k] + kAxes, 0);
        for (int a = l.level - 1; a >= p.cut; --a) {
          steps[k][a] = step;
          step *= p.axes.shape[a];
        }
      }
      for (int a = 0; a <= p.cut; ++a) m.outer[k][a] = m.where[k] == Member::kMemory ? steps[k][a] : 0;
    }
    if (in.kernel->kind != Kernel::REDUCE) {
      m.nest.set(p.axes, p.cut, level, in.nop, steps);
      if (in.kernel->any_order) m.nest.lengthen(in.nop, p.length);
      return m;
    }
    const npy_intp last = in.shape()[in.ndim - 1];
    const int end = std::max(form.axes.level(form.size / last) + shift, shift);  // of the rows' axes
    if (!(in.reduced >> (in.ndim - 1) & 1)) {
      m.role = Member::COLUMNS;
      m.rows_begin = panels_ > 1 ? 1 : 0;
      m.rows_end = end;
      m.cuts_kept = p.cut >= end;
      if (!m.cuts_kept) m.nest.set(p.axes, p.cut, end, in.nop, steps);
      for (int a = std::max(end, p.cut + 1); a < p.axes.n; ++a) m.kept *= p.axes.shape[a];
      for (int k = 0; k < 2; ++k) m.kept_steps[k] = steps[k][p.axes.n - 1];
    } else if (form.opens(in)) {
      m.role = Member::TREE;
      m.partial = p.partials++;
      m.run_step = steps[0][p.axes.n - 1];
    } else {
      m.role = Member::ROWS;
      m.nest.set(p.axes, p.cut, end, in.nop, steps);
      m.run = last;
      m.run_step = steps[0][p.axes.n - 1];
      if (in.kernel->split == Kernel::Split::PAIRWISE && m.run_step == info(in.kernel->dtypes[0]).size)
        m.short_sums = short_sums_of(in.kernel->dtypes[0], last);
    }
    return m;
  }

  // From the first to the last instruction that uses a temporary.
  struct Life {
    int first, last, level;
    npy_intp size;
    size_t offset;
  };
  std::vector<uint64_t> key_;
  int chunks_ = 0, mark_ = -2;  // of describe(), which numbers chunks by Chunk::use_index
  int last_mark_ = -2;
  std::vector<Life> lives_;
  npy_intp panels_ = 1;
  std::vector<int> life_of_;  // by chunk: -1 not met yet, -2 memory
  using Recent = std::list<std::shared_ptr<const Plan>>;
  Recent recent_;  // most recently used first
  std::unordered_map<uint64_t, Recent::iterator> known_;
  std::unordered_map<const Plan*, uint64_t> hashes_;
};

}  // namespace lazyarray
