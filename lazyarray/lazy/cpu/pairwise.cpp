// NumPy's pairwise sum (numpy/_core/src/umath/loops_utils.h.src): where it cuts, and the sum itself. NumPy's eight sums of
// a leaf are eight scalars, 0.145 ns an element; in vectors they take 0.05 as float64, 0.03 as float32. (Two leaves at
// once: no faster, for a processor begins the next one by itself. Vectors of 64 bytes: the same.)
#include "lazy/cpu/pairwise.h"

#include <cmath>

#include "lazy/dtype.h"
#include "lazy/processor.h"

namespace lazyarray {
namespace {

// The eight sums of a leaf, in vectors of so many bytes.
template <class T, int bytes>
struct Eight {
  typedef T Vector __attribute__((vector_size(bytes)));
  static constexpr int each = bytes / sizeof(T);
  Vector sums[8 / each];

  template <class F>
  [[gnu::always_inline]] inline Eight(const T* from, F f) {
    for (int i = 0; i < 8 / each; ++i) {
      std::memcpy(&sums[i], from + i * each, bytes);
      sums[i] = f(sums[i]);
    }
  }
  template <class F>
  [[gnu::always_inline]] inline void add(const T* from, F f) {
    const Eight more(from, f);
    for (int i = 0; i < 8 / each; ++i) sums[i] += more.sums[i];
  }
  [[gnu::always_inline]] inline T of(int i) const { return sums[i / each][i % each]; }
  [[gnu::always_inline]] inline T all() const {
    return ((of(0) + of(1)) + (of(2) + of(3))) + ((of(4) + of(5)) + (of(6) + of(7)));
  }
};

// The sum of f(each of n numbers, at most kLeaf), where `f` takes vectors as well.
template <class T, int bytes, class F>
[[gnu::always_inline]] inline T leaf(const T* from, npy_intp n, F f) {
  npy_intp i = 0;
  T sum = T(-0.0);
  if (n >= 8) {
    Eight<T, bytes> eight(from, f);
    for (i = 8; i + 8 <= n; i += 8) eight.add(from + i, f);
    sum = eight.all();
  }
  for (; i < n; ++i) sum += f(from[i]);
  return sum;
}

struct Itself {
  template <class X>
  [[gnu::always_inline]] inline X operator()(X x) const { return x; }
};
template <class T>
struct SquareFrom {
  T middle;
  template <class X>
  [[gnu::always_inline]] inline X operator()(X x) const {
    const X apart = x - middle;
    return apart * apart;
  }
};

template <class T, class F>
using Leaf = T (*)(const T*, npy_intp, F);
template <class T, class F>
T leaf_plain(const T* from, npy_intp n, F f) {
  return leaf<T, 16>(from, n, f);
}
#if defined(__x86_64__)
template <class T, class F>
[[gnu::target("avx2")]] T leaf_wide(const T* from, npy_intp n, F f) {
  return leaf<T, 32>(from, n, f);
}
#else
template <class T, class F>
constexpr Leaf<T, F> leaf_wide = leaf_plain<T, F>;
#endif
template <class T, class F>
const Leaf<T, F> best_leaf = has_avx2() ? leaf_wide<T, F> : leaf_plain<T, F>;

template <class T, class F>
T sum_of(const T* from, npy_intp n, F f) {
  if (n <= kLeaf) return best_leaf<T, F>(from, n, f);
  const npy_intp half = pairwise_half(n, false);
  return sum_of(from, half, f) + sum_of(from + half, n - half, f);
}

// NumPy divides as float64, whatever the sum is.
template <class T>
T quotient(T sum, npy_intp n) {
  return static_cast<T>(static_cast<double>(sum) / static_cast<double>(n));
}

template <class T>
void row_sum(const char* from, char* to, npy_intp n) {
  *reinterpret_cast<T*>(to) = T(0) + pairwise_sum(reinterpret_cast<const T*>(from), n);
}

template <class T>
void add_loop(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
  const auto* numpys = static_cast<const Inner*>(data);
  if (args[0] != args[2] || steps[0] || steps[2] || steps[1] != sizeof(T))
    return numpys->fn(args, dimensions, steps, numpys->data);
  T* to = reinterpret_cast<T*>(args[2]);
  *to += pairwise_sum(reinterpret_cast<const T*>(args[1]), dimensions[0]);
}

}  // namespace

npy_intp pairwise_half(npy_intp n, bool complex) {
  if (complex) {
    const npy_intp half = n - n % 8;  // of 2n reals
    return half / 2;
  }
  const npy_intp half = n / 2;
  return half - half % 8;
}

void pairwise_leaves(npy_intp start, npy_intp n, npy_intp most, bool complex,
                     std::vector<npy_intp>& out) {
  if (n <= most) {
    out.push_back(start);
    return;
  }
  const npy_intp half = pairwise_half(n, complex);
  pairwise_leaves(start, half, most, complex, out);
  pairwise_leaves(start + half, n - half, most, complex, out);
}

template <class T>
T pairwise_sum(const T* from, npy_intp n) {
  return sum_of(from, n, Itself());
}
template float pairwise_sum(const float*, npy_intp);
template double pairwise_sum(const double*, npy_intp);

template <class T>
void moments(Moment which, const T* from, npy_intp rows, npy_intp n, npy_intp ddof, T* to) {
  for (; rows > 0; --rows, from += n, ++to) {
    T value = T(0) + pairwise_sum(from, n);
    if (which != Moment::SUM) value = quotient(value, n);
    if (which == Moment::VAR || which == Moment::STD)
      value = quotient(T(0) + sum_of(from, n, SquareFrom<T>{value}), n - ddof);
    *to = which == Moment::STD ? std::sqrt(value) : value;
  }
}
template void moments(Moment, const float*, npy_intp, npy_intp, npy_intp, float*);
template void moments(Moment, const double*, npy_intp, npy_intp, npy_intp, double*);

RowSum row_sum_of(int dtype) {
  return dtype == f8 ? row_sum<double> : dtype == f4 ? row_sum<float> : nullptr;
}

Loop pairwise_loop(int dtype) { return dtype == f8 ? add_loop<double> : dtype == f4 ? add_loop<float> : nullptr; }

}  // namespace lazyarray
