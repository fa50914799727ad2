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

// A product to run: all that the library is told.
struct Product {
  int dtype, first, second;  // whether they are transposed
  int rows, cols, inner, count, none = 0;
  const char *x, *y;
  char* c;
  int64_t x_lead, y_lead, c_lead, x_step, y_step, c_step;  // elements, of one matrix and from one to the next
};

// cuBLAS is loaded already, by CuPy: here are the few functions that products of floats need. Without
// them (or for other layouts and dtypes) CuPy does the product, which costs some 20 us under the GIL.
// Names and types: NVIDIA, "cuBLAS", the v2 API, whose matrices are in column order.
class Blas {
 public:
  // From the library at `path`; false if it lacks something.
  bool load(const char* path);

  // What a matmul instruction is for it; false if it is not one that goes this way. Nothing is to be done if
  // `count` is 0.
  bool describe(Instr& in, Product& to) const;
  // Makes ready for products on a stream, which may take the GIL; run() does it, too.
  Error* open(const Stream& stream);
  Error* run(const Product& p, const Stream& stream);

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
  static int call(Gemm<T> f, void* h, const Product& p) {
    const T one(1), zero(0);
    return f(h, p.first, p.second, p.rows, p.cols, p.inner, &one, reinterpret_cast<const T*>(p.x),
             static_cast<int>(p.x_lead), p.x_step, reinterpret_cast<const T*>(p.y), static_cast<int>(p.y_lead),
             p.y_step, &zero, reinterpret_cast<T*>(p.c), static_cast<int>(p.c_lead), p.c_step, p.count);
  }
  struct ComplexF {
    float re, im;
    explicit ComplexF(float r) : re(r), im(0) {}
  };
  struct ComplexD {
    double re, im;
    explicit ComplexD(double r) : re(r), im(0) {}
  };
  int call(void* h, const Product& p) const {
    switch (p.dtype) {
      case f4: return call<float>(s_, h, p);
      case f8: return call<double>(d_, h, p);
      case c8: return call<ComplexF>(c_, h, p);
      default: return call<ComplexD>(z_, h, p);
    }
  }

  // So many bytes NVIDIA recommends for a Hopper; it would take as many by itself, but none that a graph may keep.
  static constexpr size_t kSpace = size_t(32) << 20;
  // cuBLAS for a stream, which is one thread's.
  void* library_on(const Stream& stream, Error** error);

  bool loaded_ = false;
  int (*create_)(void**) = nullptr;
  int (*set_stream_)(void*, Stream_t) = nullptr;
  int (*set_space_)(void*, void*, size_t) = nullptr;
  Gemm<float> s_ = nullptr;
  Gemm<double> d_ = nullptr;
  Gemm<ComplexF> c_ = nullptr;
  Gemm<ComplexD> z_ = nullptr;
  std::mutex mu_;  // guards libraries_
  std::map<uint32_t, void*> libraries_;
};

}  // namespace lazyarray::cuda
