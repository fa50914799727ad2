// Blas: matrix products by cuBLAS, called without the GIL.
#pragma once
#include <dlfcn.h>

#include <algorithm>
#include <climits>
#include <map>
#include <string>

#include "lazy/cuda/gpu.h"
#include "lazy/instr.h"

namespace lazyarray::cuda {

// cuBLAS is loaded already, by CuPy: here are the few functions that products of floats need. Without
// them (or for other layouts and dtypes) CuPy does the product, which costs some 20 us under the GIL.
// Names and types: NVIDIA, "cuBLAS", the v2 API, whose matrices are in column order.
class Blas {
 public:
  // From the library at `path`; false if it lacks something.
  bool load(const char* path);

  // A matmul instruction; false if it is not one that goes this way.
  bool product(Instr& in, const Stream& stream, Error** error);

 private:
  // A matrix whose rows or columns are without gaps; the other ones `lead` elements apart.
  struct Matrix {
    bool columns = false;
    int lead = 1;
    bool set(npy_intp rows, npy_intp cols, npy_intp row_step, npy_intp col_step, npy_intp size);
    bool fits(npy_intp step, npy_intp least, npy_intp size);
  };

  template <class T>
  using Gemm = int (*)(void*, int, int, int, int, int, const T*, const T*, int, long long, const T*, int, long long,
                       const T*, T*, int, long long, int);
  template <class T>
  int run(Gemm<T> f, void* h, int tx, int ty, int rows, int cols, int k, const char* x, const Matrix& mx,
          long long sx, const char* y, const Matrix& my, long long sy, char* c, const Matrix& mc, long long sc,
          int count) {
    const T one(1), zero(0);
    return f(h, tx, ty, rows, cols, k, &one, reinterpret_cast<const T*>(x), mx.lead, sx,
             reinterpret_cast<const T*>(y), my.lead, sy, &zero, reinterpret_cast<T*>(c), mc.lead, sc, count);
  }
  struct ComplexF {
    float re, im;
    explicit ComplexF(float r) : re(r), im(0) {}
  };
  struct ComplexD {
    double re, im;
    explicit ComplexD(double r) : re(r), im(0) {}
  };
  template <class... Rest>
  int call(int dtype, void* h, Rest... rest) {
    switch (dtype) {
      case f4: return run<float>(s_, h, rest...);
      case f8: return run<double>(d_, h, rest...);
      case c8: return run<ComplexF>(c_, h, rest...);
      default: return run<ComplexD>(z_, h, rest...);
    }
  }

  // cuBLAS for a stream, which is one thread's.
  void* library_on(const Stream& stream, Error** error);

  bool loaded_ = false;
  int (*create_)(void**) = nullptr;
  int (*set_stream_)(void*, Stream_t) = nullptr;
  Gemm<float> s_ = nullptr;
  Gemm<double> d_ = nullptr;
  Gemm<ComplexF> c_ = nullptr;
  Gemm<ComplexD> z_ = nullptr;
  std::mutex mu_;  // guards libraries_
  std::map<uint32_t, void*> libraries_;
};

}  // namespace lazyarray::cuda
