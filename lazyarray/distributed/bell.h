// A thread's sleep, which others can end now or a little later.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>

namespace lazyarray {

class Bell {
  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  std::mutex mu_;
  std::condition_variable cv_;
  int64_t due_ = kNever;    // when the sleeper is to wake
  int64_t until_ = kNever;  // when it will look again by itself, while it sleeps
  bool asleep_ = false;

  static int64_t now() { return Clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

 public:
  void ring(int64_t delay) {
    std::lock_guard<std::mutex> g(mu_);
    const int64_t due = now() + delay;
    if (due < due_) due_ = due;
    if (asleep_ && due_ < until_) cv_.notify_one();
  }

  // What was to wake it is done.
  void cancel() {
    std::lock_guard<std::mutex> g(mu_);
    due_ = kNever;
  }

  // Sleeps until it is rung, or for `limit` nanoseconds (negative: no limit); whether it was.
  bool sleep(int64_t limit) {
    std::unique_lock<std::mutex> lock(mu_);
    const int64_t end = limit < 0 ? kNever : now() + limit;
    asleep_ = true;
    for (int64_t t = now(); t < due_ && t < end; t = now()) {
      until_ = due_ < end ? due_ : end;
      if (until_ == kNever) cv_.wait(lock);
      else cv_.wait_for(lock, std::chrono::nanoseconds(until_ - t));
    }
    asleep_ = false;
    const bool rung = now() >= due_;
    if (rung) due_ = kNever;
    return rung;
  }
};

}  // namespace lazyarray
