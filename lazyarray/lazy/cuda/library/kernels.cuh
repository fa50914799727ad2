// Kernels of the library: windows over planes, choices by an index in each row, sums by an index.
// T, the elements' type, and I, the indices', are defined in front of this text. One thread makes one
// element of the result, in the order of additions in which the host's loops (nn/windows.h, nn/picks.h,
// lazy/cpu/scatter.h) make it: the bits are the host's.

struct Args { long long w[24]; };

#define AT(P, p) ((P*)(p))

__device__ __forceinline__ long long thread_number() {
  return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

// How windows lie on a plane: words 4 to 15.
struct Windows {
  long long h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw;
  __device__ __forceinline__ Windows(const long long* a)
      : h(a[0]), w(a[1]), oh(a[2]), ow(a[3]), kh(a[4]), kw(a[5]), sh(a[6]), sw(a[7]), ph(a[8]), pw(a[9]),
        dh(a[10]), dw(a[11]) {}
};

// Words: threads, plane, columns, images; windows; bytes from channel to channel, image to image and row
// to row of the planes; from channel to channel, element to element and image to image of the columns.
extern "C" __global__ void unfold(Args a) {
  long long i = thread_number();
  if (i >= a.w[0]) return;
  const Windows g(a.w + 4);
  const long long x = i % g.ow;
  i /= g.ow;
  const long long y = i % g.oh;
  i /= g.oh;
  const long long image = i % a.w[3];
  i /= a.w[3];
  const long long taps = g.kh * g.kw, tap = i % taps, channel = i / taps;
  const long long row = y * g.sh + tap / g.kw * g.dh - g.ph, column = x * g.sw + tap % g.kw * g.dw - g.pw;
  T value = T(0);
  if (row >= 0 && row < g.h && column >= 0 && column < g.w)
    value = AT(const T, a.w[1] + channel * a.w[16] + image * a.w[17] + row * a.w[18])[column];
  AT(T, a.w[2] + channel * a.w[19] + tap * a.w[20] + image * a.w[21])[y * g.ow + x] = value;
}

// Its adjoint: the sum over an element's places in the windows. Words as unfold's.
extern "C" __global__ void fold(Args a) {
  long long i = thread_number();
  if (i >= a.w[0]) return;
  const Windows g(a.w + 4);
  const long long column = i % g.w;
  i /= g.w;
  const long long row = i % g.h;
  i /= g.h;
  const long long image = i % a.w[3], channel = i / a.w[3];
  const long long from = a.w[2] + channel * a.w[19] + image * a.w[21];
  T sum = T(0);
  for (long long ky = 0; ky < g.kh; ++ky) {
    const long long down = row + g.ph - ky * g.dh;
    if (down < 0 || down % g.sh || down / g.sh >= g.oh) continue;
    for (long long kx = 0; kx < g.kw; ++kx) {
      const long long across = column + g.pw - kx * g.dw;
      if (across < 0 || across % g.sw || across / g.sw >= g.ow) continue;
      sum += AT(const T, from + (ky * g.kw + kx) * a.w[20])[down / g.sh * g.ow + across / g.sw];
    }
  }
  AT(T, a.w[1] + channel * a.w[16] + image * a.w[17] + row * a.w[18])[column] = sum;
}

// The greatest element of each window and its place in the plane: the first of several, the last NaN.
// Words: threads, planes, maxima, places; windows; bytes from plane to plane of the three, and from row
// to row of a plane. Places are int32.
extern "C" __global__ void max_pool(Args a) {
  const long long i = thread_number();
  if (i >= a.w[0]) return;
  const Windows g(a.w + 4);
  const long long many = g.oh * g.ow, plane = i / many, window = i % many;
  const long long y = window / g.ow, x = window % g.ow;
  T best = -T(1) / T(0);
  int place = -1;
  for (long long ky = 0; ky < g.kh; ++ky) {
    const long long row = y * g.sh + ky * g.dh - g.ph;
    if (row < 0 || row >= g.h) continue;
    for (long long kx = 0; kx < g.kw; ++kx) {
      const long long column = x * g.sw + kx * g.dw - g.pw;
      if (column < 0 || column >= g.w) continue;
      const T v = AT(const T, a.w[1] + plane * a.w[16] + row * a.w[19])[column];
      if (place < 0 || v > best || v != v) {
        best = v;
        place = (int)(row * g.w + column);
      }
    }
  }
  AT(T, a.w[2] + plane * a.w[17])[window] = best;
  AT(int, a.w[3] + plane * a.w[18])[window] = place;
}

// Words: threads, rows, indices, result; lengths n of a row and m of its indices; bytes from row to row
// of the three. An index outside a row gives 0.
extern "C" __global__ void pick(Args a) {
  const long long i = thread_number();
  if (i >= a.w[0]) return;
  const long long n = a.w[4], row = i / a.w[5], j = i % a.w[5];
  const long long k = AT(const I, a.w[2] + row * a.w[7])[j];
  AT(T, a.w[3] + row * a.w[8])[j] = k >= 0 && k < n ? AT(const T, a.w[1] + row * a.w[6])[k] : T(0);
}

// Adds each row's values to the zeros of the result, one thread a row. Words as pick's.
extern "C" __global__ void spread(Args a) {
  const long long row = thread_number();
  if (row >= a.w[0]) return;
  const long long n = a.w[4], m = a.w[5];
  const T* values = AT(const T, a.w[1] + row * a.w[6]);
  const I* index = AT(const I, a.w[2] + row * a.w[7]);
  T* out = AT(T, a.w[3] + row * a.w[8]);
  for (long long j = 0; j < m; ++j) {
    const long long k = index[j];
    if (k >= 0 && k < n) out[k] += values[j];
  }
}

// Sums of the blocks that have one index. Words: threads, blocks, the blocks' numbers in order of their
// indices, where each index's begin among these (n + 1), result; n, blocks m, elements of a block.
// Result and blocks have no gaps; there may be several of both.
extern "C" __global__ void sums(Args a) {
  long long i = thread_number();
  if (i >= a.w[0]) return;
  const long long size = a.w[7], at = i % size;
  i /= size;
  const long long k = i % a.w[5], outer = i / a.w[5];
  const long long *order = AT(const long long, a.w[2]), *starts = AT(const long long, a.w[3]);
  const T* from = AT(const T, a.w[1]) + outer * a.w[6] * size + at;
  T sum = T(0);
  for (long long j = starts[k]; j < starts[k + 1]; ++j) sum += from[order[j] * size];
  AT(T, a.w[4])[(outer * a.w[5] + k) * size + at] = sum;
}

// Words: threads, rows, tops, totals, classes, losses, counted; the ignored class; bytes from row to row
// of the rows, tops and totals.
extern "C" __global__ void cross_entropy(Args a) {
  const long long i = thread_number();
  if (i >= a.w[0]) return;
  const long long k = AT(const long long, a.w[4])[i];
  const bool counts = k != a.w[7];
  T loss = T(0);
  if (counts) {
    const T x = AT(const T, a.w[1] + i * a.w[8])[k] - *AT(const T, a.w[2] + i * a.w[9]);
    loss = *AT(const T, a.w[3] + i * a.w[10]) - x;
  }
  AT(T, a.w[5])[i] = loss;
  AT(T, a.w[6])[i] = counts ? T(1) : T(0);
}
