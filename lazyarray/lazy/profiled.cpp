// What a profile tells of instructions: their names and lines, the bytes they move, the memory in use.
#include "lazy/profiled.h"

namespace lazyarray {

int64_t moved_by(Instr& in) {
  int64_t bytes = 0;
  if (in.py) {
    for (const View& v : in.py->views) bytes += v.layout.size() * v.itemsize();
    return bytes;
  }
  if (in.kernel->kind == Kernel::GUFUNC) {
    for (int k = 0; k < in.nin; ++k)
      if (const Chunk* c = in.ops[k].chunk) {
        const int64_t all = static_cast<int64_t>(c->nbytes);
        bytes += in.kernel->gathers ? std::min(all, in.bytes) : all;
      }
    return bytes + in.bytes;
  }
  for (int k = 0; k < in.nop; ++k)
    if (in.ops[k].chunk) bytes += reach(in, k);
  return bytes;
}

const char* device_name(Device d) {
  if (d == Device{Device::CPU, 0}) return "cpu(0)";
  return intern_name(d.text());
}

void profile_stage(ProfileNote& to, const std::vector<Instr*>& instrs, size_t begin, size_t end,
                 uint16_t stage, const FusedPlan* plan) {
  for (size_t i = begin; i < end; ++i) {
    Instr& in = *instrs[i];
    const bool in_scratch = plan && in.nop > in.nin && !plan->in_memory(i - begin, in.nin);
    to.steps.push_back({in.kernel->shown(), in.site, stage,
                        plan != nullptr, in_scratch});
    if (!plan) to.event.moved += moved_by(in);
  }
  if (plan) to.event.moved += plan->moved;
}

void profile_memory(Engine& engine, const std::vector<Instr*>& instrs) {
  if (!engine.profile().on(Profile::COUNTERS)) return;
  const Instr& in = *instrs[0];
  for (int k = in.nop; k-- > 0;)
    if (const Chunk* c = in.ops[k].chunk) {
      const uint64_t in_use = c->pool->stats().in_use;
      if (!engine.profile().changed(c->pool, in_use)) return;
      engine.profile().add(ProfileSample{kMemoryInUse, device_name(c->device), engine.now(),
                                     static_cast<double>(in_use)});
      return;
    }
}

}  // namespace lazyarray
