// A call of BLAS takes some 60 ns however small the matrices are, and calls on two threads at once take three times as
// long, for they wait for each other to get memory. So small matrices are multiplied here.
//
// The bits are BLAS's: its kernels add up so few products from the first to the last, by fused multiply-adds. They
// differ in whether zero is added at the end, which a sum of -0.0 shows. Whether the BLAS at hand does so is tried with
// numbers, once for each shape and layout. Where a bit differs NumPy's loop has these: OpenBLAS's kernels for AVX2 add
// up eight and more as two sums, of even and of odd places, for some elements.
#include "lazy/cpu/float_products.h"

#include <array>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "lazy/cpu/trial.h"
#include "lazy/dtype.h"
#include "lazy/processor.h"

namespace lazyarray {
namespace {

constexpr npy_intp kMost = 12;  // rows and columns: from there on BLAS's kernels are worth their call
constexpr int kLayouts = 16;

#if defined(__x86_64__)
bool fuses() { return has_fma(); }
#define FUSED [[gnu::target("avx2,fma")]]
#else
bool fuses() { return true; }
#define FUSED
#endif

// A matrix of T, with its steps in elements.
template <class T>
struct Matrix {
  T* data;
  npy_intp down, right;
  Matrix turned() const { return {data, right, down}; }
};

// A call of matmul's loop: (n,k),(k,m)->(n,m), with the steps of the batch and of the matrices in bytes.
struct Call {
  char* const* args;
  const npy_intp *dims, *steps;
  npy_intp count() const { return dims[0]; }
  npy_intp n() const { return dims[1]; }
  npy_intp k() const { return dims[2]; }
  npy_intp m() const { return dims[3]; }
  template <class T>
  Matrix<T> matrix(int operand, npy_intp batch) const {
    const npy_intp* const s = steps + 3 + 2 * operand;
    constexpr npy_intp size = sizeof(T);
    return {reinterpret_cast<T*>(args[operand] + batch * steps[operand]), s[0] / size, s[1] / size};
  }
};

// Only called where the processor fuses.
namespace wide {

// A vector of so many numbers: the widest have 32 bytes, BLAS's on all x86 processors that fuse.
template <class T, int lanes>
struct Lanes {
  typedef T Vector __attribute__((vector_size(lanes * sizeof(T))));
  [[gnu::always_inline]] FUSED static Vector load(const T* p) {
    Vector v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  [[gnu::always_inline]] FUSED static Vector fused(T a, const Vector& b, const Vector& c) {
#if defined(__x86_64__)
    constexpr int bytes = sizeof(Vector);
    if constexpr (sizeof(T) == 8 && bytes == 32) return Vector(_mm256_fmadd_pd(_mm256_set1_pd(a), __m256d(b), __m256d(c)));
    else if constexpr (bytes == 32) return Vector(_mm256_fmadd_ps(_mm256_set1_ps(a), __m256(b), __m256(c)));
    else if constexpr (sizeof(T) == 8 && bytes == 16) return Vector(_mm_fmadd_pd(_mm_set1_pd(a), __m128d(b), __m128d(c)));
    else if constexpr (bytes == 16) return Vector(_mm_fmadd_ps(_mm_set1_ps(a), __m128(b), __m128(c)));
#endif
    Vector sum;
    for (int l = 0; l < lanes; ++l) sum[l] = std::fma(a, b[l], c[l]);
    return sum;
  }
};

// So many rows of the result, in `width` vectors each, of which the last two may have columns in common.
template <class T, int lanes, int width, int rows>
FUSED inline void tile(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out, npy_intp k, npy_intp m, T zero) {
  using V = Lanes<T, lanes>;
  typename V::Vector sums[rows][width] = {};
  const auto place = [m](int v) { return v + 1 < width ? v * lanes : m - lanes; };
  const T *x = a.data, *y = b.data;
  for (npy_intp p = 0; p < k; ++p, x += a.right, y += b.down)
    for (int v = 0; v < width; ++v) {
      const typename V::Vector columns = V::load(y + place(v));
      for (int i = 0; i < rows; ++i) sums[i][v] = V::fused(x[i * a.down], columns, sums[i][v]);
    }
  T* to = out.data;
  for (int i = 0; i < rows; ++i, to += out.down)
    for (int v = 0; v < width; ++v) {
      sums[i][v] += zero;
      std::memcpy(to + place(v), &sums[i][v], sizeof sums[i][v]);
    }
}

template <class T, int lanes, int width>
FUSED void multiply(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, npy_intp n, npy_intp k, npy_intp m, T zero) {
  T copy[kMost * kMost];
  if (b.right != 1) {
    for (npy_intp p = 0; p < k; ++p)
      for (npy_intp j = 0; j < m; ++j) copy[p * m + j] = b.data[p * b.down + j * b.right];
    b = {copy, m, 1};
  }
  const auto next = [&](auto rows) FUSED {
    tile<T, lanes, width, rows>(a, b, out, k, m, zero);
    a.data += rows * a.down;
    out.data += rows * out.down;
    n -= rows;
  };
  while (n >= 4) next(std::integral_constant<int, 4>());
  if (n >= 2) next(std::integral_constant<int, 2>());
  if (n == 1) next(std::integral_constant<int, 1>());
}

template <class T, int lanes, int width>
FUSED void multiply_each(const Call& c, bool turned, T zero) {
  for (npy_intp i = 0; i < c.count(); ++i) {
    const Matrix<const T> a = c.matrix<const T>(0, i), b = c.matrix<const T>(1, i);
    const Matrix<T> out = c.matrix<T>(2, i);
    if (!turned) multiply<T, lanes, width>(a, b, out, c.n(), c.k(), c.m(), zero);
    else multiply<T, lanes, width>(b.turned(), a.turned(), out.turned(), c.m(), c.k(), c.n(), zero);
  }
}

}  // namespace wide

template <class T, int lanes>
void multiply_by(const Call& c, bool turned, T zero) {
  switch (((turned ? c.n() : c.m()) + lanes - 1) / lanes) {
    case 1: return wide::multiply_each<T, lanes, 1>(c, turned, zero);
    case 2: return wide::multiply_each<T, lanes, 2>(c, turned, zero);
    default: return wide::multiply_each<T, lanes, 3>(c, turned, zero);
  }
}
template <class T>
void multiply_all(const Call& c, bool turned, T zero) {
  const npy_intp columns = turned ? c.n() : c.m();
  constexpr int most = 32 / sizeof(T);
  if (columns >= most) multiply_by<T, most>(c, turned, zero);
  else if (columns >= most / 2) multiply_by<T, most / 2>(c, turned, zero);
  else multiply_by<T, 1>(c, turned, zero);
}

// How BLAS may take a matrix (NumPy's is_blasable2d): row by row, column by column, or not at all.
enum Lies { ROWS, COLUMNS, APART };
Lies lies(npy_intp down, npy_intp right, npy_intp n, npy_intp m, npy_intp size) {
  if (right == size && down % size == 0 && down / size >= m) return ROWS;
  if (down == size && right % size == 0 && right / size >= n) return COLUMNS;
  return APART;
}

enum How : uint8_t { UNTRIED, NUMPYS, PLUS_ZERO, MINUS_ZERO };  // what is added at the end

// Compares both on numbers of several magnitudes, on some whose products cancel, and on some whose products are too
// small for a number, which round to zeros of either sign.
template <class T>
How tried(const Numpys& numpys, const Call& like, const Lies (&as)[3], bool squared) {
  std::fenv_t flags;
  std::feholdexcept(&flags);
  const npy_intp n = like.n(), k = like.k(), m = like.m();
  std::array<T, kMost * kMost> a, b, want, got;
  npy_intp steps[9] = {};
  const npy_intp dims[4] = {1, n, k, m}, sizes[3][2] = {{n, k}, {k, m}, {n, m}};
  for (int o = 0; o < 3; ++o) {
    steps[3 + 2 * o] = sizeof(T) * (as[o] == ROWS ? sizes[o][1] : 1);
    steps[4 + 2 * o] = sizeof(T) * (as[o] == ROWS ? 1 : sizes[o][0]);
  }
  TrialNumbers numbers;
  const auto number = [&](int trial) {
    const T x = static_cast<T>(numbers.next());
    if (trial % 8 == 7) return std::copysign(std::numeric_limits<T>::min(), x);
    return std::ldexp(x, trial % 2 ? static_cast<int>(4 + 4 * numbers.next()) : 0);
  };
  bool alike[2] = {true, true};
  for (int trial = 0; trial < 32 && (alike[0] || alike[1]); ++trial) {
    for (T& x : a) x = number(trial);
    for (T& x : b) x = trial % 4 == 2 ? -a[&x - b.data()] : number(trial);
    char* args[3] = {reinterpret_cast<char*>(a.data()), reinterpret_cast<char*>(squared ? a.data() : b.data()),
                     reinterpret_cast<char*>(want.data())};
    want.fill(0);
    numpys.fn(args, dims, steps, numpys.data);
    for (int minus = 0; minus < 2; ++minus) {
      char* own[3] = {reinterpret_cast<char*>(a.data()), reinterpret_cast<char*>(squared ? a.data() : b.data()),
                      reinterpret_cast<char*>(got.data())};
      got.fill(0);
      multiply_all<T>({own, dims, steps}, as[2] == COLUMNS, minus ? T(-0.0) : T(0));
      alike[minus] = alike[minus] && std::memcmp(want.data(), got.data(), n * m * sizeof(T)) == 0;
    }
  }
  std::fesetenv(&flags);
  return alike[0] ? PLUS_ZERO : alike[1] ? MINUS_ZERO : NUMPYS;
}

// By shape and layout; whoever tries one finds the same.
template <class T>
std::atomic<uint8_t> known[kMost - 1][kMost - 1][kMost - 1][kLayouts];

template <class T>
How how(const Numpys& numpys, const Call& c) {
  const npy_intp* const s = c.steps;
  if (!is_small_product(c.n(), c.k(), c.m())) return NUMPYS;
  const Lies as[3] = {lies(s[3], s[4], c.n(), c.k(), sizeof(T)), lies(s[5], s[6], c.k(), c.m(), sizeof(T)),
                      lies(s[7], s[8], c.n(), c.m(), sizeof(T))};
  if (as[0] == APART || as[1] == APART || as[2] == APART) return NUMPYS;
  // NumPy multiplies a matrix by its own transpose in another way.
  bool squared = c.n() == c.m() && s[3] == s[6] && s[4] == s[5];
  if (squared && s[0] != s[1]) return NUMPYS;  // some of the batch, perhaps
  squared = squared && c.args[0] == c.args[1];
  std::atomic<uint8_t>& found = known<T>[c.n() - 2][c.k() - 2][c.m() - 2][as[0] | as[1] << 1 | as[2] << 2 | int(squared) << 3];
  uint8_t which = found.load(std::memory_order_relaxed);
  if (which == UNTRIED) found.store(which = tried<T>(numpys, c, as, squared), std::memory_order_relaxed);
  return How(which);
}

// A column by a row. A sum of one product begins with zero, so that no result is -0.0; nothing else is rounded.
template <class T>
void outer(const Call& c) {
  for (npy_intp batch = 0; batch < c.count(); ++batch) {
    const Matrix<const T> a = c.matrix<const T>(0, batch), b = c.matrix<const T>(1, batch);
    const Matrix<T> out = c.matrix<T>(2, batch);
    for (npy_intp i = 0; i < c.n(); ++i)
      for (npy_intp j = 0; j < c.m(); ++j) out.data[i * out.down + j] = T(0) + a.data[i * a.down] * b.data[j];
  }
}

template <class T>
void loop(char** args, const npy_intp* dims, const npy_intp* steps, void* data) {
  const Numpys& numpys = *static_cast<const Numpys*>(data);
  const Call c{args, dims, steps};
  constexpr npy_intp size = sizeof(T);
  if (c.k() == 1 && (c.m() == 1 || (steps[6] == size && steps[8] == size))) return outer<T>(c);
  const How own = how<T>(numpys, c);
  if (own == NUMPYS) return numpys.fn(args, dims, steps, numpys.data);
  multiply_all<T>(c, steps[8] != size, own == PLUS_ZERO ? T(0) : T(-0.0));
}

}  // namespace

bool multiplies_small(int dtype, char* const* args, const npy_intp* dims, const npy_intp* steps, void* data) {
  if (dtype != f4 && dtype != f8) return false;  // their data is something else
  const Numpys& numpys = *static_cast<const Numpys*>(data);
  const Call c{args, dims, steps};
  return (dtype == f4 ? how<float>(numpys, c) : how<double>(numpys, c)) != NUMPYS;
}

bool is_small_product(npy_intp n, npy_intp k, npy_intp m) {
  return n > 1 && k > 1 && m > 1 && n <= kMost && k <= kMost && m <= kMost && fuses();
}

Loop float_product_loop(int dtype) { return dtype == f4 ? loop<float> : dtype == f8 ? loop<double> : nullptr; }

}  // namespace lazyarray
