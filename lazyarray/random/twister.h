// Many numbers from a Mersenne twister (M. Matsumoto and T. Nishimura, "Mersenne Twister", 1998), in NumPy's order. Its
// words are made 624 at a time, and NumPy fetches them one by one, 1.5 ns each; in vectors one takes 0.3.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lazy/numpy.h"
#include "lazy/processor.h"

namespace lazyarray {

// NumPy's state (numpy/random/src/mt19937/mt19937.h): words that are not tempered yet, and the next one's place.
struct Twister {
  static constexpr int kWords = 624, kFar = 397;
  uint32_t key[kWords];
  int pos;
};

namespace twisting {

#define WIDE [[gnu::always_inline]] inline

WIDE uint32_t mixed(uint32_t upper, uint32_t lower) {
  const uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
  return (y >> 1) ^ (-(lower & 1) & 0x9908b0dfu);
}
WIDE void twist(uint32_t* key) {
  constexpr int n = Twister::kWords, far = Twister::kFar;
  for (int i = 0; i < n - far; ++i) key[i] = key[i + far] ^ mixed(key[i], key[i + 1]);
  for (int i = n - far; i < n - 1; ++i) key[i] = key[i + far - n] ^ mixed(key[i], key[i + 1]);
  key[n - 1] = key[far - 1] ^ mixed(key[n - 1], key[0]);
}
WIDE void temper(const uint32_t* from, uint32_t* to, int n) {
  for (int i = 0; i < n; ++i) {
    uint32_t y = from[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    to[i] = y ^ (y >> 18);
  }
}
WIDE double uniform(uint32_t a, uint32_t b) {
  return (static_cast<int32_t>(a >> 5) * 67108864.0 + static_cast<int32_t>(b >> 6)) / 9007199254740992.0;
}

// What is left of a block of words, tempered.
struct Block {
  Twister& twister;
  uint32_t words[Twister::kWords];
  int at = 0, end = 0;

  WIDE explicit Block(Twister& t) : twister(t) { fill(); }
  WIDE ~Block() { twister.pos = Twister::kWords - left(); }
  WIDE int left() const { return end - at; }
  WIDE void fill() {
    if (twister.pos < 0 || twister.pos >= Twister::kWords) {  // it may have been set to anything
      twist(twister.key);
      twister.pos = 0;
    }
    at = 0;
    end = Twister::kWords - twister.pos;
    temper(twister.key + twister.pos, words, end);
    twister.pos = Twister::kWords;  // all of them are here
  }
  WIDE uint32_t next() {
    if (at == end) fill();
    return words[at++];
  }
};

// Numbers from 0 to 1.
WIDE void uniforms(Block& block, double* out, npy_intp n) {
  while (n > 0) {
    const int pairs = static_cast<int>(std::min<npy_intp>(n, block.left() / 2));
    const uint32_t* from = block.words + block.at;
    for (int i = 0; i < pairs; ++i) out[i] = uniform(from[2 * i], from[2 * i + 1]);
    block.at += 2 * pairs;
    out += pairs;
    n -= pairs;
    if (n == 0) return;
    const uint32_t first = block.next();  // the last of this block, if there is one
    *out++ = uniform(first, block.next());
    --n;
  }
}

// Whole numbers from low to low + range: words, cut to as many bits as the range has, if they are in it.
WIDE void integers(Block& block, uint64_t low, uint32_t range, uint64_t* out, npy_intp n) {
  const uint32_t mask = range ? 0xffffffffu >> __builtin_clz(range) : 0;
  while (n > 0) {
    if (block.left() == 0) block.fill();
    const int words = static_cast<int>(std::min<npy_intp>(n, block.left()));  // no more than there is room for
    const uint32_t* from = block.words + block.at;
    int found = 0;
    for (int i = 0; i < words; ++i) {
      const uint32_t word = from[i] & mask;
      out[found] = low + word;
      found += word <= range;
    }
    block.at += words;
    out += found;
    n -= found;
  }
}

// For `count` numbers, from `last` downwards, a whole number up to each.
WIDE void places(Block& block, uint32_t last, int count, uint32_t* out) {
  for (int done = 0; done < count;) {
    if (block.left() == 0) block.fill();
    // Of numbers with as many bits, at most as many as there are words.
    const uint32_t from = last - done, mask = 0xffffffffu >> __builtin_clz(from);
    const int alike = static_cast<int>(std::min<uint32_t>(from - (mask >> 1), count - done));
    const int words = std::min(alike, block.left());
    const uint32_t* next = block.words + block.at;
    int found = 0;
    for (int i = 0; i < words; ++i) {
      const uint32_t word = next[i] & mask;
      out[done + found] = word;
      found += word <= from - found;
    }
    block.at += words;
    done += found;
  }
}

// A normal number that waits: the older streams make two at a time.
struct Waiting {
  int full;
  double number;
};

// Normal numbers, first + second * each, by Marsaglia's polar method.
WIDE void normals(Block& block, Waiting& waiting, double first, double second, double* out, npy_intp n) {
  constexpr int kTrials = 128;
  if (n > 0) {
    if (waiting.full) {
      *out++ = first + second * waiting.number;
      --n;
    }
    waiting = {0, 0};
  }
  double a[kTrials], b[kTrials], squares[kTrials], logs[kTrials], numbers[2 * kTrials];
  while (n > 0) {
    const int trials = static_cast<int>(std::min<npy_intp>((n + 1) / 2, kTrials));  // which must be made
    uniforms(block, numbers, 2 * trials);
    int found = 0;
    for (int i = 0; i < trials; ++i) {
      a[found] = 2 * numbers[2 * i] - 1;
      b[found] = 2 * numbers[2 * i + 1] - 1;
      squares[found] = a[found] * a[found] + b[found] * b[found];
      found += (squares[found] < 1) & (squares[found] != 0);
    }
    for (int i = 0; i < found; ++i) logs[i] = std::log(squares[i]);
    for (int i = 0; i < found; ++i) squares[i] = std::sqrt(-2 * logs[i] / squares[i]);
    const int pairs = static_cast<int>(std::min<npy_intp>(found, n / 2));
    for (int i = 0; i < pairs; ++i) {
      out[2 * i] = first + second * (squares[i] * b[i]);
      out[2 * i + 1] = first + second * (squares[i] * a[i]);
    }
    out += 2 * pairs;
    n -= 2 * pairs;
    if (n == 1 && pairs < found) {
      *out = first + second * (squares[pairs] * b[pairs]);
      waiting = {1, squares[pairs] * a[pairs]};
      return;
    }
  }
}

template <class F>
void in_blocks_plain(Twister& t, F f) {
  Block block(t);
  f(block);
}
#if defined(__x86_64__)
template <class F>
[[gnu::target("avx2")]] void in_blocks_wide(Twister& t, F f) {
  Block block(t);
  f(block);
}
#else
template <class F>
void in_blocks_wide(Twister& t, F f) {
  in_blocks_plain(t, f);
}
#endif
template <class F>
void in_blocks(void* state, F f) {
  Twister& t = *static_cast<Twister*>(state);
  has_avx2() ? in_blocks_wide(t, f) : in_blocks_plain(t, f);
}
#undef WIDE

}  // namespace twisting

#define IN_LINE __attribute__((always_inline))
inline void twister_uniforms(void* state, double* out, npy_intp n) {
  twisting::in_blocks(state, [=](twisting::Block& block) IN_LINE { twisting::uniforms(block, out, n); });
}
inline void twister_integers(void* state, uint64_t low, uint32_t range, uint64_t* out, npy_intp n) {
  twisting::in_blocks(state, [=](twisting::Block& block) IN_LINE { twisting::integers(block, low, range, out, n); });
}
inline void twister_places(void* state, uint32_t last, int count, uint32_t* out) {
  twisting::in_blocks(state, [=](twisting::Block& block) IN_LINE { twisting::places(block, last, count, out); });
}
inline void twister_normals(void* state, twisting::Waiting* waiting, double first, double second, double* out,
                            npy_intp n) {
  twisting::in_blocks(state, [=](twisting::Block& block) IN_LINE { twisting::normals(block, *waiting, first, second, out, n); });
}
#undef IN_LINE

}  // namespace lazyarray
