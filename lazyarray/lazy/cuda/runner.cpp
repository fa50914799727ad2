// Runner: runs instructions and fused stages on a GPU, on the stream of the op that they are part of.
#include "lazy/cuda/runner.h"

#include "lazy/recorder.h"

namespace lazyarray::cuda {

void Runner::serve(Recorder& recorder) {
  recorder.store()->make_pool = [](Device d) -> MemoryPool* {
    if (is_gpu(d)) return new GpuPool(d.id);
    if (d.kind == Device::CPU_PINNED) return new PinnedPool;
    return new MemoryPool;
  };
  recorder.executor.backends[Device::GPU] = this;
  recorder.engine()->set_streams(new CudaStreams);
}

// All but extended precision, where that is more than double.
bool Runner::holds(int dtype) const {
  const DtypeInfo& d = info(dtype);
  return d.size <= 8 || (d.code != 'g' && d.code != 'G');
}

std::map<std::string, uint64_t> Runner::hosted() {
  std::lock_guard<std::mutex> g(mu_);
  return hosted_;
}

// What is pending has no memory yet, and most of it, temporaries, never will.
int64_t Runner::most_pending(const Device& d) const {
  const Gpu* gpu = gpus().find(d.id);
  return gpu ? static_cast<int64_t>(gpu->memory / 4) : 0;
}

void Runner::price(Instr& in) const {
  in.wide = false;  // it takes no core
  if (in.kernel->kind == Kernel::TRANSFER) return;
  const double speed = in.kernel->product ? policy_.gpu_product_speed : policy_.gpu_speed;
  in.cost_ns = std::max(policy_.launch_ns, in.cost_ns / speed);
}

int Runner::pass(Executor& executor, const FusedPlan& plan, Instr* const* instrs, size_t n, Operator*) try {
  Errors errors(executor.engine());
  bool healthy = true;
  for (size_t m = 0; m < n && healthy; ++m) {
    healthy = !errors.inherited(*instrs[m]);
    errors.settle(*instrs[m], nullptr);
  }
  bool ran = false;
  Error* error = healthy ? fused(static_cast<const GpuPlan&>(plan), instrs, n, &ran) : nullptr;
  if (!ran && !error) {
    for (size_t m = 0; m < n; ++m) executor.step(*instrs[m]);
    return 0;
  }
  if (error) {
    publish(executor.engine(), *instrs[0], error);
    errors.keep(error);
    for (size_t m = 0; m < n; ++m) errors.settle(*instrs[m], error);
  }
  errors.apply();
  return 0;
} catch (const std::bad_alloc&) {
  for (size_t m = 0; m < n; ++m) starve(executor.engine(), *instrs[m]);
  return 0;
}

Error* Runner::run(Instr& in, const Crew*) {
  Error* error = nullptr;
  Instr* one = &in;
  Stream* stream = stream_of(in.device(), &error);
  if (!stream) return error;
  for (int k = 0; k < in.nop && !error; ++k)
    if (in.ops[k].chunk) error = give_memory(in.ops[k].chunk, stream->gpu);
  // Also if it fails: what was left on the memory that it got is over with this op's event.
  note(&one, 1);
  if (error) return error;
  const Kernel& kernel = *in.kernel;
  if (kernel.kind == Kernel::TRANSFER) {
    error = launch_collected(*stream);
    return error ? error : transfer(in, *stream);
  }
  if (kernel.kind == Kernel::ELEMENTWISE || kernel.kind == Kernel::REDUCE) {
    if (Error* e = refusal(in)) return e;
    bool ran = !asks_values(in);
    if (ran) {
      if (Error* e = launch(*planner.plan(&one, 1, nullptr), &one, *stream, &ran)) return e;
      if (ran) return nullptr;
    }
  } else {
    Product product;
    if (is_product(in) && blas.describe(in, product)) {
      if (product.count == 0) return nullptr;
      Launches* const to = collected();
      if (!to) return blas.run(product, *stream);
      if (Error* e = blas.open(*stream)) return e;  // now: Graphs::give() holds a lock
      to->add(product);
      return nullptr;
    }
    bool ran = false;
    if (Error* e = launch_collected(*stream)) return e;
    if (Error* e = hooks.library(in, stream->gpu->id, stream->raw, &ran)) return e;
    if (ran) return nullptr;
  }
  if (Error* e = launch_collected(*stream)) return e;
  {
    std::lock_guard<std::mutex> g(mu_);
    hosted_[kernel.shown()]++;
  }
  return Hosted(in, *stream, hooks.host_chunk).run(host_);
}

Error* Runner::fused(const GpuPlan& plan, Instr* const* instrs, size_t n, bool* ran) {
  *ran = false;
  if (!plan.possible) return nullptr;
  Error* error = nullptr;
  for (size_t m = 0; m < n; ++m)
    if (asks_values(*instrs[m])) return nullptr;
  for (size_t m = 0; m < n; ++m)
    if (Error* e = refusal(*instrs[m])) {
      e->unref();  // alone, it meets it again
      return nullptr;
    }
  Stream* stream = stream_of(instrs[0]->device(), &error);
  for (size_t m = 0; m < n && !error; ++m)
    for (int k = 0; k < instrs[m]->nop && !error; ++k)
      if (plan.memory[m][k]) error = give_memory(instrs[m]->ops[k].chunk, stream->gpu);
  note(instrs, n);
  if (!error) return launch(plan, instrs, *stream, ran);
  error->unref();  // alone, each meets its own
  return nullptr;
}

Stream* Runner::stream_of(Device d, Error** error) {
  Gpu* gpu = gpus().find(d.id);
  if (!gpu) {
    *error = new Error(Error::RUNTIME, "gpu(" + std::to_string(d.id) + ") is not open in this process");
    return nullptr;
  }
  return stream_on(gpu, error);
}

Error* Runner::give_memory(Chunk* c, Gpu* gpu) {
  Error* e = allocate(c);
  Error* failure = e ? gpu->failure() : nullptr;  // then it isn't for want of memory
  if (!failure) return e;
  e->unref();
  return failure;
}

bool Runner::asks_values(const Instr& in) {
  return in.kernel->kind == Kernel::ELEMENTWISE && in.kernel->check && in.ops[in.kernel->checked].chunk;
}

Error* Runner::refusal(Instr& in) {
  const Kernel& kernel = *in.kernel;
  if (kernel.kind != Kernel::ELEMENTWISE || !kernel.check || in.ops[kernel.checked].chunk || in.size() == 0)
    return nullptr;
  int constant = 0;  // of those before it
  for (int k = 0; k < kernel.checked; ++k) constant += !in.ops[k].chunk;
  Block one{};
  one.nop = in.nop;
  one.ptrs[kernel.checked] = in.constants[constant];
  return kernel.check(in, one);
}

void Runner::note(Instr* const* instrs, size_t n) {
  ThreadStreams& mine = thread_streams();
  if (mine.running.empty()) return;
  ThreadStreams::Running& now = mine.running.back();
  now.launched = true;
  for (size_t m = 0; m < n; ++m)
    for (int k = instrs[m]->nin; k < instrs[m]->nop; ++k) {
      Chunk* c = instrs[m]->ops[k].chunk;
      // One that the op doesn't name as a variable (Scheduler::push_part) lives in it alone.
      if (!c || !c->data || c->granted_write) continue;
      c->ref();
      now.temporaries.push_back(c);
    }
}

Error* Runner::launch(const GpuPlan& plan, Instr* const* instrs, const Stream& stream, bool* ran) {
  *ran = false;
  if (!plan.possible) return nullptr;
  const int gpu = stream.gpu->id;
  std::vector<Functions> functions;
  for (const auto& l : plan.launches) {
    Functions f = l->functions(gpu);
    if (!f.known) {
      if (Error* e = hooks.compile(*l, gpu, &f)) return e;
      f.known = true;
      l->set_functions(gpu, f);
    }
    if (!f.kernel) return nullptr;
    functions.push_back(f);
  }
  MemoryPool* const pool = instrs[0]->ops[instrs[0]->nin].chunk->pool;
  std::vector<Workspace> spaces(plan.launches.size());
  Error* error = nullptr;
  for (size_t i = 0; i < spaces.size() && !error; ++i) {
    const Launch& l = *plan.launches[i];
    if (l.splits <= 1 || l.n_kept == 0) continue;
    spaces[i].bytes = static_cast<size_t>(l.reductions * l.splits * l.n_kept) * 16;
    spaces[i].data = pool->allocate(spaces[i].bytes);
    if (!spaces[i].data)
      error = new Error(Error::MEMORY, "unable to allocate " + std::to_string(spaces[i].bytes) +
                                           " bytes for the pieces of a reduction");
  }
  if (!error) {
    Entered here(*stream.gpu);
    *ran = true;
    for (size_t i = 0; i < spaces.size() && !error; ++i)
      error = launch(*plan.launches[i], functions[i], instrs, stream, spaces[i].data);
  }
  Launches* const later = error ? nullptr : collected();
  for (const Workspace& w : spaces)
    if (w.data && later) {
      later->spaces.push_back(w);
      later->pool = pool;
    }
  if (!later) error = let_go(spaces, *pool, stream, error);
  return error;
}

Error* Runner::let_go(const std::vector<Workspace>& spaces, MemoryPool& pool, const Stream& stream, Error* error) {
  for (const Workspace& w : spaces) {
    if (!w.data) continue;
    Error* late = nullptr;
    std::vector<Event*> uses;
    if (Event* e = stream.gpu->record(stream, &late)) uses.push_back(e);
    pool.release_after(w.data, w.bytes, std::move(uses));
    if (late && error) late->unref();
    else if (late) error = late;
  }
  return error;
}

Error* Runner::launch(const Launch& l, const Functions& f, Instr* const* instrs, const Stream& stream,
                      char* workspace) {
  if (l.n_kept == 0 || (l.reductions == 0 && l.n_reduced == 0)) return nullptr;
  std::vector<int64_t> words(l.words);
  for (const Operand& o : l.operands) {
    const auto& op = instrs[o.member]->ops[o.op];
    words[o.word] = reinterpret_cast<int64_t>(op.chunk->data + op.offset);
  }
  for (const Constant& c : l.constants)
    std::memcpy(&words[c.word], instrs[c.member]->constants[c.index],
                std::min<size_t>(16, info(c.dtype).size));
  if (workspace) words[3] = reinterpret_cast<int64_t>(workspace);
  const auto give = [&](const Call& call) -> Error* {
    launched.fetch_add(1, std::memory_order_relaxed);
    if (Launches* to = collected()) return to->add(call, words.data(), words.size()), nullptr;
    return call.on(stream, words.data());
  };
  const unsigned shared = l.reductions ? l.block_x * l.block_y * 16 : 0;
  Error* error = give({f.kernel, static_cast<unsigned>(l.grid_x), static_cast<unsigned>(l.splits), l.block_x, l.block_y,
                       shared});
  if (error || !workspace) return error;
  unsigned team = 1;
  while (team < 256 && team < l.splits) team *= 2;
  return give({f.combine, static_cast<unsigned>(l.n_kept), 1, team, 1, team * 16});
}

Launches* Runner::collected() {
  ThreadStreams& mine = thread_streams();
  return mine.running.empty() ? nullptr : mine.running.back().collected;
}

Error* Runner::launch_collected(const Stream& stream) {
  Launches* to = collected();
  if (!to) return nullptr;
  thread_streams().running.back().collected = nullptr;
  to->parted = true;
  Error* error = to->play(stream, blas);
  to->clear();
  return error;
}

void Runner::again(Executor& executor, Kept& kept, Instr* const* instrs, size_t n, const std::function<void()>& each) {
  ThreadStreams& mine = thread_streams();
  if (mine.running.empty() || !mine.running.back().stream) return each();
  const Stream& stream = *mine.running.back().stream;
  Launches launches;
  mine.running.back().collected = &launches;
  each();
  mine.running.back().collected = nullptr;
  Error* error = nullptr;
  if (launches.worth_keeping()) error = static_cast<KeptLaunches&>(kept).give(launches, stream, blas);
  else if (launches.size()) error = launches.play(stream, blas);
  if (launches.pool) error = let_go(launches.spaces, *launches.pool, stream, error);
  if (!error) return;
  // Which of them it was can't be told, and a device that fails fails for all.
  publish(executor.engine(), *instrs[0], error);
  for (size_t m = 0; m < n; ++m)
    for (int k = instrs[m]->nin; k < instrs[m]->nop; ++k)
      if (Chunk* c = instrs[m]->ops[k].chunk; c && !lazy(c)->resource) executor.engine()->set_error(c, error);
  error->unref();
}

}  // namespace lazyarray::cuda
