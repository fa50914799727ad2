// Transposed copies.
#include "lazy/cpu/turn.h"

#include <cstdint>
#include <cstring>

#include "lazy/loop.h"

namespace lazyarray {

namespace {

template <class V>
inline V load(const char* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// A square of elements of T, as many as a register of 16 bytes holds.
template <class T>
struct Square;

template <>
struct Square<int64_t> {
  static constexpr int kSide = 2;
  typedef int64_t V __attribute__((vector_size(16)));

  static void turn(char* to, npy_intp to_step, const char* from, npy_intp from_step) {
    const V a = load<V>(from), b = load<V>(from + from_step);
    const V first = __builtin_shufflevector(a, b, 0, 2), second = __builtin_shufflevector(a, b, 1, 3);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + to_step, &second, sizeof second);
  }
};

template <>
struct Square<int32_t> {
  static constexpr int kSide = 4;
  typedef int32_t V __attribute__((vector_size(16)));

  static void turn(char* to, npy_intp to_step, const char* from, npy_intp from_step) {
    const V a = load<V>(from), b = load<V>(from + from_step);
    const V c = load<V>(from + 2 * from_step), d = load<V>(from + 3 * from_step);
    const V ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const V ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const V rows[] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                      __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5), __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7)};
    for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_step, &rows[i], sizeof rows[i]);
  }
};

template <>
struct Square<Sixteen> {
  static constexpr int kSide = 1;
  static void turn(char* to, npy_intp, const char* from, npy_intp) { std::memcpy(to, from, sizeof(Sixteen)); }
};

// A cache line of each column at a time, or half of one.
template <class T, int kRows>
void turn_rows(char* to, npy_intp to_step, const char* from, npy_intp from_step, npy_intp rows, npy_intp columns,
               npy_intp* first) {
  constexpr npy_intp size = sizeof(T), side = Square<T>::kSide;
  for (; *first + kRows <= rows; *first += kRows) {
    const char* in = from + *first * size;
    char* out = to + *first * to_step;
    npy_intp k = 0;
    for (; k + side <= columns; k += side, in += side * from_step, out += side * size)
      for (npy_intp i = 0; i < kRows; i += side)
        Square<T>::turn(out + i * to_step, to_step, in + i * size, from_step);
    for (; k < columns; ++k, in += from_step, out += size)
      for (npy_intp i = 0; i < kRows; ++i) std::memcpy(out + i * to_step, in + i * size, size);
  }
}

template <class T>
void turn_of(char* to, npy_intp to_step, const char* from, npy_intp from_step, npy_intp rows, npy_intp columns) {
  npy_intp first = 0;
  turn_rows<T, 8>(to, to_step, from, from_step, rows, columns, &first);
  turn_rows<T, 4>(to, to_step, from, from_step, rows, columns, &first);
  for (; first < rows; ++first)
    for (npy_intp k = 0; k < columns; ++k)
      std::memcpy(to + first * to_step + k * sizeof(T), from + k * from_step + first * sizeof(T), sizeof(T));
}

}  // namespace

void turn(int size, char* to, npy_intp to_step, const char* from, npy_intp from_step, npy_intp rows, npy_intp columns) {
  if (size == 4) turn_of<int32_t>(to, to_step, from, from_step, rows, columns);
  else if (size == 8) turn_of<int64_t>(to, to_step, from, from_step, rows, columns);
  else turn_of<Sixteen>(to, to_step, from, from_step, rows, columns);
}

}  // namespace lazyarray
