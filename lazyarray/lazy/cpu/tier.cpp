// Tier: the loops that are compiled for chains of passes, and those who wait for it.
#include "lazy/cpu/tier.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace lazyarray {

CompiledLoop::Function CompiledLoop::function() {
  if (state_.load(std::memory_order_acquire) != READY) return nullptr;
  const int left = rest_.load(std::memory_order_relaxed);
  if (left <= 0) return function_;
  rest_.store(left - 1, std::memory_order_relaxed);
  return nullptr;
}

void CompiledLoop::done(bool in_vain) {
  constexpr int kMost = 10;  // 1,024 tiles
  const int before = in_vain_.load(std::memory_order_relaxed);
  if (in_vain) {
    in_vain_.store(std::min(before + 1, kMost), std::memory_order_relaxed);
    rest_.store(1 << before, std::memory_order_relaxed);
  } else if (before) {
    in_vain_.store(0, std::memory_order_relaxed);
  }
}

CompiledLoop::Function CompiledLoop::on_trial() {
  int compiled = COMPILED;
  return state_.compare_exchange_strong(compiled, TRIED, std::memory_order_acq_rel) ? function_ : nullptr;
}

void CompiledLoop::made(Function f) {
  function_ = f;
  state_.store(f ? COMPILED : REFUSED, std::memory_order_release);
}

std::shared_ptr<CompiledLoop> Tier::find(const std::string& text) {
  const std::lock_guard<std::mutex> g(mu_);
  const auto at = loops_.find(text);
  if (at != loops_.end()) return at->second;
  if (loops_.size() >= kListed) {
    if (!in_vain_) sweep();
    const bool full = loops_.size() > kListed - kListed / 8;
    in_vain_ = full ? (in_vain_ + 1) % 1024 : 0;
    if (loops_.size() >= kListed) return nullptr;
  }
  return loops_.emplace(text, std::make_shared<CompiledLoop>(text)).first->second;
}

void Tier::sweep() {
  for (auto at = loops_.begin(); at != loops_.end();) {
    const bool unused = at->second.use_count() == 1 && at->second->state() == CompiledLoop::NEW;
    at = unused ? loops_.erase(at) : std::next(at);
  }
}

void Tier::worked(CompiledLoop* loop, double ns, double enough) {
  if (loop->state() != CompiledLoop::NEW) return;
  const int64_t all = loop->ns_.fetch_add(static_cast<int64_t>(ns), std::memory_order_relaxed);
  if (!now && static_cast<double>(all) + ns < enough) return;
  int fresh = CompiledLoop::NEW;
  try {
    const std::lock_guard<std::mutex> g(mu_);
    if (were_asked_ >= kMost || !loop->state_.compare_exchange_strong(fresh, CompiledLoop::ASKED)) return;
    if (!now) asked_.push_back(loop);
    were_asked_++;
  } catch (const std::bad_alloc&) {
    loop->state_.store(CompiledLoop::NEW);
    return;
  }
  if (now) return now(loop);
  more_.notify_one();
  wake();
}

CompiledLoop* Tier::next() {
  std::unique_lock<std::mutex> g(mu_);
  more_.wait(g, [this] { return leaving_ || !asked_.empty(); });
  if (leaving_) return nullptr;
  CompiledLoop* const first = asked_.front();
  asked_.pop_front();
  return first;
}

void Tier::leave() {
  const std::lock_guard<std::mutex> g(mu_);
  leaving_ = true;
  more_.notify_all();
}

void Tier::forked() {
  new (&mu_) std::mutex;
  new (&more_) std::condition_variable;
}

void Tier::count(int64_t (&states)[6]) const {
  const std::lock_guard<std::mutex> g(mu_);
  for (const auto& [text, loop] : loops_) states[loop->state()]++;
}

std::vector<std::string> Tier::refused() const {
  std::vector<std::string> found;
  const std::lock_guard<std::mutex> g(mu_);
  for (const auto& [text, loop] : loops_)
    if (loop->state() == CompiledLoop::REFUSED) found.push_back((loop->function_ ? "other bits: " : "not compiled: ") + text);
  return found;
}

Tier& tier() {
  static Tier* const one = new Tier;  // never freed: workers may come to it late
  return *one;
}

}  // namespace lazyarray
