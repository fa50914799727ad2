// Windows over planes: laying them out as columns (im2col), its adjoint, and their maxima.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "lazy/loop.h"

namespace lazyarray {

// How windows lie on a plane, as the instruction's core lengths (plane and windows) and core steps: pairs
// of (rows, columns) as (high, low) halves of a word, and the bytes between a plane's rows.
struct Windows {
  // Of an element of the windows, along one axis: where it is in the first window, and the windows
  // [from, to) in which it is on the plane.
  struct Reach {
    npy_intp at, from, to;
  };
  npy_intp h, w, oh, ow;  // the plane, and how many windows
  npy_intp sh, sw;        // from one window to the next
  npy_intp row;           // bytes from one row of the plane to the next
  npy_intp tap;           // bytes from one element of the windows to the next, in columns
  std::vector<Reach> down, across;  // of each row and column of a window

  Windows(const npy_intp* core, const npy_intp* steps)
      : h(core[0]), w(core[1]), oh(core[2]), ow(core[3]), row(steps[4]), tap(steps[5]) {
    sh = steps[1] >> 32;
    sw = steps[1] & kLow;
    reach(down, steps[0] >> 32, sh, steps[2] >> 32, steps[3] >> 32, h, oh);
    reach(across, steps[0] & kLow, sw, steps[2] & kLow, steps[3] & kLow, w, ow);
  }
  // Whether a window's element is a shift of the plane, but for its borders.
  template <class T>
  bool shifts() const {
    return sh == 1 && sw == 1 && ow == w && row == w * static_cast<npy_intp>(sizeof(T));
  }

 private:
  static constexpr npy_intp kLow = 0xffffffff;
  static void reach(std::vector<Reach>& all, npy_intp kernel, npy_intp stride, npy_intp padding,
                    npy_intp dilation, npy_intp n, npy_intp windows) {
    all.resize(kernel);
    for (npy_intp k = 0; k < kernel; ++k) {
      const npy_intp at = k * dilation - padding;
      const npy_intp from = at < 0 ? std::min((stride - 1 - at) / stride, windows) : 0;
      const npy_intp to = at < n ? std::min((n - 1 - at) / stride + 1, windows) : 0;
      all[k] = {at, from, std::max(from, to)};
    }
  }
};

// Columns of one plane: an element of the windows each, 0 outside the plane.
template <class T>
void unfold_plane(const char* plane, char* columns, const Windows& g) {
  for (const Windows::Reach& y : g.down)
    for (const Windows::Reach& x : g.across) {
      T* out = reinterpret_cast<T*>(columns);
      columns += g.tap;
      std::fill(out, out + y.from * g.ow, T(0));
      std::fill(out + y.to * g.ow, out + g.oh * g.ow, T(0));
      if (g.template shifts<T>()) {
        // All rows at once; what this puts beside the plane is cleared below.
        const npy_intp start = (y.from + y.at) * g.w + x.at, first = std::max<npy_intp>(-start, 0);
        const npy_intp n = std::min((y.to - y.from) * g.w, g.h * g.w - start);
        if (n > first)
          std::memcpy(out + y.from * g.w + first, reinterpret_cast<const T*>(plane) + start + first,
                      (n - first) * sizeof(T));
        for (npy_intp o = y.from; o < y.to; ++o) {
          for (npy_intp k = 0; k < x.from; ++k) out[o * g.ow + k] = 0;
          for (npy_intp k = x.to; k < g.ow; ++k) out[o * g.ow + k] = 0;
        }
        continue;
      }
      for (npy_intp o = y.from; o < y.to; ++o) {
        T* to = out + o * g.ow;
        const T* in = reinterpret_cast<const T*>(plane + (o * g.sh + y.at) * g.row) + x.at;
        for (npy_intp k = 0; k < x.from; ++k) to[k] = 0;
        for (npy_intp k = x.from; k < x.to; ++k) to[k] = in[k * g.sw];
        for (npy_intp k = x.to; k < g.ow; ++k) to[k] = 0;
      }
    }
}

// Its adjoint: each element of a plane gets the sum over its places in the windows.
template <class T>
void fold_plane(const char* columns, char* plane, const Windows& g) {
  for (npy_intp r = 0; r < g.h; ++r) std::memset(plane + r * g.row, 0, g.w * sizeof(T));
  for (const Windows::Reach& y : g.down)
    for (const Windows::Reach& x : g.across) {
      const T* in = reinterpret_cast<const T*>(columns) + y.from * g.ow;
      columns += g.tap;
      for (npy_intp o = y.from; o < y.to; ++o, in += g.ow) {
        T* out = reinterpret_cast<T*>(plane + (o * g.sh + y.at) * g.row) + x.at;
        if (g.sw == 1) {
#pragma clang loop vectorize(assume_safety)
#pragma GCC ivdep
          for (npy_intp k = x.from; k < x.to; ++k) out[k] += in[k];
        } else {
          for (npy_intp k = x.from; k < x.to; ++k) out[k * g.sw] += in[k];
        }
      }
    }
}

// As a gufunc's: plane and columns.
template <class T>
void unfold_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  const Windows g(dims + 1, steps + 2);
  for (npy_intp b = 0; b < dims[0]; ++b)
    unfold_plane<T>(args[0] + b * steps[0], args[1] + b * steps[1], g);
}

template <class T>
void fold_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  const Windows g(dims + 1, steps + 2);
  for (npy_intp b = 0; b < dims[0]; ++b)
    fold_plane<T>(args[0] + b * steps[0], args[1] + b * steps[1], g);
}

// The greatest element of each window, and where in its plane it is: the first of several, the last NaN.
// Each window meets its plane (la.nn checks that), or its element is the lowest and its place 0.
template <class T>
void maxima_plane(const char* plane, T* best, int32_t* place, const Windows& g) {
  std::fill(best, best + g.oh * g.ow, -std::numeric_limits<T>::infinity());
  std::fill(place, place + g.oh * g.ow, -1);
  for (const Windows::Reach& y : g.down)
    for (const Windows::Reach& x : g.across)
      for (npy_intp o = y.from; o < y.to; ++o) {
        const npy_intp r = o * g.sh + y.at;
        const T* in = reinterpret_cast<const T*>(plane + r * g.row) + x.at;
        T* b = best + o * g.ow;
        int32_t* p = place + o * g.ow;
        const int32_t start = static_cast<int32_t>(r * g.w + x.at), step = static_cast<int32_t>(g.sw);
#pragma clang loop vectorize(assume_safety)
#pragma GCC ivdep
        for (npy_intp k = x.from; k < x.to; ++k) {
          const T v = in[k * g.sw];
          const bool take = (v > b[k]) | (v != v) | (p[k] < 0);
          b[k] = take ? v : b[k];
          p[k] = take ? start + static_cast<int32_t>(k) * step : p[k];
        }
      }
}

// As a gufunc's: plane, maxima, places.
template <class T>
void maxima_loop(char** args, const npy_intp* dims, const npy_intp* steps, void*) {
  const Windows g(dims + 1, steps + 3);
  for (npy_intp b = 0; b < dims[0]; ++b)
    maxima_plane<T>(args[0] + b * steps[0], reinterpret_cast<T*>(args[1] + b * steps[1]),
                    reinterpret_cast<int32_t*>(args[2] + b * steps[2]), g);
}

}  // namespace lazyarray
