// Totals: how often and how long, by name and line; what threads and workers did.
#include "profiler/totals.h"

#include <algorithm>
#include <cmath>

namespace lazyarray {

void Sum::add(int64_t took, int64_t bytes, int64_t n) {
  count++;
  ns += took;
  least = std::min(least, took);
  most = std::max(most, took);
  moved += bytes;
  ops += n;
}

void CounterSum::add(double value) {
  least = count ? std::fmin(least, value) : value;  // numbers, if there are any
  most = count ? std::fmax(most, value) : value;
  last = value;
  count++;
}

void ThreadSum::op(int64_t start, int64_t end) {
  recent_.push_back({start, end - start});
  ran += end - start;
  if (recent_.size() > 4096) recent_.erase(recent_.begin(), recent_.begin() + 2048);
}

void ThreadSum::wait(int64_t start, int64_t end) {
  // Some of these may have begun after it.
  for (size_t i = recent_.size(); i-- > 0 && recent_[i].start >= start;) {
    if (recent_[i].start >= end) continue;
    ran -= recent_[i].ns;
    ran_in_waits += recent_[i].ns;
    recent_.erase(recent_.begin() + static_cast<ptrdiff_t>(i));
  }
  while (!waits_.empty() && waits_.back().start >= start) {
    waited -= waits_.back().ns;
    waits_.pop_back();
  }
  waited += end - start;
  waits_.push_back({start, end - start});
  if (waits_.size() > 4096) waits_.erase(waits_.begin(), waits_.begin() + 2048);
}

}  // namespace lazyarray
