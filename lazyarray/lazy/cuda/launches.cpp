// Launches and Graphs: an operator's launches, collected, compared, and given to the device in one go.
#include "lazy/cuda/launches.h"

#include <cstring>

namespace lazyarray::cuda {

namespace {
constexpr int64_t kCall = 0, kProduct = 1;

template <class T>
constexpr size_t words_of = (sizeof(T) + 7) / 8;
}  // namespace

Error* Call::on(const Stream& stream, const int64_t* words) const {
  void* params[] = {const_cast<int64_t*>(words)};
  const int r = driver().LaunchKernel(function, grid_x, grid_y, 1, block_x, block_y, 1, shared, stream.raw, params,
                                      nullptr);
  if (r) stream.gpu->look();
  return driver().check("cuLaunchKernel", r);
}

template <class T>
void Launches::put(const T& what, int64_t tag) {
  static_assert(std::has_unique_object_representations_v<T>, "it is compared by its bytes");
  const size_t at = words_.size();
  words_.resize(at + 1 + words_of<T>);
  words_[at] = tag;
  std::memcpy(&words_[at + 1], &what, sizeof what);
  count_++;
}

void Launches::add(const Call& call, const int64_t* words, size_t n) {
  const size_t at = words_.size();
  put(call, kCall | static_cast<int64_t>(n) << 8);
  kind_.insert(kind_.end(), words_.begin() + at, words_.end());
  words_.insert(words_.end(), words, words + n);
}

void Launches::add(const Product& product) {
  put(product, kProduct);
  products_ = true;
  kind_.push_back(static_cast<uint64_t>(product.rows) << 32 | static_cast<uint32_t>(product.cols));
}

Error* Launches::play(const Stream& stream, Blas& blas) const {
  Entered here(*stream.gpu);
  for (size_t at = 0; at < words_.size();) {
    const int64_t tag = words_[at++];
    Error* error;
    if ((tag & 255) == kCall) {
      Call call;
      std::memcpy(&call, &words_[at], sizeof call);
      at += words_of<Call>;
      error = call.on(stream, &words_[at]);
      at += static_cast<size_t>(tag >> 8);
    } else {
      Product product;
      std::memcpy(&product, &words_[at], sizeof product);
      at += words_of<Product>;
      error = blas.run(product, stream);
    }
    if (error) return error;
  }
  return nullptr;
}

std::atomic<uint64_t> Graphs::launched{0};

Graphs::~Graphs() {
  for (Known& k : known_) forget(k);
}

void Graphs::forget(Known& known) {
  if (known.last) {
    Error* ignored = nullptr;  // the device's, which every op meets
    if (known.graph) CudaStreams().wait({known.last}, nullptr, nullptr, &ignored);
    if (ignored) ignored->unref();
    known.last->unref();
  }
  if (!known.graph || forked() || known.gpu->failed()) return;
  Entered here(*known.gpu);
  driver().GraphExecDestroy(known.graph);
}

Error* Graphs::give(const Launches& launches, const Stream& stream, Blas& blas) {
  std::lock_guard<std::mutex> g(mu_);
  if (vain_ >= kVain) return launches.play(stream, blas);
  Known* known = nullptr;
  for (Known& k : known_)
    // A product's workspace is the stream's that was captured.
    if (k.gpu == stream.gpu && (k.stream == stream.number || !launches.multiplies()) && k.launches == launches)
      known = &k;
  if (!known) {
    vain_++;
    if (known_.size() < most_) {
      known_.emplace_back();
      known = &known_.back();
    } else {
      known = &known_[0];
      for (Known& k : known_)
        if (k.used < known->used) known = &k;
      forget(*known);
      *known = Known();
    }
    known->launches = launches;
    known->launches.spaces.clear();
    known->gpu = stream.gpu;
    known->stream = stream.number;
    known->used = ++turn_;
    return launches.play(stream, blas);
  }
  known->used = ++turn_;
  if (!known->graph && ++known->times < after_) return launches.play(stream, blas);
  Entered here(*stream.gpu);
  if (!known->graph) {
    known->graph = capture(launches, stream, blas);
    if (!known->graph) {
      vain_ = kVain;
      return launches.play(stream, blas);
    }
  }
  vain_ = 0;
  if (const int r = driver().GraphLaunch(known->graph, stream.raw)) {
    stream.gpu->look();
    return driver().check("cuGraphLaunch", r);
  }
  launched.fetch_add(1, std::memory_order_relaxed);
  if (known->last) known->last->unref();
  Error* error = nullptr;
  known->last = stream.gpu->record(stream, &error);
  return error;
}

GraphExec_t Graphs::capture(const Launches& launches, const Stream& stream, Blas& blas) {
  // Only this thread gives the stream anything. Others neither record events on it meanwhile nor wait for the device;
  // what else they do is their affair.
  if (launches.multiplies())  // which takes the GIL the first time
    if (Error* error = blas.open(stream)) {
      error->unref();
      return nullptr;
    }
  std::scoped_lock g(stream.gpu->capturing, stream.mu);
  if (driver().BeginCapture(stream.raw, kRelaxed)) return nullptr;
  Error* failed = launches.play(stream, blas);
  Graph_t graph = nullptr;
  const int ended = driver().EndCapture(stream.raw, &graph);
  GraphExec_t made = nullptr;
  if (!failed && !ended && driver().GraphInstantiate(&made, graph, 0)) made = nullptr;
  if (failed) failed->unref();
  if (graph) driver().GraphDestroy(graph);
  return made;
}

Error* Loops::give(const Launches& launches, const Stream& stream, Blas& blas) {
  std::shared_ptr<Graphs> graphs;
  {
    std::lock_guard<std::mutex> g(mu_);
    graphs = known_.find(launches.kind());
    if (!graphs) known_.add(launches.kind(), graphs = std::make_shared<Graphs>(kGraphs, kTimes), 1);
  }
  return graphs->give(launches, stream, blas);
}

}  // namespace lazyarray::cuda
