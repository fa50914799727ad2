// Report: what became of a segment, for la.explain() and LAZYARRAY_DEBUG=plan.
#include "lazy/report.h"

namespace lazyarray {

Report::Stage::Stage(const std::vector<Instr*>& instrs, size_t begin, size_t end, std::shared_ptr<const Plan> p,
          std::shared_ptr<const cuda::GpuPlan> g)
    : plan(std::move(p)), gpu(std::move(g)) {
  for (size_t i = begin; i < end; ++i) {
    Instr& in = *instrs[i];
    if (in.nop == in.nin) continue;
    const Chunk* out = in.ops[in.nin].chunk;
    Note n{in.kernel->name, in.kernel->kind == Kernel::PYTHON ? -1 : in.kernel->dtypes[in.nin],
           out->temporary && !(gpu && gpu->in_memory[i - begin][in.nin]), in.kernel->kind == Kernel::REDUCE, {}};
    if (in.kernel->kind != Kernel::PYTHON) n.shape.assign(in.shape(), in.shape() + in.ndim);
    for (int a = 0; a < in.ncore && in.kernel->kind == Kernel::GUFUNC; ++a) n.shape.push_back(in.core[a]);
    notes.push_back(std::move(n));
    if (!plan && !gpu && in.kernel->kind != Kernel::PYTHON)
      for (int k = 0; k < in.nop; ++k)
        if (in.ops[k].chunk) moved += reach(in, k);
  }
  if (plan) moved = plan->moved;
  if (gpu) moved = gpu->moved;
}

void Report::total(const std::vector<Instr*>& segment, int mark) {
  for (Instr* in : segment) {
    if (in->kernel->kind == Kernel::PYTHON) continue;
    for (int k = 0; k < in->nop; ++k) {
      Chunk* c = in->ops[k].chunk;
      if (!c) continue;
      const int64_t bytes = reach(*in, k);
      unfused += bytes;
      if (c->use_group == mark) continue;
      c->use_group = mark;
      if (!in->overwritten(k) || c->handles.load(std::memory_order_relaxed) > 0) least += bytes;
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
      if (st.fused()) temporaries += static_cast<size_t>(st.plan ? st.plan->temporaries : st.gpu->temporaries);
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
  return (lines[begin].device.is_gpu() ? "launched in " : "") + time(total) + (end - begin > 1 ? " in all" : "") +
         (threads ? ", on " + count(static_cast<size_t>(threads), "thread") : "");
}

std::string Report::stages(const Line& l) {
  std::string s;
  for (const Stage& st : l.stages) stage(s, st);
  return s;
}

void Report::stage(std::string& s, const Stage& st) {
  if (st.plan) {
    const Plan& p = *st.plan;
    s += "  fused pass over " + shape(p.axes.shape, p.axes.n) + ": " +
         count(static_cast<size_t>(p.tiles), "tile") + " in " +
         count(static_cast<size_t>(p.tasks), "task") + ", " + std::to_string(p.scratch) +
         " bytes of scratch; moves " + bytes(p.moved) + "\n";
  }
  if (st.gpu)
    s += "  fused into " + count(st.gpu->launches.size(), "kernel") + "; moves " + bytes(st.moved) + "\n";
  size_t shown = 0;
  for (const Note& n : st.notes) {
    if (++shown > 40) {
      s += "    ... and " + std::to_string(st.notes.size() - 40) + " more\n";
      break;
    }
    s += st.fused() ? "    " : "  ";
    s += n.name[0] ? n.name : "copy";
    if (n.dtype >= 0) {
      s += std::string(" ") + dtype_name(n.dtype);
      s += shape(n.shape.data(), static_cast<int>(n.shape.size()));
      if (n.temporary) s += st.gpu ? "  in registers" : "  in scratch";
    } else {
      s += "  (calls NumPy, with the GIL)";
    }
    s += "\n";
  }
}

const char* Report::dtype_name(int d) {
  static const char* const names[] = {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                                      "int64", "uint64", "longlong", "ulonglong", "float16", "float32",
                                      "float64", "longdouble", "complex64", "complex128", "clongdouble"};
  return names[d];
}

std::string Report::shape(const npy_intp* s, int n) {
  std::string out = "(";
  for (int i = 0; i < n; ++i) out += (i ? ", " : "") + std::to_string(s[i]);
  return out + ")";
}

std::string Report::bytes(int64_t n) {
  char b[32];
  if (n < 10000) std::snprintf(b, sizeof b, "%lld B", static_cast<long long>(n));
  else if (n < 10000000) std::snprintf(b, sizeof b, "%.0f kB", static_cast<double>(n) / 1e3);
  else std::snprintf(b, sizeof b, "%.0f MB", static_cast<double>(n) / 1e6);
  return b;
}

std::string Report::time(int64_t ns) {
  char b[32];
  if (ns < 1000000) std::snprintf(b, sizeof b, "%.0f us", static_cast<double>(ns) / 1e3);
  else std::snprintf(b, sizeof b, "%.2f ms", static_cast<double>(ns) / 1e6);
  return b;
}

}  // namespace lazyarray
