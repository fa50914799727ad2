// NumPy casts 8192 elements at a time to eight bytes each, and adds these up: 0.6 ns an element. Two neighbours add up
// in a lane of twice their width, which holds many such sums before it must be emptied; so a vector of 32 bytes is 32
// bools. 100,000 of them take 3 us.
#include "lazy/cpu/narrow_sums.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lazy/cpu/rows.h"
#include "lazy/dtype.h"
#include "lazy/processor.h"

namespace lazyarray {
namespace {

struct Bool {  // any byte but 0 is true, as for NumPy's casts
  uint8_t byte;
  operator uint8_t() const { return byte != 0; }
};

template <class T> struct LaneOf { using type = std::make_unsigned_t<T>; };
template <> struct LaneOf<Bool> { using type = uint8_t; };
template <class T> struct Twice;
template <> struct Twice<uint8_t> { using type = uint16_t; };
template <> struct Twice<uint16_t> { using type = uint32_t; };
template <> struct Twice<uint32_t> { using type = uint64_t; };

// Of kRowsAtOnce elements.
template <class T> struct SumOf {
  using type = std::conditional_t<sizeof(T) == 1, int16_t, std::conditional_t<sizeof(T) == 2, int32_t, int64_t>>;
};
template <> struct SumOf<Bool> { using type = uint8_t; };

constexpr int kVector = 32;  // bytes
constexpr int kVectors = 2;  // at a time, of which neither waits for the other

// The sum of n elements that lie one after the other, modulo 2**64.
template <class T>
[[gnu::always_inline]] inline uint64_t add_up(const char* from, npy_intp n) {
  using Lane = typename LaneOf<T>::type;
  using Wide = typename Twice<Lane>::type;
  typedef Lane Lanes __attribute__((vector_size(kVector)));
  typedef Wide Wides __attribute__((vector_size(kVector)));
  constexpr int bits = 8 * sizeof(Lane);
  constexpr npy_intp in_vector = kVector / sizeof(Lane);
  // Signed ones, their sign bit flipped, are 2**(bits - 1) larger, and not negative.
  constexpr Lane flipped = std::is_signed_v<T> ? Lane(1) << (bits - 1) : 0;
  constexpr npy_intp most = npy_intp(1) << (std::min(bits, 16) - 1);  // sums of two that a lane of twice the width holds
  uint64_t total = 0;
  npy_intp i = 0;
  while (n - i >= kVectors * in_vector) {
    const npy_intp turns = std::min(most, (n - i) / (kVectors * in_vector));
    Wides sums[kVectors] = {};
    for (npy_intp t = 0; t < turns; ++t, i += kVectors * in_vector) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        Lanes lanes;
        std::memcpy(&lanes, from + (i + v * in_vector) * sizeof(Lane), kVector);
        if constexpr (std::is_same_v<T, Bool>) lanes = reinterpret_cast<Lanes>(lanes != Lanes{}) & 1;
        const Wides pairs = reinterpret_cast<Wides>(lanes ^ flipped);
        sums[v] += (pairs & Wide(Lane(-1))) + (pairs >> bits);
      }
    }
    for (const Wides& each : sums)
      for (int l = 0; l < kVector / static_cast<int>(sizeof(Wide)); ++l) total += each[l];
    total -= static_cast<uint64_t>(turns * kVectors * in_vector) * flipped;
  }
  for (; i < n; ++i) total += static_cast<uint64_t>(reinterpret_cast<const T*>(from)[i]);
  return total;
}

template <class T>
[[gnu::always_inline]] inline void add_rows(char* to, const char* row, npy_intp step, npy_intp count, npy_intp n) {
  using Some = typename SumOf<T>::type;
  add_all_rows<uint64_t, T, Some>(to, row, step, count, n);
}

namespace plain {
template <class T>
uint64_t sum(const char* from, npy_intp n) {
  return add_up<T>(from, n);
}
template <class T>
void rows(char* to, const char* row, npy_intp step, npy_intp count, npy_intp n) {
  add_rows<T>(to, row, step, count, n);
}
}  // namespace plain

#if defined(__x86_64__)
namespace wide {
template <class T>
[[gnu::target("avx2")]] uint64_t sum(const char* from, npy_intp n) {
  return add_up<T>(from, n);
}
template <class T>
[[gnu::target("avx2")]] void rows(char* to, const char* row, npy_intp step, npy_intp count, npy_intp n) {
  add_rows<T>(to, row, step, count, n);
}
}  // namespace wide
#else
namespace wide = plain;
#endif

template <class T>
void loop(char** args, npy_intp const* dimensions, npy_intp const* steps, void*) {
  static const auto best = has_avx2() ? wide::sum<T> : plain::sum<T>;
  const npy_intp n = dimensions[0];
  const char *a = args[0], *b = args[1];
  char* to = args[2];
  const bool is_sum = a == to && steps[0] == 0 && steps[2] == 0;
  uint64_t total;
  if (is_sum) {
    std::memcpy(&total, to, sizeof total);
    if (steps[1] == sizeof(T)) total += best(b, n);
    else
      for (npy_intp i = 0; i < n; ++i) total += static_cast<uint64_t>(*reinterpret_cast<const T*>(b + i * steps[1]));
    std::memcpy(to, &total, sizeof total);
    return;
  }
  for (npy_intp i = 0; i < n; ++i, a += steps[0], b += steps[1], to += steps[2]) {
    std::memcpy(&total, a, sizeof total);
    total += static_cast<uint64_t>(*reinterpret_cast<const T*>(b));
    std::memcpy(to, &total, sizeof total);
  }
}

template <class F>
auto of_dtype(int dtype, F f) -> decltype(f(Bool())) {
  const DtypeInfo& of = info(dtype);
  const bool is_signed = of.kind == 'i';
  if (of.kind == 'b') return f(Bool());
  if (!is_signed && of.kind != 'u') return nullptr;
  switch (of.size) {
    case 1: return is_signed ? f(int8_t()) : f(uint8_t());
    case 2: return is_signed ? f(int16_t()) : f(uint16_t());
    case 4: return is_signed ? f(int32_t()) : f(uint32_t());
    default: return nullptr;
  }
}

}  // namespace

Loop narrow_sum(int dtype) {
  return of_dtype(dtype, [](auto item) -> Loop { return loop<decltype(item)>; });
}

RowsLoop narrow_rows(int dtype) {
  return of_dtype(dtype, [](auto item) -> RowsLoop {
    return has_avx2() ? wide::rows<decltype(item)> : plain::rows<decltype(item)>;
  });
}

}  // namespace lazyarray
