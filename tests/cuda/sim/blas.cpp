// A stand-in for cuBLAS: the few functions that lazyarray calls by address, as tasks of a stream.
#include <algorithm>
#include <complex>
#include <cstdlib>

#include "api.h"

using namespace sim;

namespace {

struct Handle {
    Stream* stream = nullptr;
    bool space = false;
    Address at = 0;  // the workspace's
    size_t bytes = 0;
};

constexpr int kInvalid = 7, kFailed = 13;  // CUBLAS_STATUS_INVALID_VALUE, ..._EXECUTION_FAILED

// The bytes that `count` matrices of rows x cols reach over.
size_t reach(int rows, int cols, int lead, long long step, int count, size_t item) {
    return ((count - 1) * std::abs(step) + (cols - 1) * static_cast<long long>(lead) + rows) * item;
}

// The first of these bytes: matrices may follow each other backwards.
template <class T>
Address lowest(const T* first, long long step, int count) {
    return reinterpret_cast<Address>(first) + (count - 1) * std::min(step, 0LL) * static_cast<long long>(sizeof(T));
}

// In column order: c[i, j] = alpha sum_l op(a)[i, l] op(b)[l, j] + beta c[i, j].
template <class T>
int gemm(const char* name, void* handle, int ta, int tb, int m, int n, int k, const T* alpha, const T* a,
         int lda, long long sa, const T* b, int ldb, long long sb, const T* beta, T* c, int ldc,
         long long sc, int count) {
    Handle* h = static_cast<Handle*>(handle);
    if (!h || m <= 0 || n <= 0 || k <= 0 || count <= 0 || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m)
        return kInvalid;
    const T one = *alpha, old = *beta;
    {
        Simulator& s = Simulator::one();
        std::lock_guard<std::mutex> hold(s.tables);
        if (s.planned(name)) return kFailed;
        Stream* stream = h->stream;
        if (!stream || stream->device->error) return kFailed;
        if (stream->capturing) {
            if (!h->space) return kFailed;  // it would allocate memory within the graph
            const Address at = h->at;
            const size_t bytes = h->bytes;
            stream->captured.push_back([=](Stream* to) {
                Handle there{to, true, at, bytes};
                return gemm(name, &there, ta, tb, m, n, k, &one, a, lda, sa, b, ldb, sb, &old, c, ldc, sc, count);
            });
            return kSuccess;
        }
        const Address pa = lowest(a, sa, count), pb = lowest(b, sb, count), pc = lowest(c, sc, count);
        const size_t na = ta ? reach(k, m, lda, sa, count, sizeof(T)) : reach(m, k, lda, sa, count, sizeof(T));
        const size_t nb = tb ? reach(n, k, ldb, sb, count, sizeof(T)) : reach(k, n, ldb, sb, count, sizeof(T));
        const size_t nc = reach(m, n, ldc, sc, count, sizeof(T));
        Device *da = s.owner(pa, na), *db = s.owner(pb, nb), *dc = s.owner(pc, nc);
        if (!da || !db || !dc) return kInvalid;
        const T* x = reinterpret_cast<const T*>(da->memory.bytes(pa)) - (count - 1) * std::min(sa, 0LL);
        const T* y = reinterpret_cast<const T*>(db->memory.bytes(pb)) - (count - 1) * std::min(sb, 0LL);
        T* z = reinterpret_cast<T*>(dc->memory.bytes(pc)) - (count - 1) * std::min(sc, 0LL);
        s.note("%s stream=%zu m=%d n=%d k=%d count=%d", name, stream->number, m, n, k, count);
        Task task;
        task.name = name;
        task.accesses = {s.access(da, pa, na, false), s.access(db, pb, nb, false), s.access(dc, pc, nc, true)};
        if (Device* there = h->at ? s.owner(h->at, h->bytes) : nullptr)
            task.accesses.push_back(s.access(there, h->at, h->bytes, true));
        task.run = [=] {
            for (int p = 0; p < count; ++p)
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i < m; ++i) {
                        T sum(0);
                        for (int l = 0; l < k; ++l)
                            sum += x[p * sa + (ta ? i * static_cast<long long>(lda) + l : l * static_cast<long long>(lda) + i)] *
                                   y[p * sb + (tb ? l * static_cast<long long>(ldb) + j : j * static_cast<long long>(ldb) + l)];
                        T& to = z[p * sc + j * static_cast<long long>(ldc) + i];
                        to = old == T(0) ? one * sum : one * sum + old * to;
                    }
            return int(kSuccess);
        };
        s.put(stream, std::move(task));
    }
    Simulator::one().progress(h->stream);
    return kSuccess;
}

}  // namespace

API cublasCreate_v2(void** handle) {
    if (!current) return 1;
    *handle = new Handle;
    return kSuccess;
}

API cublasSetStream_v2(void* handle, void* stream) {
    *static_cast<Handle*>(handle) = {static_cast<Stream*>(stream), false, 0, 0};  // its workspace is taken back
    return kSuccess;
}

API cublasSetWorkspace_v2(void* handle, void* space, size_t bytes) {
    Simulator& s = Simulator::one();
    std::lock_guard<std::mutex> hold(s.tables);
    if (!s.owner(reinterpret_cast<Address>(space), bytes)) return kInvalid;
    Handle* h = static_cast<Handle*>(handle);
    *h = {h->stream, true, reinterpret_cast<Address>(space), bytes};
    return kSuccess;
}

#define GEMM(name, T)                                                                                     \
    API name(void* h, int ta, int tb, int m, int n, int k, const T* alpha, const T* a, int lda,           \
             long long sa, const T* b, int ldb, long long sb, const T* beta, T* c, int ldc, long long sc, \
             int count) {                                                                                 \
        return gemm<T>(#name, h, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count); \
    }
GEMM(cublasSgemmStridedBatched, float)
GEMM(cublasDgemmStridedBatched, double)
GEMM(cublasCgemmStridedBatched, std::complex<float>)
GEMM(cublasZgemmStridedBatched, std::complex<double>)
