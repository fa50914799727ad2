// Blas: matrix products by cuBLAS, called without the GIL.
#include "lazy/cuda/blas.h"

#include "lazy/cuda/memory.h"

namespace lazyarray::cuda {

bool Blas::load(const char* path) {
  void* h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!h) return false;
  auto find = [&](auto& f, const char* name) {
    f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(h, name));
    return f != nullptr;
  };
  loaded_ = find(create_, "cublasCreate_v2") && find(set_stream_, "cublasSetStream_v2") &&
            find(set_space_, "cublasSetWorkspace_v2") &&
            find(s_, "cublasSgemmStridedBatched") && find(d_, "cublasDgemmStridedBatched") &&
            find(c_, "cublasCgemmStridedBatched") && find(z_, "cublasZgemmStridedBatched");
  return loaded_;
}

bool Blas::describe(Instr& in, Product& to) const {
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
  to = Product();
  if (count == 0) return true;
  if (count > INT_MAX) return false;
  long long steps[3] = {};
  for (int op = 0; op < 3 && in.ndim; ++op) {
    if (in.strides(op)[0] % size) return false;
    steps[op] = in.strides(op)[0] / size;
  }
  const char* at[3];
  for (int op = 0; op < 3; ++op) {
    at[op] = in.ops[op].chunk->data + in.ops[op].offset;
    // A view of floats as complex numbers may begin with any float.
    if (reinterpret_cast<uintptr_t>(at[op]) % size) return false;
  }
  // In column order the bytes of a C-ordered matrix are its transpose, so that c' = b' a'; where c
  // itself is in column order, c = a b.
  const bool swap = !c.columns;
  const Matrix &x = swap ? b : a, &y = swap ? a : b;
  const int first = swap ? 1 : 0;
  to.dtype = dtype;
  to.first = x.columns != c.columns;
  to.second = y.columns != c.columns;
  to.rows = static_cast<int>(swap ? m : n);
  to.cols = static_cast<int>(swap ? n : m);
  to.inner = static_cast<int>(k);
  to.count = static_cast<int>(count);
  to.x = at[first];
  to.y = at[1 - first];
  to.c = const_cast<char*>(at[2]);
  to.x_lead = x.lead;
  to.y_lead = y.lead;
  to.c_lead = c.lead;
  to.x_step = steps[first];
  to.y_step = steps[1 - first];
  to.c_step = steps[2];
  return true;
}

Error* Blas::open(const Stream& stream) {
  Entered here(*stream.gpu);
  Error* error = nullptr;
  library_on(stream, &error);
  return error;
}

Error* Blas::run(const Product& p, const Stream& stream) {
  Entered here(*stream.gpu);
  Error* error = nullptr;
  void* library = library_on(stream, &error);
  if (!library) return error;
  if (const int status = call(library, p))
    return new Error(Error::RUNTIME, "cuBLAS: a product failed with status " + std::to_string(status));
  return nullptr;
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
  {
    std::lock_guard<std::mutex> g(mu_);
    if (auto found = libraries_.find(stream.number); found != libraries_.end()) return found->second;
  }
  // Nobody else makes one for this thread's stream. Memory is asked for under no lock: that takes the GIL.
  void* h = nullptr;
  int status = create_(&h);
  if (!status) status = set_stream_(h, stream.raw);
  void* owner = nullptr;  // for good, as the handle
  char* space = status ? nullptr : memory_hooks().allocate(stream.gpu->id, stream.raw, kSpace, &owner);
  if (space) status = set_space_(h, space, kSpace);
  if (status) {
    *error = new Error(Error::RUNTIME, "cuBLAS can't start: status " + std::to_string(status));
    return nullptr;
  }
  std::lock_guard<std::mutex> g(mu_);
  return libraries_[stream.number] = h;
}

}  // namespace lazyarray::cuda
