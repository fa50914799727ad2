// Report: what became of a segment, for la.explain() and LAZYARRAY_DEBUG=plan.
#include "lazy/report.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "lazy/words.h"

namespace lazyarray {

using words::bytes;
using words::count;

Report::Report(size_t instructions, size_t operators) : lines(operators), instructions_(instructions) {
  notes_.reserve(instructions);
  lengths_.reserve(2 * instructions);
  uses_.reserve(3 * instructions);
}

void Report::note(Stage& stage, const std::vector<Instr*>& instrs, size_t begin, size_t end,
                  std::shared_ptr<const FusedPlan> plan) {
  stage.begin = notes_.size();
  for (size_t i = begin; i < end; ++i) {
    Instr& in = *instrs[i];
    const bool python = in.kernel->kind == Kernel::PYTHON, shown = in.nop > in.nin;
    if (!python) {
      lengths_.insert(lengths_.end(), in.shape(), in.shape() + in.ndim);
      if (in.kernel->kind == Kernel::GUFUNC) lengths_.insert(lengths_.end(), in.core, in.core + in.ncore);
      for (int k = 0; k < in.nop; ++k) {
        Chunk* const c = in.ops[k].chunk;
        if (!c) continue;
        const bool inside = in.overwritten(k) && c->handles.load(std::memory_order_relaxed) == 0;
        uses_.push_back({c, in.ops[k].offset, reach(in, k), inside ? 0 : static_cast<int64_t>(c->nbytes)});
      }
    }
    const bool temporary = shown && is_temporary(in.ops[in.nin].chunk) && !(plan && plan->in_memory(i - begin, in.nin));
    notes_.push_back({in.kernel->name, python || !shown ? -1 : in.kernel->dtypes[in.nin], shown, temporary,
                      lengths_.size(), uses_.size()});
  }
  stage.end = notes_.size();
  stage.plan = std::move(plan);
}

Report::Moved Report::moved() const {
  Moved all;
  std::map<const void*, int64_t> left;                        // of an array's bytes
  std::set<std::tuple<const void*, npy_intp, int64_t>> seen;  // views of it, by where they begin and what they reach
  for (const Use& use : uses_) {
    all.unfused += use.reached;
    int64_t& more = left.try_emplace(use.chunk, use.all).first->second;
    if (!seen.emplace(use.chunk, use.offset, use.reached).second) continue;
    all.least += std::min(more, use.reached);
    more -= std::min(more, use.reached);
  }
  return all;
}

int64_t Report::moved(const Stage& st) const {
  if (st.plan) return st.plan->moved;
  int64_t bytes = 0;
  for (size_t i = first_use(st.begin); i < first_use(st.end); ++i) bytes += uses_[i].reached;
  return bytes;
}

std::string Report::text() const {
  std::string s;
  size_t temporaries = 0;
  int64_t moves = 0;
  const Moved all = moved();
  for (const Line& l : lines)
    for (const Stage& st : l.stages) {
      moves += moved(st);
      if (st.plan) temporaries += static_cast<size_t>(st.plan->temporaries);
    }
  s += "segment: " + count(instructions_, "instruction") + " in " + count(lines.size(), "operator") +
       ", " + count(temporaries, "temporary", "temporaries") + " never materialised\n";
  s += "memory moved: " + bytes(moves) + "; least possible " + bytes(all.least) + "; one op at a time " +
       bytes(all.unfused) + "\n";
  for (size_t i = 0; i < lines.size();) {
    // A loop's steps give one operator after the other that are alike.
    const std::string body = stages(lines[i]);
    size_t end = i + 1;
    while (end < lines.size() && lines[end].device == lines[i].device && stages(lines[end]) == body)
      ++end;
    s += end - i == 1 ? "operator " + std::to_string(i + 1)
                      : "operators " + std::to_string(i + 1) + " to " + std::to_string(end) + ", each";
    s += " on " + lines[i].device.text() + ": " + when(i, end) + "\n" + body;
    i = end;
  }
  return s;
}

std::string Report::when(size_t begin, size_t end) const {
  int64_t total = 0;
  int threads = 0;
  for (size_t i = begin; i < end; ++i) {
    const int64_t begun = lines[i].begun, ended = lines[i].ended;
    if (begun == 0) return "not begun";
    if (ended == 0) return "running";
    total += ended - begun;
    for (const Stage& st : lines[i].stages) threads = std::max<int>(threads, st.threads);
  }
  return (lines[begin].device.has_streams() ? "launched in " : "") + words::time(total) + (end - begin > 1 ? " in all" : "") +
         (threads ? ", on " + count(static_cast<size_t>(threads), "thread") : "");
}

std::string Report::stages(const Line& l) const {
  std::string s;
  for (const Stage& st : l.stages) stage(s, st);
  return s;
}

void Report::stage(std::string& s, const Stage& st) const {
  if (st.plan) s += "  " + st.plan->text() + "; moves " + bytes(moved(st)) + "\n";
  const auto all = std::count_if(notes_.begin() + static_cast<ptrdiff_t>(st.begin), notes_.begin() + static_cast<ptrdiff_t>(st.end),
                                 [](const Note& n) { return n.shown; });
  int shown = 0;
  for (size_t i = st.begin; i < st.end; ++i) {
    const Note& n = notes_[i];
    if (!n.shown) continue;
    if (++shown > 40) {
      s += "    ... and " + std::to_string(all - 40) + " more\n";
      break;
    }
    s += st.plan ? "    " : "  ";
    s += n.name[0] ? n.name : "copy";
    if (n.dtype >= 0) {
      const size_t lengths = i ? notes_[i - 1].lengths : 0;
      s += std::string(" ") + words::dtype_name(n.dtype);
      s += words::shape(lengths_.data() + lengths, static_cast<int>(n.lengths - lengths));
      if (n.temporary) s += std::string("  ") + (st.plan ? st.plan->place() : "");
    } else {
      s += "  (calls NumPy, with the GIL)";
    }
    s += "\n";
  }
}

}  // namespace lazyarray
