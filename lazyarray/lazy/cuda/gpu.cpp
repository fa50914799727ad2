// Gpu and Stream: the open CUDA devices, each worker thread's stream on them, and what orders streams.
#include "lazy/cuda/gpu.h"

namespace lazyarray::cuda {

std::atomic<bool>& forked() {
  static auto* f = new std::atomic<bool>(false);
  return *f;
}

Error* after_fork() {
  return new Error(Error::RUNTIME,
                   "CUDA can't be used in a process that was forked after a GPU was opened: start it another "
                   "way (multiprocessing's \"spawn\"), or open the GPU there alone");
}

std::string Gpu::open() {
  int device = 0, least = 0;
  if (const int r = driver().DeviceGet(&device, id)) return driver().what("cuDeviceGet", r);
  if (const int r = driver().PrimaryRetain(&context, device))
    return driver().what("cuDevicePrimaryCtxRetain", r);
  if (const int r = driver().DeviceGetAttribute(&multiprocessors, kMultiprocessors, device))
    return driver().what("cuDeviceGetAttribute", r);
  Entered here(*this);
  size_t free = 0;
  if (const int r = driver().GetInfo(&free, &memory)) return driver().what("cuMemGetInfo", r);
  if (const int r = driver().PriorityRange(&least, &greatest_))
    return driver().what("cuCtxGetStreamPriorityRange", r);
  return "";
}

Stream* Gpu::take(bool priority, Error** error) {
  if (forked()) {
    *error = after_fork();
    return nullptr;
  }
  std::lock_guard<std::mutex> g(mu_);
  auto& free = priority ? free_first_ : free_;
  if (!free.empty()) {
    Stream* s = free.back();
    free.pop_back();
    return s;
  }
  Entered here(*this);
  Stream_t raw = nullptr;
  if (const int r = driver().StreamCreate(&raw, kNonBlocking, priority ? greatest_ : 0)) {
    *error = driver().check("cuStreamCreateWithPriority", r);
    return nullptr;
  }
  static std::atomic<uint32_t> numbers{0};
  streams_.emplace_back(new Stream{this, raw, ++numbers});
  return streams_.back().get();
}

void Gpu::give_back(Stream* s, bool priority) {
  if (forked()) return;
  std::lock_guard<std::mutex> g(mu_);
  (priority ? free_first_ : free_).push_back(s);
}

Event* Gpu::record(const Stream& s, Error** error) {
  if (forked()) {
    *error = after_fork();
    return nullptr;
  }
  Event_t raw = nullptr;
  {
    std::lock_guard<std::mutex> g(mu_);
    if (!events_.empty()) {
      raw = events_.back();
      events_.pop_back();
    }
  }
  Entered here(*this);
  const char* call = "cuEventCreate";
  int r = raw ? kSuccess : driver().EventCreate(&raw, kDisableTiming);
  if (r == kSuccess) {
    call = "cuEventRecord";
    std::lock_guard<std::mutex> g(s.mu);
    r = driver().EventRecord(raw, s.raw);
    if (r == kSuccess) return new CudaEvent(this, s, raw);
  }
  if (raw) recycle(raw);
  driver().StreamSynchronize(s.raw);
  look();
  *error = driver().check(call, r);
  return nullptr;
}

void Gpu::recycle(Event_t raw) {
  std::lock_guard<std::mutex> g(mu_);
  events_.push_back(raw);
}

void Gpu::record_all(std::vector<Event*>& out, Error** error) {
  std::vector<Stream*> all;
  {
    std::lock_guard<std::mutex> g(mu_);
    for (auto& s : streams_) all.push_back(s.get());
  }
  for (Stream* s : all) {
    Error* failed = nullptr;
    if (Event* e = record(*s, &failed)) out.push_back(e);
    else if (*error) failed->unref();
    else *error = failed;
  }
}

Error* Gpu::synchronize() {
  if (forked()) return after_fork();
  std::lock_guard<std::mutex> g(capturing);
  Entered here(*this);
  const int r = driver().Synchronize();
  if (r) look();
  return driver().check("cuCtxSynchronize", r);
}

void Gpu::synchronize(const Stream& s) {
  if (forked()) return;
  Entered here(*this);
  driver().StreamSynchronize(s.raw);
}

void Gpu::fail(int code) {
  int none = 0;
  failure_.compare_exchange_strong(none, code);
}

void Gpu::look() {
  Entered here(*this);
  size_t free, total;
  const int r = driver().GetInfo(&free, &total);
  if (r && r != kOutOfMemory && r != kCaptureForbids) fail(r);
}

Error* Gpu::failure() const {
  const int code = failure_.load();
  return code ? driver().check("the device", code) : nullptr;
}

Gpu* Gpus::any() const {
  for (const auto& gpu : all_)
    if (Gpu* g = gpu.load(std::memory_order_acquire)) return g;
  return nullptr;
}

bool Gpus::failed() const {
  for (const auto& gpu : all_)
    if (const Gpu* g = gpu.load(std::memory_order_acquire); g && g->failed()) return true;
  return false;
}

std::string Gpus::open(int id) {
  if (id >= kMost) return "too many devices";
  if (find(id)) return "";
  static const int once = pthread_atfork(nullptr, nullptr, [] { forked() = true; });
  if (once) return "the process can't be watched for forks";
  std::unique_ptr<Gpu> gpu(new Gpu(id));
  std::string failure = gpu->open();
  if (!failure.empty()) return failure;
  for (int other = 0; other < kMost; ++other)
    if (Gpu* peer = find(other)) let_in(*gpu, *peer), let_in(*peer, *gpu);
  all_[id].store(gpu.release(), std::memory_order_release);
  return "";
}

void Gpus::let_in(const Gpu& to, const Gpu& from) {
  int can = 0;
  if (driver().CanAccessPeer(&can, to.id, from.id) || !can) return;
  Entered here(to);
  driver().EnablePeerAccess(from.context, 0);
}

Gpus& gpus() {
  static Gpus* g = new Gpus;
  return *g;
}

Stream* ThreadStreams::of(Gpu* gpu, bool priority, Error** error) {
  for (auto& [s, p] : mine_)
    if (s->gpu == gpu && p == priority) return s;
  Stream* s = gpu->take(priority, error);
  if (s) mine_.emplace_back(s, priority);
  return s;
}

ThreadStreams& thread_streams() {
  static thread_local ThreadStreams t;
  return t;
}

Stream* stream_on(Gpu* gpu, Error** error) {
  if (forked()) {
    *error = after_fork();
    return nullptr;
  }
  ThreadStreams& mine = thread_streams();
  if (!mine.running.empty())
    if (Stream* s = mine.running.back().stream; s && s->gpu == gpu) return s;
  return mine.of(gpu, false, error);
}

Error* CudaStreams::begin(Operator* op) {
  std::vector<Event*> before;
  for (const Use& u : op->uses)
    if (Footprint* f = u.var->footprint.load(std::memory_order_acquire)) f->before(u.write, before);
  Error* error = nullptr;
  Stream* stream = nullptr;
  if (forked()) {
    if (uses_cuda(op)) error = after_fork();
  } else if (is_gpu(op->device)) {
    if (Gpu* gpu = gpus().find(op->device.id))
      // What is launched elsewhere may take long: it has no stream that this thread computes on.
      stream = thread_streams().of(gpu, op->prop == Prop::GPU_PRIORITIZED || op->hands_over(), &error);
    if (stream) {
      error = gpu_failure(stream->gpu);
      Entered here(*stream->gpu);
      for (Event* e : before) {
        if (error || e->stream == stream->number || e->done()) continue;  // in the order of one stream
        error = driver().check("cuStreamWaitEvent",
                               driver().StreamWaitEvent(stream->raw, static_cast<CudaEvent*>(e)->raw, 0));
      }
    }
  }
  if (!stream && !error) wait(before, nullptr, nullptr, &error);
  // What a callable launches can't be seen. An op that only comes after others passes their order on.
  if (!error) {
    thread_streams().running.push_back({stream, !op->payload.native || !before.empty(), {}, nullptr});
    op->stream = stream;
  }
  for (Event* e : before) e->unref();
  return error;
}

Error* CudaStreams::end(Operator* op) {
  ThreadStreams::Running ran = left();
  Error* error = ran.stream && ran.launched ? note(op, *ran.stream, ran.temporaries) : nullptr;
  for (Chunk* c : ran.temporaries) c->unref();
  return error;
}

bool CudaStreams::wait(const std::vector<Event*>& events, bool (*poll)(void*), void* arg, Error** error) {
  using Clock = std::chrono::steady_clock;
  // A nap ends some 60 us late: after a millisecond that is little.
  constexpr Clock::duration kSpin = std::chrono::milliseconds(1), kPoll = std::chrono::milliseconds(25);
  const auto start = Clock::now();
  auto polled = start;
  for (Event* e : events)
    while (!e->done()) {
      const auto now = Clock::now();
      if (now - start < kSpin) {
        std::this_thread::yield();
        continue;
      }
      if (poll && now - polled > kPoll) {
        if (!poll(arg)) return false;
        polled = now;
      }
      std::this_thread::sleep_for(std::min<Clock::duration>((now - start) / 64, std::chrono::milliseconds(1)));
    }
  for (Event* e : events)
    if (!*error) *error = gpu_failure(static_cast<CudaEvent*>(e)->gpu);
  return true;
}

bool CudaStreams::wait_for_all(bool (*poll)(void*), void* arg, Error** error) {
  if (forked()) return true;
  std::vector<Event*> events;
  for (int i = 0; i < Gpus::kMost; ++i)
    if (Gpu* gpu = gpus().find(i)) gpu->record_all(events, error);
  const bool waited = wait(events, poll, arg, error);
  for (Event* e : events) e->unref();
  return waited;
}

ThreadStreams::Running CudaStreams::left() {
  ThreadStreams::Running ran = std::move(thread_streams().running.back());
  thread_streams().running.pop_back();
  return ran;
}

Error* CudaStreams::note(Operator* op, const Stream& stream, const std::vector<Chunk*>& temporaries) {
  Error* error = nullptr;
  Event* e = stream.gpu->record(stream, &error);
  if (!e) return error;
  for (const Use& u : op->uses)
    if (used_by_device(u.var)) u.var->leave_footprint().note(e, u.write);
  for (Chunk* c : temporaries) c->leave_footprint().note(e, true);
  e->unref();
  return nullptr;
}

bool CudaStreams::uses_cuda(const Operator* op) {
  if (is_gpu(op->device)) return true;
  for (const Use& u : op->uses)
    if (const Chunk* c = dynamic_cast<const Chunk*>(u.var); c && !c->plain()) return true;
  return false;
}

bool CudaStreams::used_by_device(Var* v) {
  const Chunk* c = dynamic_cast<const Chunk*>(v);
  return !c || is_gpu(c->device) || is_pinned(*c);
}

}  // namespace lazyarray::cuda
