// Normal numbers of newer streams, many at once: G. Marsaglia and W. W. Tsang, "The Ziggurat Method for Generating Random
// Variables", 2000, as NumPy has it. Its sign is a branch that a processor guesses wrong half of the time, which takes 8 of
// 10 ns; here it is an operation on bits. The layers of NumPy's ziggurat are asked from its own function, which also makes
// the numbers that are not in the inner part of a layer, 1.2 of a hundred.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>

#include <numpy/random/bitgen.h>

#include "lazy/numpy.h"

extern "C" double random_standard_normal(bitgen_t*);

namespace lazyarray {

class Ziggurat {
 public:
  Ziggurat() {
    for (uint64_t k = 0; k < kLayers; ++k) {
      uint64_t inside = 0, outside = kSpan;  // the first number that isn't in the layer is in between, or the latter
      while (inside < outside) {
        const uint64_t middle = inside + (outside - inside) / 2;
        if (asked(k, middle).inner) inside = middle + 1;
        else outside = middle;
      }
      inner_[k] = inside;
      widths_[k] = inside > 1 ? asked(k, 1).x : 0;
    }
  }

  void draw(bitgen_t* words, double first, double second, double* out, npy_intp n) const {
    for (npy_intp i = 0; i < n; ++i) {
      const uint64_t word = words->next_uint64(words->state), number = word >> 9 & (kSpan - 1);
      const int layer = word & (kLayers - 1);
      double x = static_cast<double>(static_cast<int64_t>(number)) * widths_[layer];
      if (__builtin_expect(number < inner_[layer], true)) {
        uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        bits ^= (word >> 8 & 1) << 63;
        std::memcpy(&x, &bits, sizeof x);
      } else {
        Again again{words, word, true};
        bitgen_t same = again_by(&again);
        x = random_standard_normal(&same);
      }
      out[i] = first + second * x;
    }
  }

 private:
  static constexpr int kLayers = 256;
  static constexpr uint64_t kSpan = uint64_t(1) << 52;
  std::array<uint64_t, kLayers> inner_;
  std::array<double, kLayers> widths_;

  // Words that begin with one that was drawn already.
  struct Again {
    bitgen_t* words;
    uint64_t word;
    bool first;
  };
  static bitgen_t again_by(Again* again) {
    bitgen_t same = *again->words;
    same.state = again;
    same.next_uint64 = [](void* state) {
      auto* a = static_cast<Again*>(state);
      if (!a->first) return a->words->next_uint64(a->words->state);
      a->first = false;
      return a->word;
    };
    same.next_double = [](void* state) {
      auto* a = static_cast<Again*>(state);
      return a->words->next_double(a->words->state);
    };
    return same;
  }

  // What NumPy makes of one word, and whether it needs no other.
  struct Answer {
    double x;
    bool inner;
  };
  static Answer asked(uint64_t layer, uint64_t number) {
    struct Words {
      uint64_t first;
      int drawn;
    } words{number << 9 | layer, 0};
    bitgen_t given{};
    given.state = &words;
    given.next_uint64 = [](void* state) {
      auto* w = static_cast<Words*>(state);
      return w->drawn++ == 0 ? w->first : uint64_t{2};  // zero, in a layer
    };
    given.next_double = [](void* state) {
      ++static_cast<Words*>(state)->drawn;
      return 0.5;
    };
    const double x = random_standard_normal(&given);
    return {x, words.drawn == 1};
  }
};

inline void ziggurat_normals(bitgen_t* words, double first, double second, double* out, npy_intp n) {
  static const Ziggurat ziggurat;
  ziggurat.draw(words, first, second, out, n);
}

}  // namespace lazyarray
