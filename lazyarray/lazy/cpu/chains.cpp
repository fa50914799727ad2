// Chains: which instructions of a pass may run as one compiled loop.
#include "lazy/cpu/chains.h"

#include <unordered_map>

namespace lazyarray {

namespace {

// Instructions of a chain: what LLVM takes grows with them, and what is gained does not. A chain of a loop's body ends
// where the body begins again, if it has this many: how many rounds a segment holds is by chance, and what is
// never the same is never compiled.
constexpr int kLongest = 256, kRound = 32;

// Elements, on average, between two places of an axis at which something turned begins anew: of fewer a copy is as cheap.
constexpr npy_intp kPiece = 16;

// One chain while it grows.
class Finder {
 public:
  Finder(Plan& plan, const Stage& stage, const std::vector<MemberSteps>& steps)
      : plan_(plan), stage_(stage), steps_(steps), base_(plan.scratch), most_(plan.scratch) {
    for (size_t m = 0; m < steps.size(); ++m)
      for (int k = 0; k < plan.members[m].nop; ++k)
        last_[steps[m].walk[k]] = last_[steps[m].origin[k]] = static_cast<int>(m);
  }

  // Makes a chain of the members from `begin` on that fit; where it ends, or `begin` + 1.
  int grow(int begin);
  // What the scratch holds for the chain that needs most: each is over when the next one begins.
  size_t scratch() const { return most_; }

 private:
  struct Value {  // of a walk: what the members up to now have left there
    int walk, chunk;
    int place = -1;       // that it was read from
    std::string name;     // "" while it is only known as read
    int member, op;       // who wrote it last
    bool written = false;
    bool sum = false;     // it is there only when all is added up
  };

  bool add(int m);
  // Whether the member's line comes before that of the one before it: a loop's next round.
  bool begins_round(int m) const;
  int read(int m, int k);  // a place of the chain; -1: there are too many
  int place(int m, int k, bool written);
  // Has the loop read what is turned where it is, if it is there to be cut where that begins anew: the axes that are cut
  // within a tile, a bit each.
  uint32_t read_turned();
  // Whether what was written there is needed after the members before `end`.
  bool outlives(const Value& v, int end) const;
  // The first place that is a sum.
  int first_sum() const {
    const auto found = std::find_if(chain_.places.begin(), chain_.places.end(), [](const Place& p) { return p.sum; });
    return static_cast<int>(found - chain_.places.begin());
  }

