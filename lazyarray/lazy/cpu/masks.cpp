// pick, place and fill: elements chosen by an array of booleans; NumPy has no loops for them.
#include "lazy/cpu/masks.h"

#include <algorithm>
#include <string>

namespace lazyarray {

npy_intp count_true(const char* mask, npy_intp n) {
  npy_intp count = 0, i = 0;
  while (i + 8 <= n) {
    // Byte by byte, as often as no byte can overflow; compilers make vector instructions of it.
    const npy_intp words = std::min<npy_intp>((n - i) / 8, 255);
    uint64_t sums = 0;
    for (npy_intp j = 0; j < words; ++j) {
      uint64_t w = eight(mask + i + 8 * j);
      w |= w >> 4;
      w |= w >> 2;
      w |= w >> 1;
      sums += w & 0x0101010101010101u;
    }
    for (int byte = 0; byte < 8; ++byte) count += sums >> (8 * byte) & 0xff;
    i += 8 * words;
  }
  for (; i < n; ++i) count += mask[i] != 0;
  return count;
}

void places_of_true(const char* mask, npy_intp n, npy_intp* to) {
  each_true(mask, n, [&](npy_intp i) { *to++ = i; });
}

// Elements that lie one step apart, as those of a column do; what lies together is a pointer.
template <class T>
struct Apart {
  char* first;
  npy_intp step;
  T& operator[](npy_intp i) const { return *reinterpret_cast<T*>(first + i * step); }
};
template <class T>
void copy_eight(T* to, const T* from, npy_intp i) {
  std::memcpy(to, from + i, 8 * sizeof(T));
}
template <class T>
void copy_eight(T* to, Apart<T> from, npy_intp i) {
  for (int k = 0; k < 8; ++k) to[k] = from[i + k];
}
template <class T>
void store_eight(T* to, npy_intp i, const T* from) {
  std::memcpy(to + i, from, 8 * sizeof(T));
}
template <class T>
void store_eight(Apart<T> to, npy_intp i, const T* from) {
  for (int k = 0; k < 8; ++k) to[i + k] = from[k];
}

// As gufuncs', whose only core step is that of the operand of all n; the others lie together. Core dimensions: n and
// how many are true.
// pick: source (n), mask (n), output (count).
template <class T, class From>
void pick_items(From from, char** args, const npy_intp* dims) {
  const char* mask = args[1];
  T* to = reinterpret_cast<T*>(args[2]);
  T* const end = to + dims[2];
  // Each is written and, if it wasn't wanted, written over: no branch to guess.
  auto pick = [&](npy_intp i) {
    *to = from[i];
    to += mask[i] != 0;
  };
  npy_intp i = 0;
  while (to != end && i < dims[1]) {
    const npy_intp left = dims[1] - i;
    if (left >= 32 && !(eight(mask + i) | eight(mask + i + 8) | eight(mask + i + 16) | eight(mask + i + 24)))
      i += 32;
    else if (left >= 8 && !eight(mask + i)) i += 8;
    else if (left >= 8 && end - to >= 8 && all_eight(eight(mask + i))) {
      copy_eight(to, from, i);
      to += 8;
      i += 8;
    } else if (left >= 8 && end - to >= 8)
      for (const npy_intp last = i + 8; i < last; ++i) pick(i);
    else pick(i++);
  }
}
template <class T>
void pick_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  if (steps[3] == static_cast<npy_intp>(sizeof(T))) pick_items<T>(reinterpret_cast<const T*>(args[0]), args, dims);
  else pick_items<T>(Apart<T>{args[0], steps[3]}, args, dims);
}

// place: mask (n), values (count, or one for all), output (n), which is written where it is true.
template <class T, class To>
void place_items(To to, char** args, const npy_intp* dims) {
  const T* from = reinterpret_cast<const T*>(args[1]);
  const npy_intp step = dims[2] != 1;
  each_true(
      args[0], dims[1],
      [&](npy_intp i) {
        to[i] = *from;
        from += step;
      },
      [&](npy_intp i) {
        if (step) {
          store_eight(to, i, from);
          from += 8;
          return;
        }
        const T value = *from;
        for (int k = 0; k < 8; ++k) to[i + k] = value;
      });
}
template <class T>
void place_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  if (steps[3] == static_cast<npy_intp>(sizeof(T))) place_items<T>(reinterpret_cast<T*>(args[2]), args, dims);
  else place_items<T>(Apart<T>{args[2], steps[3]}, args, dims);
}

// The same of rows: values (count, block), output (n, block).
template <class T>
void place_rows_loop(char** args, const npy_intp* dims, const npy_intp*, void*) {
  const T* from = reinterpret_cast<const T*>(args[1]);
  T* to = reinterpret_cast<T*>(args[2]);
  const npy_intp block = dims[3], step = dims[2] != 1 ? block : 0;
  each_true(args[0], dims[1], [&](npy_intp i) {
    std::copy_n(from, block, to + i * block);
    from += step;
  });
}

// fill: mask (n), one value, output (n, block): all of a row where the mask is true.
template <class T>
void fill_loop(char** args, const npy_intp* dims, const npy_intp*, void*) {
  const char* mask = args[0];
  const T value = *reinterpret_cast<const T*>(args[1]);
  T* to = reinterpret_cast<T*>(args[2]);
  const npy_intp block = dims[2];
  each_true(
      mask, dims[1], [&](npy_intp i) { std::fill_n(to + i * block, block, value); },
      [&](npy_intp i) { std::fill_n(to + i * block, 8 * block, value); });
}

Loop fill_of_size(int size) {
  return of_size(size, [](auto item) -> Loop { return fill_loop<decltype(item)>; });
}
Loop pick_of_size(int size) {
  return of_size(size, [](auto item) -> Loop { return pick_loop<decltype(item)>; });
}
Loop place_of_size(int size) {
  return of_size(size, [](auto item) -> Loop { return place_loop<decltype(item)>; });
}

Loop place_rows_of_size(int size) {
  return of_size(size, [](auto item) -> Loop { return place_rows_loop<decltype(item)>; });
}

// How many are true, if that is another number than that of the values; else -1.
static npy_intp unmet(const Instr& in, const Block& b) {
  const npy_intp have = in.core[1], want = count_true(b.ptrs[0], in.core[0]);
  return have == 1 || have == want ? -1 : want;
}

Error* misfit(const Instr& in, const Block& b) {
  const npy_intp have = in.core[1], want = unmet(in, b);
  if (want < 0) return nullptr;
  return new Error(Error::VALUE, "NumPy boolean array indexing assignment cannot assign " +
                                     std::to_string(have) + " input values to the " +
                                     std::to_string(want) + " output values where the mask is true");
}

Error* misfit_rows(const Instr& in, const Block& b) {
  const npy_intp have = in.core[1], want = unmet(in, b);
  if (want < 0) return nullptr;
  return new Error(Error::VALUE, "shape mismatch: value array of shape (" + std::to_string(have) +
                                     ",...) could not be broadcast to indexing result of shape (" +
                                     std::to_string(want) + ",...)");
}

}  // namespace lazyarray
