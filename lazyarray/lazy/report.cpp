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

Report::Stage::Stage(const std::vector<Instr*>& instrs, size_t begin, size_t end,
                     std::shared_ptr<const FusedPlan> p)
    : plan(std::move(p)) {
  for (size_t i = begin; i < end; ++i) {
    Instr& in = *instrs[i];
    if (in.nop == in.nin) continue;
    const Chunk* out = in.ops[in.nin].chunk;
    Note n{in.kernel->name, in.kernel->kind == Kernel::PYTHON ? -1 : in.kernel->dtypes[in.nin],
           is_temporary(out) && !(plan && plan->in_memory(i - begin, in.nin)), in.kernel->kind == Kernel::REDUCE, {}};
    if (in.kernel->kind != Kernel::PYTHON) n.shape.assign(in.shape(), in.shape() + in.ndim);
    for (int a = 0; a < in.ncore && in.kernel->kind == Kernel::GUFUNC; ++a) n.shape.push_back(in.core[a]);
    notes.push_back(std::move(n));
    if (!plan && in.kernel->kind != Kernel::PYTHON)
      for (int k = 0; k < in.nop; ++k)
        if (in.ops[k].chunk) moved += reach(in, k);
  }
  if (plan) moved = plan->moved;
}

void Report::total(const std::vector<Instr*>& segment) {
  std::map<const Chunk*, int64_t> left;                        // of an array's bytes
  std::set<std::tuple<const Chunk*, npy_intp, int64_t>> seen;  // views of it, by where they begin and what they reach
  for (Instr* in : segment) {
    if (in->kernel->kind == Kernel::PYTHON) continue;
    for (int k = 0; k < in->nop; ++k) {
      Chunk* c = in->ops[k].chunk;
      if (!c) continue;
      const int64_t reached = reach(*in, k);
      unfused += reached;
      const bool inside = in->overwritten(k) && c->handles.load(std::memory_order_relaxed) == 0;
      int64_t& more = left.try_emplace(c, inside ? 0 : static_cast<int64_t>(c->nbytes)).first->second;
      if (!seen.emplace(c, in->ops[k].offset, reached).second) continue;
      least += std::min(more, reached);
      more -= std::min(more, reached);
    }
  }
}

std::string Report::text() const {
  std::string s;
  size_t temporaries = 0;
  int64_t moved = 0;
  for (const Line& l : lines)
    for (const Stage& st : l.stages) {
      moved += st.moved;
      if (st.plan) temporaries += static_cast<size_t>(st.plan->temporaries);
    }
  s += "segment: " + count(instructions, "instruction") + " in " + count(lines.size(), "operator") +
       ", " + count(temporaries, "temporary", "temporaries") + " never materialised\n";
  s += "memory moved: " + bytes(moved) + "; least possible " + bytes(least) + "; one op at a time " +
       bytes(unfused) + "\n";
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

std::string Report::stages(const Line& l) {
  std::string s;
  for (const Stage& st : l.stages) stage(s, st);
  return s;
}

void Report::stage(std::string& s, const Stage& st) {
  if (st.plan) s += "  " + st.plan->text() + "; moves " + bytes(st.moved) + "\n";
  size_t shown = 0;
  for (const Note& n : st.notes) {
    if (++shown > 40) {
      s += "    ... and " + std::to_string(st.notes.size() - 40) + " more\n";
      break;
    }
    s += st.plan ? "    " : "  ";
    s += n.name[0] ? n.name : "copy";
    if (n.dtype >= 0) {
      s += std::string(" ") + words::dtype_name(n.dtype);
      s += words::shape(n.shape.data(), static_cast<int>(n.shape.size()));
      if (n.temporary) s += std::string("  ") + (st.plan ? st.plan->place() : "");
    } else {
      s += "  (calls NumPy, with the GIL)";
    }
    s += "\n";
  }
}





}  // namespace lazyarray