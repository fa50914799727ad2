// products: matrices of integers, bools and halves. NumPy has no BLAS for them, and goes by one element of the result
// after the other.
//
// The columns of the right one are copied, so many as fill a vector or two, so that they lie together row by row. Then
// four rows of the left one are multiplied by them at a time, and sums stay in registers. A sum's order is
// NumPy's, from the first to the last: that decides the bits of halves, which it sums up in single precision.
// Of bools 64 columns are one word.
#include "lazy/cpu/products.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "lazy/dtype.h"
#include "lazy/processor.h"

extern "C" {
npy_half npy_float_to_half(float);
float npy_half_to_float(npy_half);
}

namespace lazyarray {
namespace {

// How an element is read, summed up, and written; and whether a sum may be final before all is added. Integers wrap
// around, so unsigned ones stand for them.
template <class T, class S>
struct Wrapping {
  static constexpr bool kEnds = false;
  using Element = T;
  using Sum = S;
  static Sum read(T x) { return static_cast<S>(x); }
  template <class V>
  static void add(V& sum, const V& a, const V& b) {
    using Wide = std::conditional_t<std::is_same_v<V, uint16_t>, unsigned, V>;  // as int it might overflow
    sum = static_cast<V>(sum + Wide(a) * Wide(b));
  }
  static T write(Sum s) { return static_cast<T>(s); }
};
struct Logical {
  static constexpr bool kEnds = true;
  using Element = uint8_t;
  using Sum = uint8_t;
  static Sum read(uint8_t x) { return x != 0; }
  template <class V>
  static void add(V& sum, const V& a, const V& b) {
    sum |= a & b;
  }
  static uint8_t write(Sum s) { return s; }
};
struct Half {
  static constexpr bool kEnds = false;
  using Element = npy_half;
  using Sum = float;
  static Sum read(npy_half x) { return npy_half_to_float(x); }
  template <class V>
  static void add(V& sum, const V& a, const V& b) {
    sum += a * b;
  }
  static npy_half write(Sum s) { return npy_float_to_half(s); }
};

struct Matrix {
  char* data;
  npy_intp rows, columns, down, right;  // steps in bytes
  char* at(npy_intp i, npy_intp j) const { return data + i * down + j * right; }
};

template <class Of>
typename Of::Sum read(const char* p) {
  typename Of::Element x;
  std::memcpy(&x, p, sizeof x);
  return Of::read(x);
}
template <class Of>
void write(char* p, typename Of::Sum s) {
  const typename Of::Element x = Of::write(s);
  std::memcpy(p, &x, sizeof x);
}

// Whether none of `n` sums can change any more, whatever is still to be added: looked at once every kLook elements.
constexpr npy_intp kLook = 32;
template <class Of>
[[gnu::always_inline]] inline bool ended(const typename Of::Sum* sums, npy_intp n, npy_intp added) {
  if constexpr (Of::kEnds) {
    if (added % kLook != 0) return false;
    typename Of::Sum all = 1;
    for (npy_intp i = 0; i < n; ++i) all &= sums[i];
    return all != 0;
  }
  return false;
}

constexpr npy_intp kRows = 4;
template <class Of>
constexpr npy_intp kColumns = 64 / sizeof(typename Of::Sum);
constexpr npy_intp kPanel = npy_intp(256) << 10;  // bytes of copied columns that are used again from the cache
constexpr npy_intp kLongest = npy_intp(8) << 20;  // ... and of one tile: longer sums need no copies

// `rows` rows of the left one, which lie in `left` element by element, by a tile of kColumns.
template <class Of, npy_intp rows>
[[gnu::always_inline]] inline void tile(const typename Of::Sum* left, const typename Of::Sum* right, npy_intp k,
                                        typename Of::Sum (*to)[kColumns<Of>]) {
  typedef typename Of::Sum Vector __attribute__((vector_size(64)));
  Vector sums[rows] = {};
  for (npy_intp p = 0; p < k; ++p, left += rows, right += kColumns<Of>) {
    Vector b;
    std::memcpy(&b, right, sizeof b);
#pragma GCC unroll 4
    for (npy_intp r = 0; r < rows; ++r) Of::add(sums[r], left[r] - Vector{}, b);
  }
  std::memcpy(to, sums, sizeof sums);
}

template <class Of, npy_intp rows>
void tile_plain(const typename Of::Sum* left, const typename Of::Sum* right, npy_intp k, typename Of::Sum (*to)[kColumns<Of>]) {
  tile<Of, rows>(left, right, k, to);
}
#if defined(__x86_64__)
template <class Of, npy_intp rows>
[[gnu::target("avx2")]] void tile_wide(const typename Of::Sum* left, const typename Of::Sum* right, npy_intp k,
                                  typename Of::Sum (*to)[kColumns<Of>]) {
  tile<Of, rows>(left, right, k, to);
}
// Has a product of 64-bit integers.
template <class Of, npy_intp rows>
[[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")]] void tile_widest(
    const typename Of::Sum* left, const typename Of::Sum* right, npy_intp k, typename Of::Sum (*to)[kColumns<Of>]) {
  tile<Of, rows>(left, right, k, to);
}
#endif

template <class Of>
using Tile = void (*)(const typename Of::Sum*, const typename Of::Sum*, npy_intp, typename Of::Sum (*)[kColumns<Of>]);
template <class Of, npy_intp rows>
Tile<Of> best() {
#if defined(__x86_64__)
  if (has_avx512()) return tile_widest<Of, rows>;
  if (has_avx2()) return tile_wide<Of, rows>;
#endif
  return tile_plain<Of, rows>;
}

template <class Of>
void multiply(const Matrix& a, const Matrix& b, const Matrix& out, typename Of::Sum* panel, typename Of::Sum* left,
              npy_intp most) {
  using Sum = typename Of::Sum;
  static const Tile<Of> four = best<Of, kRows>(), one = best<Of, 1>();
  const npy_intp k = a.columns, m = b.columns;
  for (npy_intp j0 = 0; j0 < m; j0 += most) {
    const npy_intp columns = std::min(most, m - j0);
    Sum* to = panel;
    for (npy_intp t = j0; t < j0 + columns; t += kColumns<Of>) {
      const npy_intp width = std::min(kColumns<Of>, j0 + columns - t);
      for (npy_intp p = 0; p < k; ++p, to += kColumns<Of>) {
        const char* from = b.at(p, t);
        for (npy_intp c = 0; c < width; ++c, from += b.right) to[c] = read<Of>(from);
        std::fill(to + width, to + kColumns<Of>, to[width - 1]);  // which raise no flag of their own
      }
    }
    for (npy_intp i = 0; i < a.rows;) {
      const npy_intp rows = a.rows - i >= kRows ? kRows : 1;
      for (npy_intp r = 0; r < rows; ++r) {
        const char* from = a.at(i + r, 0);
        for (npy_intp p = 0; p < k; ++p, from += a.right) left[p * rows + r] = read<Of>(from);
      }
      const Sum* right = panel;
      for (npy_intp t = j0; t < j0 + columns; t += kColumns<Of>, right += k * kColumns<Of>) {
        Sum sums[kRows][kColumns<Of>];
        (rows == kRows ? four : one)(left, right, k, sums);
        const npy_intp width = std::min(kColumns<Of>, j0 + columns - t);
        for (npy_intp r = 0; r < rows; ++r)
          for (npy_intp c = 0; c < width; ++c) write<Of>(out.at(i + r, t + c), sums[r][c]);
      }
      i += rows;
    }
  }
}

// A vector by a matrix. Each of its elements is used once, so copies of them wouldn't pay. The order is another one, so
// it isn't for halves.
template <class Of>
[[gnu::always_inline]] inline void vector_by(const typename Of::Sum* x, const Matrix& b, const Matrix& out,
                                             typename Of::Sum* sums) {
  using Sum = typename Of::Sum;
  constexpr npy_intp item = sizeof(typename Of::Element);
  if (b.down == item) {
    for (npy_intp j = 0; j < b.columns; ++j) {
      const char* const y = b.at(0, j);
      Sum sum{};
      for (npy_intp p = 0, end; p < b.rows && !ended<Of>(&sum, 1, p); p = end) {
        end = Of::kEnds ? std::min(b.rows, p + kLook) : b.rows;
        for (npy_intp i = p; i < end; ++i) Of::add(sum, x[i], read<Of>(y + i * item));
      }
      sums[j] = sum;
    }
  } else {
    std::fill(sums, sums + b.columns, Sum{});
    for (npy_intp p = 0; p < b.rows && !ended<Of>(sums, b.columns, p); ++p) {
      const Sum factor = x[p];
      if (Of::kEnds && !factor) continue;
      const char* const y = b.at(p, 0);
      Sum* __restrict const to = sums;
      for (npy_intp j = 0, m = b.columns; j < m; ++j) Of::add(to[j], factor, read<Of>(y + j * item));
    }
  }
  for (npy_intp j = 0; j < b.columns; ++j) write<Of>(out.at(0, j), sums[j]);
}

template <class Of>
void vector_plain(const typename Of::Sum* x, const Matrix& b, const Matrix& out, typename Of::Sum* sums) {
  vector_by<Of>(x, b, out, sums);
}
#if defined(__x86_64__)
template <class Of>
[[gnu::target("avx2")]] void vector_wide(const typename Of::Sum* x, const Matrix& b, const Matrix& out,
                                         typename Of::Sum* sums) {
  vector_by<Of>(x, b, out, sums);
}
template <class Of>
[[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")]] void vector_widest(
    const typename Of::Sum* x, const Matrix& b, const Matrix& out, typename Of::Sum* sums) {
  vector_by<Of>(x, b, out, sums);
}
#endif

template <class Of>
using ByVector = void (*)(const typename Of::Sum*, const Matrix&, const Matrix&, typename Of::Sum*);
template <class Of>
ByVector<Of> best_vector() {
#if defined(__x86_64__)
  if (has_avx512()) return vector_widest<Of>;
  if (has_avx2()) return vector_wide<Of>;
#endif
  return vector_plain<Of>;
}

template <class Of>
void multiply_vector(const Matrix& a, const Matrix& b, const Matrix& out, typename Of::Sum* scratch) {
  static const ByVector<Of> by = best_vector<Of>();
  for (npy_intp p = 0; p < a.columns; ++p) scratch[p] = read<Of>(a.at(0, p));
  by(scratch, b, out, scratch + a.columns);
}

// One element of the result after the other: needs no memory.
template <class Of>
void by_elements(const Matrix& a, const Matrix& b, const Matrix& out) {
  for (npy_intp i = 0; i < a.rows; ++i)
    for (npy_intp j = 0; j < b.columns; ++j) {
      typename Of::Sum sum{};
      const char *x = a.at(i, 0), *y = b.at(0, j);
      for (npy_intp p = 0; p < a.columns && !ended<Of>(&sum, 1, p); ++p, x += a.right, y += b.down)
        Of::add(sum, read<Of>(x), read<Of>(y));
      write<Of>(out.at(i, j), sum);
    }
}

// ---- bools: 64 columns in a word

// Eight bools that lie together as bits, the first one the lowest; any byte but zero is true.
inline uint64_t bits_of_eight(const char* p) {
  uint64_t x;
  std::memcpy(&x, p, sizeof x);
  constexpr uint64_t low = 0x7f7f7f7f7f7f7f7f;
  x = (((x & low) + low) | x) >> 7 & 0x0101010101010101;
  return x * 0x0102040810204080 >> 56;
}
inline void write_eight(char* p, uint64_t bits) {
  uint64_t x = (bits & 0xff) * 0x0101010101010101 & 0x8040201008040201;
  x = ((x + 0x7f7f7f7f7f7f7f7f) | x) >> 7 & 0x0101010101010101;
  std::memcpy(p, &x, sizeof x);
}

constexpr npy_intp kBits = 64, kWords = 8;
constexpr bool kLittle = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;  // in words, so the first byte is the lowest

// A row of bools as bits, and back.
inline void to_bits(const char* p, npy_intp step, npy_intp columns, uint64_t* words) {
  for (npy_intp j = 0; j < columns; ++words) {
    const npy_intp end = std::min(columns, j + kBits);
    uint64_t word = 0;
    for (npy_intp bit = 0; j < end;) {
      if (kLittle && step == 1 && j + 8 <= end) {
        word |= bits_of_eight(p + j) << bit;
        j += 8, bit += 8;
      } else {
        word |= uint64_t(p[j * step] != 0) << bit;
        ++j, ++bit;
      }
    }
    *words = word;
  }
}
inline void from_bits(const uint64_t* words, char* p, npy_intp step, npy_intp columns) {
  for (npy_intp j = 0; j < columns;) {
    const uint64_t word = words[j / kBits] >> j % kBits;
    if (kLittle && step == 1 && j % 8 == 0 && j + 8 <= columns) {
      write_eight(p + j, word);
      j += 8;
    } else {
      p[j * step] = word & 1;
      ++j;
    }
  }
}

// Those rows of words that `chosen` names, or-ed into `sums`, until all bits are set.
template <npy_intp width>
inline void or_rows(const uint64_t* chosen, const uint64_t* rows, npy_intp row, npy_intp k, uint64_t* sums) {
  uint64_t so_far[width];
  std::memcpy(so_far, sums, sizeof so_far);
  for (npy_intp p = 0; p < k;) {
    for (const npy_intp end = std::min(k, p + 8); p < end; ++p)
      for (npy_intp w = 0; w < width; ++w) so_far[w] |= rows[p * row + w] & chosen[p];
    uint64_t all = so_far[0];
    for (npy_intp w = 1; w < width; ++w) all &= so_far[w];
    if (all == ~uint64_t{0}) break;
  }
  std::memcpy(sums, so_far, sizeof so_far);
}

// A row of the result is the "or" of the right one's rows that the left one's row names.
void multiply_bits(const Matrix& a, const Matrix& b, const Matrix& out, uint64_t* words) {
  const npy_intp k = a.columns, m = b.columns, row = (m + kBits - 1) / kBits;
  uint64_t* const chosen = words + k * row;
  uint64_t* const sums = chosen + k;
  for (npy_intp p = 0; p < k; ++p) to_bits(b.at(p, 0), b.right, m, words + p * row);
  for (npy_intp i = 0; i < a.rows; ++i) {
    for (npy_intp p = 0; p < k; ++p) chosen[p] = *a.at(i, p) ? ~uint64_t{0} : 0;
    std::fill(sums, sums + row, 0);
    if (m % kBits) sums[row - 1] = ~uint64_t{0} << m % kBits;  // columns that there aren't keep nothing waiting
    npy_intp w = 0;
    for (; w + kWords <= row; w += kWords) or_rows<kWords>(chosen, words + w, row, k, sums + w);
    for (; w < row; ++w) or_rows<1>(chosen, words + w, row, k, sums + w);
    from_bits(sums, out.at(i, 0), out.right, m);
  }
}

template <class Of>
void loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  using Sum = typename Of::Sum;
  Matrix a{args[0], dims[1], dims[2], steps[3], steps[4]}, b{args[1], dims[2], dims[3], steps[5], steps[6]};
  Matrix out{args[2], dims[1], dims[3], steps[7], steps[8]};
  const auto turned = [](const Matrix& x) { return Matrix{x.data, x.columns, x.rows, x.right, x.down}; };
  const bool turn = b.columns < kColumns<Of> && a.rows > b.columns;  // few columns: those of the transpose are more
  if (turn) {
    std::swap(a, b);
    a = turned(a), b = turned(b), out = turned(out);
  }
  const npy_intp first = turn ? 1 : 0, k = a.columns, m = b.columns;
  constexpr npy_intp size = sizeof(Sum), width = kColumns<Of>, item = sizeof(typename Of::Element);
  const bool vector = !std::is_same_v<Of, Half> && a.rows == 1 && (b.down == item || b.right == item);
  const npy_intp tiles = std::max<npy_intp>(1, kPanel / std::max<npy_intp>(k * width * size, 1));
  const npy_intp most = std::min(tiles * width, (m + width - 1) / width * width);
  std::unique_ptr<Sum[]> scratch;
  std::unique_ptr<uint64_t[]> words;
  if constexpr (std::is_same_v<Of, Logical>) {
    const npy_intp row = (m + kBits - 1) / kBits;
    if (!vector && a.rows * k * m > 256) words.reset(new (std::nothrow) uint64_t[k * (row + 1) + row]);
  }
  if (!words && a.rows * k * m > 256 && a.rows * m > 1 && k * width * size <= kLongest)
    scratch.reset(new (std::nothrow) Sum[vector ? k + m : k * (most + kRows)]);
  for (npy_intp n = 0; n < dims[0]; ++n) {
    if (words) multiply_bits(a, b, out, words.get());
    else if (scratch && vector) multiply_vector<Of>(a, b, out, scratch.get());
    else if (scratch) multiply<Of>(a, b, out, scratch.get(), scratch.get() + k * most, most);
    else by_elements<Of>(a, b, out);
    a.data += steps[first];
    b.data += steps[1 - first];
    out.data += steps[2];
  }
}

}  // namespace

Loop product_loop(int dtype) {
  switch (info(dtype).kind == 'u' || info(dtype).kind == 'i' ? info(dtype).size : 0) {
    case 1: return loop<Wrapping<uint8_t, uint16_t>>;
    case 2: return loop<Wrapping<uint16_t, uint16_t>>;
    case 4: return loop<Wrapping<uint32_t, uint32_t>>;
    case 8: return loop<Wrapping<uint64_t, uint64_t>>;
    default: return dtype == B_ ? loop<Logical> : dtype == f2 ? loop<Half> : nullptr;
  }
}

}  // namespace lazyarray
