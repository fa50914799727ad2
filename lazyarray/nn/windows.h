// Windows over planes: laying them out as columns (im2col), its adjoint, and their maxima.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "lazy/cpu/loop.h"

namespace lazyarray {

// How windows lie on a plane, as the instruction's core lengths (plane and windows) and core steps: pairs
// of (rows, columns) as (high, low) halves of a word, and the bytes between a plane's rows.
struct Windows {
  npy_intp h, w, oh, ow;    // the plane, and how many windows
  npy_intp kh, kw, sh, sw;  // a window, and the way from one to the next
  npy_intp ph, pw, dh, dw;  // the border before the plane, and the way between a window's elements
  npy_intp row;             // bytes from one row of the plane to the next
  npy_intp tap;             // bytes from one element of the windows to the next, in columns

  Windows(const npy_intp* core, const npy_intp* steps)
      : h(core[0]), w(core[1]), oh(core[2]), ow(core[3]), row(steps[4]), tap(steps[5]) {
    split(steps[0], kh, kw);
    split(steps[1], sh, sw);
    split(steps[2], ph, pw);
    split(steps[3], dh, dw);
  }
  static void split(npy_intp pair, npy_intp& high, npy_intp& low) {
    high = pair >> 32;
    low = pair & 0xffffffff;
  }
  // Where a window's column j starts, from the window, and the windows [from, to) whose column j is on
  // the plane.
  npy_intp column(npy_intp j, npy_intp& from, npy_intp& to) const {
    const npy_intp at = j * dw - pw;
    from = at < 0 ? std::min((sw - 1 - at) / sw, ow) : 0;
    to = at < w ? std::min((w - 1 - at) / sw + 1, ow) : 0;
    to = std::max(from, to);
    return at;
  }
  // Calls f(row of the windows, row of the plane or -1) for a window's row i.
  template <class F>
  void rows(npy_intp i, F f) const {
    for (npy_intp o = 0; o < oh; ++o) {
      const npy_intp r = o * sh + i * dh - ph;
      f(o, r >= 0 && r < h ? r : -1);
    }
  }
};

// Columns of one plane: an element of the windows each, 0 outside the plane.
template <class T>
void unfold_plane(const char* plane, char* columns, const Windows& g) {
  for (npy_intp i = 0; i < g.kh; ++i)
    for (npy_intp j = 0; j < g.kw; ++j, columns += g.tap) {
      npy_intp from, to;
      const npy_intp at = g.column(j, from, to);
      g.rows(i, [&](npy_intp o, npy_intp r) {
        T* out = reinterpret_cast<T*>(columns) + o * g.ow;
        if (r < 0) {
          std::fill(out, out + g.ow, T(0));
          return;
        }
        const T* in = reinterpret_cast<const T*>(plane + r * g.row) + at;
        for (npy_intp k = 0; k < from; ++k) out[k] = 0;
        if (g.sw == 1)
          for (npy_intp k = from; k < to; ++k) out[k] = in[k];
        else
          for (npy_intp k = from; k < to; ++k) out[k] = in[k * g.sw];
        for (npy_intp k = to; k < g.ow; ++k) out[k] = 0;
      });
    }
}

// Its adjoint: each element of a plane gets the sum over its places in the windows.
template <class T>
void fold_plane(const char* columns, char* plane, const Windows& g) {
  for (npy_intp r = 0; r < g.h; ++r) std::memset(plane + r * g.row, 0, g.w * sizeof(T));
  for (npy_intp i = 0; i < g.kh; ++i)
    for (npy_intp j = 0; j < g.kw; ++j, columns += g.tap) {
      npy_intp from, to;
      const npy_intp at = g.column(j, from, to);
      g.rows(i, [&](npy_intp o, npy_intp r) {
        if (r < 0) return;
        const T* in = reinterpret_cast<const T*>(columns) + o * g.ow;
        T* out = reinterpret_cast<T*>(plane + r * g.row) + at;
        if (g.sw == 1)
#pragma GCC ivdep
          for (npy_intp k = from; k < to; ++k) out[k] += in[k];
        else
          for (npy_intp k = from; k < to; ++k) out[k * g.sw] += in[k];
      });
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
  for (npy_intp i = 0; i < g.kh; ++i)
    for (npy_intp j = 0; j < g.kw; ++j) {
      npy_intp from, to;
      const npy_intp at = g.column(j, from, to);
      g.rows(i, [&](npy_intp o, npy_intp r) {
        if (r < 0) return;
        const T* in = reinterpret_cast<const T*>(plane + r * g.row) + at;
        T* b = best + o * g.ow;
        int32_t* p = place + o * g.ow;
        const int32_t start = static_cast<int32_t>(r * g.w + at), step = static_cast<int32_t>(g.sw);
#pragma GCC ivdep
        for (npy_intp k = from; k < to; ++k) {
          const T v = in[k * g.sw];
          const bool take = (v > b[k]) | (v != v) | (p[k] < 0);
          b[k] = take ? v : b[k];
          p[k] = take ? start + static_cast<int32_t>(k) * step : p[k];
        }
      });
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
