// ranks: what a few places would hold if numbers were sorted, for medians and quantiles of many.
//
// A sample tells between which values a place lies, give or take; one pass counts what is below, and picks what is
// between (Floyd and Rivest, Expected time bounds for selection, 1975). NumPy's partition moves all of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "lazy/numpy.h"

namespace lazyarray {

class Ranks {
 public:
  Ranks(const double* x, npy_intp n) : x_(x), n_(n) {}

  // False without memory, and where NumPy must decide: one is not a number, or a zero is negative.
  bool prepare() {
    uint64_t odd = 0;
    for (npy_intp i = 0; i < n_; ++i) {
      uint64_t bits;
      std::memcpy(&bits, x_ + i, sizeof bits);
      odd |= (x_[i] != x_[i]) | (bits == uint64_t(1) << 63);
    }
    if (odd) return false;
    if (n_ < kSampled) return true;
    looks_ = std::min<npy_intp>(kMost, n_ / 16);
    sample_.reset(new (std::nothrow) double[looks_]);
    most_ = n_ / 4;
    between_.reset(new (std::nothrow) double[most_ + kBlock]);
    if (!sample_ || !between_) return false;
    uint32_t state = 1;  // numbers at even distances might be all alike
    for (npy_intp i = 0; i < looks_; ++i) {
      state = state * 1664525u + 1013904223u;
      const npy_intp begin = n_ / looks_ * i;
      sample_[i] = x_[begin + static_cast<npy_intp>(state >> 8) % (n_ / looks_)];
    }
    std::sort(sample_.get(), sample_.get() + looks_);
    return true;
  }

  // The number of that rank, and the next one (if it is the last, itself); false without memory.
  bool find(npy_intp rank, double* at, double* next) {
    if (sample_) {
      const double share = static_cast<double>(rank) / static_cast<double>(n_) * static_cast<double>(looks_);
      const double spread = 2 * std::sqrt(static_cast<double>(looks_)) + 2;  // four times what is to be expected
      const double first = share - spread, last = share + spread;
      constexpr double kInf = std::numeric_limits<double>::infinity();
      const double low = first < 0 ? -kInf : sample_[static_cast<npy_intp>(first)];
      const double high = last >= static_cast<double>(looks_) ? kInf : sample_[static_cast<npy_intp>(last)];
      npy_intp below = 0, count = 0;
      if (pick(low, high, &below, &count) && rank >= below && rank + (rank + 1 < n_) < below + count) {
        take(between_.get(), count, rank - below, at, next);
        return true;
      }
    }
    if (!all_) all_.reset(new (std::nothrow) double[n_]);
    if (!all_) return false;
    std::copy(x_, x_ + n_, all_.get());
    take(all_.get(), n_, rank, at, next);
    return true;
  }

 private:
  static constexpr npy_intp kSampled = 4096, kMost = 4096, kBlock = 1024;

  // False if there are too many between.
  bool pick(double low, double high, npy_intp* below, npy_intp* count) {
    npy_intp less = 0, n = 0;
    double* to = between_.get();
    for (npy_intp begin = 0; begin < n_; begin += kBlock) {
      if (n > most_) return false;
      for (npy_intp i = begin, end = std::min(n_, begin + kBlock); i < end; ++i) {
        const double v = x_[i];
        to[n] = v;  // without a branch that no processor can foresee
        n += (v >= low) & (v <= high);
        less += v < low;
      }
    }
    *below = less;
    *count = n;
    return true;
  }

  static void take(double* x, npy_intp n, npy_intp rank, double* at, double* next) {
    std::nth_element(x, x + rank, x + n);
    *at = x[rank];
    *next = rank + 1 < n ? *std::min_element(x + rank + 1, x + n) : *at;
  }

  const double* const x_;
  const npy_intp n_;
  npy_intp looks_ = 0, most_ = 0;
  std::unique_ptr<double[]> sample_, between_, all_;
};

// NumPy's "linear" quantile, `gamma` of the way from one number to the next; false where they are not finite.
inline bool linear_between(double first, double second, double gamma, double* found) {
  const double step = second - first;
  *found = gamma >= 0.5 ? second - step * (1 - gamma) : first + step * gamma;
  return std::isfinite(step);
}

// ... of shares of the way from the least to the greatest; false as above, too.
inline bool linear_quantiles(const double* x, npy_intp n, const double* shares, npy_intp count, double* found) {
  Ranks ranks(x, n);
  if (!ranks.prepare()) return false;
  for (npy_intp i = 0; i < count; ++i) {
    const double at = static_cast<double>(n - 1) * shares[i], low = std::floor(at);
    double first, second;
    if (!ranks.find(static_cast<npy_intp>(low), &first, &second)) return false;
    if (!linear_between(first, second, at - low, &found[i])) return false;
  }
  return true;
}

// The middle one, or the middle two.
inline bool middle(const double* x, npy_intp n, double* found) {
  Ranks ranks(x, n);
  double after;
  if (!ranks.prepare() || !ranks.find((n - 1) / 2, found, &after)) return false;
  if (n % 2 == 0) found[1] = after;
  return true;
}

}  // namespace lazyarray