  Plan& plan_;
  const Stage& stage_;
  const std::vector<MemberSteps>& steps_;
  Chain chain_;
  std::unordered_map<int, int> last_;  // by walk: the member that uses it last
  std::vector<Value> values_;
  std::vector<std::string> lines_;
  int temporaries_ = 0, instructions_ = 0;
  const size_t base_;
  size_t most_;
};

// Of an operand that is a sum: see jit/description.py.
char letter_of(Sums sums) {
  return sums == Sums::PIECES ? 'p' : sums == Sums::COLUMNS ? 'k' : 'r';
}

bool operand_in_memory(const Member& m, int k) {
  return m.where[k] == Member::kMemory || m.where[k] == Member::kCopyTarget;
}

int Finder::place(int m, int k, bool written) {
  if (chain_.places.size() == kPlaces) return -1;
  Place p{m, k, written};
  const Member& member = plan_.members[m];
  p.in_place = steps_[m].in_place >> k & 1;
  if (!written && member.expanded[k] >= 0) p.turn = plan_.expansions[member.expanded[k]].turn;
  const npy_intp* const outer = p.in_place ? plan_.expansions[member.expanded[k]].outer
                                : !plan_.walk.n ? member.outer[k]
                                : operand_in_memory(member, k) ? steps_[m].of[k]
                                                               : nullptr;
  if (outer) std::copy(outer, outer + kAxes, p.outer);
  chain_.places.push_back(p);
  return static_cast<int>(chain_.places.size()) - 1;
}

bool Finder::add(int m) {
  const Instr& in = *stage_.instrs[m];
  const MemberSteps& mine = steps_[m];
  const int out = in.nin;
  // The same chunk by another way: nobody knows how the two meet, if one of them writes.
  for (const Value& v : values_)
    for (int k = 0; k < in.nop; ++k)
      if (mine.chunk[k] >= 0 && v.chunk == mine.chunk[k] &&
          (v.sum || (v.walk != mine.walk[k] && (v.written || k == out))))
        return false;
  for (int k = 0; k < in.nin; ++k)
    if (mine.chunk[k] >= 0 && mine.chunk[k] == mine.chunk[out] && mine.walk[k] != mine.walk[out]) return false;
  const bool sums = mine.sums != Sums::NONE;
  if (sums && chain_.sums != Sums::NONE && chain_.sums != mine.sums) return false;
  if (sums)  // its result is apart from all that the chain has met
    for (const Value& v : values_)
      if (v.chunk == mine.chunk[out]) return false;
  const size_t places = chain_.places.size(), values = values_.size();
  std::string line = std::string(in.kernel->code) + ' ';
  for (int k = 0; k < in.nop; ++k) line += info(in.kernel->dtypes[k]).code;
  bool fits = true;
  for (int k = 0; k < in.nin && fits; ++k) {
    Value* known = nullptr;
    for (Value& v : values_)
      if (mine.walk[k] >= 0 && v.walk == mine.walk[k]) known = &v;
    if (!known) {
      const int p = place(m, k, false);
      fits = p >= 0;
      if (!fits) break;
      values_.push_back({mine.walk[k], mine.chunk[k], p, "a" + std::to_string(p), m, k, false});
      known = &values_.back();
    }
    line += ' ' + known->name;
  }
  // Whoever writes has one place more, at the end, or two: what is read as well is moved.
  int writes = 1;
  for (const Value& v : values_) writes += v.written && v.walk != mine.walk[out] && outlives(v, m + 1);
  if (!fits || chain_.places.size() + 2 * writes > kPlaces || instructions_ == kLongest) {
    chain_.places.resize(places);
    values_.resize(values);
    return false;
  }
  const std::string result = "t" + std::to_string(temporaries_++);
  lines_.push_back(line + ' ' + result);
  Value* to = nullptr;
  for (Value& v : values_)
    if (v.walk == mine.walk[out]) to = &v;
  if (!to) {
    values_.push_back({mine.walk[out], mine.chunk[out], -1, "", m, out, true});
    to = &values_.back();
  }
  to->name = result;
  to->member = m;
  to->op = out;
  to->written = true;
  to->sum = sums;
  if (sums) chain_.sums = mine.sums;
  instructions_++;
  chain_.ns += in.cost_ns;
  return true;
}

bool Finder::outlives(const Value& v, int end) const {
  return operand_in_memory(plan_.members[v.member], v.op) || last_.at(v.walk) >= end;
}

bool Finder::begins_round(int m) const {
  return m > 0 && stage_.instrs[m]->site < stage_.instrs[m - 1]->site;
}

uint32_t Finder::read_turned() {
  int cuts[kAxes] = {};
  auto each_axis = [&](const Place& p, auto f) {
    for (int a : plan_.turns[p.turn].axis)
      if (a >= plan_.cut) f(a);
  };
  for (const Place& p : chain_.places)
    if (p.turn >= 0) each_axis(p, [&](int a) { cuts[a]++; });
  uint32_t cut = 0;
  for (Place& p : chain_.places) {
    if (p.turn < 0) continue;
    bool pays = chain_.sums == Sums::NONE;
    each_axis(p, [&](int a) {
      npy_intp elements = 1;
      for (int i = a; i < chain_.level; ++i) elements *= plan_.axes.shape[i];
      pays &= elements >= kPiece * (cuts[a] + 1);
    });
    if (!pays) {
      p.turn = -1;
      continue;
    }
    each_axis(p, [&](int a) { cut |= 1u << a; });
    p.member = plan_.turns[p.turn].member;
    p.op = 0;
    std::copy(steps_[p.member].of[0], steps_[p.member].of[0] + kAxes, p.outer);
  }
  return cut;
}

int Finder::grow(int begin) {
  chain_ = Chain();
  chain_.begin = begin;
  chain_.level = steps_[begin].level;
  chain_.line = plan_.walk.n > 0;
  values_.clear();
  lines_.clear();
  temporaries_ = instructions_ = 0;
  const int n = static_cast<int>(plan_.members.size());
  const bool in_round = begin > 0 && !begins_round(begin);  // in the midst of it
  int m = begin;
  for (; m < n; ++m) {
    if (instructions_ >= (in_round ? 2 : kRound) && begins_round(m)) break;
    if (plan_.members[m].role == Member::NOTHING) continue;
    if (steps_[m].level != chain_.level || !stage_.instrs[m]->kernel->code || !add(m)) break;
  }
  chain_.end = m;
  const bool turned = std::any_of(chain_.places.begin(), chain_.places.end(), [](const Place& p) { return p.turn >= 0; });
  if (instructions_ < (turned ? 1 : 2)) return begin + 1;
  const uint32_t apart = read_turned();
  // What is written: memory, and temporaries that somebody needs later.
  std::vector<std::string> outputs;
  for (const Value& v : values_) {
    if (!v.written || !outlives(v, m)) continue;
    const Member& member = plan_.members[v.member];
    const bool memory = operand_in_memory(member, v.op);
    const int p = place(v.member, v.op, true);
    outputs.push_back(v.name + ":a" + std::to_string(p));
    chain_.places[p].sum = v.sum;
    bool read = v.place >= 0 || (v.sum && chain_.sums == Sums::COLUMNS);  // what is there is added to
    for (int i = 0; i < p && !memory; ++i)  // scratch that somebody else had until now
      read |= plan_.where(chain_.places[i]) == member.where[v.op];
    if (read) chain_.places[p].kept = 0;  // found below
  }
  if (outputs.empty()) return m;  // nobody will ever see it
  chain_.operands = static_cast<int>(chain_.places.size());
  for (int i = 0; i < chain_.operands; ++i) {
    if (chain_.places[i].kept < 0) continue;
    const int t = place(chain_.places[i].member, chain_.places[i].op, true);
    if (t < 0) return begin + 1;
    chain_.places[i].target = t;
    chain_.places[t].sum = chain_.places[i].sum;
  }
  const int count = static_cast<int>(chain_.places.size());
  npy_intp steps[kPlaces][kAxes] = {};
  plan_.scratch = base_;
  for (int i = 0; i < count; ++i) {
    Place& p = chain_.places[i];
    const npy_intp item = info(stage_.instrs[p.member]->kernel->dtypes[p.op]).size;
    std::copy(steps_[p.member].of[p.op], steps_[p.member].of[p.op] + kAxes, steps[i]);
    const bool kept = p.kept >= 0;
    if (kept) p.kept = plan_.scratch_for(chain_.level, item);
    if (chain_.line && (kept || plan_.where(p) >= 0)) plan_.walk.lie_in_a_row(item, steps[i]);
    else if (kept && !(p.sum && chain_.sums == Sums::COLUMNS))  // columns lie in a row, wherever
      plan_.scratch_steps(chain_.level - p.sum, item, steps[i]);
  }
  most_ = std::max(most_, plan_.scratch);
  switch (chain_.sums) {
    case Sums::PIECES: chain_.nest.set_row(chain_.level - 1, count, steps); break;
    case Sums::ROWS:
      chain_.nest.set(plan_.axes, plan_.cut, chain_.level - 1, count, steps);
      chain_.nest.append(plan_.axes.shape[chain_.level - 1], chain_.level - 1, count, steps);
      break;
    case Sums::COLUMNS: {
      const int sum = first_sum();
      chain_.nest.set(plan_.axes, plan_.cut, chain_.level, count, steps);
      chain_.nest.still_last(sum, count);
      if (chain_.nest.n < 2 || chain_.nest.strides[sum][chain_.nest.n - 2] != 0) return begin + 1;
      break;
    }
    case Sums::NONE:
      if (chain_.line) {
        const Axes& walk = plan_.walk;
        chain_.nest.n = 0;
        for (int a = walk.n - 2; a < walk.n; ++a) chain_.nest.append(walk.shape[a], a, count, steps);
        break;
      }
      chain_.nest.set(plan_.axes, plan_.cut, chain_.level, count, steps, apart);
      chain_.nest.lengthen(count, plan_.length, 8);
  }
  const int inner = chain_.nest.n - 1;
  std::string operands;
  for (int i = 0; i < chain_.operands; ++i) {
    const Place& p = chain_.places[i];
    const DtypeInfo& d = info(stage_.instrs[p.member]->kernel->dtypes[p.op]);
    const npy_intp step = chain_.nest.strides[i][inner];
    if (i) operands += ',';
    operands += d.code;
    operands += p.written ? " w " : " r ";
    const npy_intp* const all = chain_.nest.strides[i];
    const bool still = std::all_of(all, all + chain_.nest.n, [](npy_intp s) { return s == 0; });
    operands += p.sum ? letter_of(chain_.sums) : still ? 'c' : step == 0 ? '1' : step == d.size ? 'd' : 's';
  }
  std::string text = std::to_string(chain_.nest.n) + '|' + operands + '|';
  for (size_t i = 0; i < lines_.size(); ++i) text += (i ? "," : "") + lines_[i];
  text += '|';
  for (size_t i = 0; i < outputs.size(); ++i) text += (i ? "," : "") + outputs[i];
  chain_.loop = tier().find(text);
  if (chain_.loop) plan_.chains.push_back(chain_);
  return m;
}

}  // namespace

void find_chains(Plan& plan, const Stage& stage, const std::vector<MemberSteps>& steps) {
  Finder finder(plan, stage, steps);
  const int n = static_cast<int>(plan.members.size());
  for (int m = 0; m < n;) {
    const Member::Role role = plan.members[m].role;
    const bool begins = steps[m].level >= 0 && (role == Member::MAP || role == Member::WALK) && stage.instrs[m]->kernel->code;
    m = begins ? finder.grow(m) : m + 1;
  }
  plan.scratch = finder.scratch();
}

}  // namespace lazyarray
