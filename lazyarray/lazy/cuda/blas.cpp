// Blas: matrix products by cuBLAS, called without the GIL.
#include "lazy/cuda/blas.h"

namespace lazyarray::cuda {

bool Blas::load(const char* path) {
  void* h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!h) return false;
  auto find = [&](auto& f, const char* name) {
    f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(h, name));
    return f != nullptr;
  };
  loaded_ = find(create_, "cublasCreate_v2") && find(set_stream_, "cublasSetStream_v2") &&
            find(s_, "cublasSgemmStridedBatched") && find(d_, "cublasDgemmStridedBatched") &&
            find(c_, "cublasCgemmStridedBatched") && find(z_, "cublasZgemmStridedBatched");
  return loaded_;
}

bool Blas::product(Instr& in, const Stream& stream, Error** error) {
  if (!loaded_ || in.ncore != 3 || in.ndim > 1) return false;
  const int dtype = in.kernel->dtypes[2];
  if (dtype != f4 && dtype != f8 && dtype != c8 && dtype != c16) return false;
  for (int k = 0; k < 3; ++k)
    if (!in.ops[k].chunk || in.kernel->dtypes[k] != dtype) return false;
  const npy_intp n = in.core[0], k = in.core[1], m = in.core[2], size = info(dtype).size;
  if (n == 0 || m == 0 || k == 0 || std::max({n, m, k}) > INT_MAX) return false;
  Matrix a, b, c;
  if (!a.set(n, k, in.core_steps[0], in.core_steps[1], size) ||
      !b.set(k, m, in.core_steps[2], in.core_steps[3], size) ||
      !c.set(n, m, in.core_steps[4], in.core_steps[5], size))
    return false;
  const npy_intp count = in.ndim ? in.shape()[0] : 1;
  if (count == 0) return true;
  if (count > INT_MAX) return false;
  long long steps[3] = {};
  for (int op = 0; op < 3 && in.ndim; ++op) {
    if (in.strides(op)[0] % size) return false;
    steps[op] = in.strides(op)[0] / size;
  }
  Entered here(*stream.gpu);
  void* library = library_on(stream, error);
  if (!library) return true;
  const char* at[3];
  for (int op = 0; op < 3; ++op) at[op] = in.ops[op].chunk->data + in.ops[op].offset;
  // In column order the bytes of a C-ordered matrix are its transpose, so that c' = b' a'; where c
  // itself is in column order, c = a b.
  const bool swap = !c.columns;
  const Matrix &x = swap ? b : a, &y = swap ? a : b;
  const int first = swap ? 1 : 0, rows = static_cast<int>(swap ? m : n), cols = static_cast<int>(swap ? n : m);
  const int status = call(dtype, library, x.columns == c.columns ? 0 : 1, y.columns == c.columns ? 0 : 1, rows,
                          cols, static_cast<int>(k), at[first], x, steps[first], at[1 - first], y,
                          steps[1 - first], const_cast<char*>(at[2]), c, steps[2], static_cast<int>(count));
  if (status) *error = new Error(Error::RUNTIME, "cuBLAS: a product failed with status " + std::to_string(status));
  return true;
}

bool Blas::Matrix::set(npy_intp rows, npy_intp cols, npy_intp row_step, npy_intp col_step, npy_intp size) {
  // Along an axis of one element any step will do.
  if (cols == 1 || col_step == size) {
    const npy_intp step = rows == 1 ? cols * size : row_step;
    if (fits(step, cols, size)) return true;
  }
  if (rows == 1 || row_step == size) {
    columns = true;
    const npy_intp step = cols == 1 ? rows * size : col_step;
    return fits(step, rows, size);
  }
  return false;
}

bool Blas::Matrix::fits(npy_intp step, npy_intp least, npy_intp size) {
  if (step % size || step / size < least || step / size > INT_MAX) return false;
  lead = static_cast<int>(step / size);
  return true;
}

void* Blas::library_on(const Stream& stream, Error** error) {
  std::lock_guard<std::mutex> g(mu_);
  void*& h = libraries_[stream.number];
  if (h) return h;
  int status = create_(&h);
  if (!status) status = set_stream_(h, stream.raw);
  if (status) {
    *error = new Error(Error::RUNTIME, "cuBLAS can't start: status " + std::to_string(status));
    h = nullptr;
  }
  return h;
}

}  // namespace lazyarray::cuda
