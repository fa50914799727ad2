// Kernels that the tests of the simulated device run.
struct Args { long long w[8]; };  // count, to, from, ...
extern "C" __global__ void doubled(Args a) {
  double* to = (double*)a.w[1]; const double* from = (const double*)a.w[2];
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < a.w[0]) to[i] = from[i] * 2;
}
#ifdef MISSING
#define BARRIER
#else
#define BARRIER __syncthreads()
#endif
extern "C" __global__ void __launch_bounds__(256) total(Args a) {
  extern __shared__ char scratch[];
  double* sums = (double*)scratch; const double* from = (const double*)a.w[2];
  double sum = 0;
  for (long long i = threadIdx.x; i < a.w[0]; i += blockDim.x) sum += from[i];
  sums[threadIdx.x] = sum;
  for (int d = blockDim.x / 2; d; d /= 2) {
    BARRIER;
    if (threadIdx.x < d) sums[threadIdx.x] += sums[threadIdx.x + d];
  }
  if (!threadIdx.x) *(double*)a.w[1] = sums[0];
}
extern "C" __global__ void indices(Args a) {
  __shared__ unsigned in_block;
  if (!threadIdx.x && !threadIdx.y) in_block = 100 * blockIdx.x + 10 * blockIdx.y;
  __syncthreads();
  long long i = ((blockIdx.y * gridDim.x + blockIdx.x) * blockDim.y + threadIdx.y) * blockDim.x;
  ((double*)a.w[1])[i + threadIdx.x] = in_block + threadIdx.y * 1000 + threadIdx.x * 10000;
}
extern "C" __global__ void divergent(Args a) { if (threadIdx.x) __syncthreads(); }
extern "C" __global__ void overrun(Args a) {
  extern __shared__ char scratch[];
  scratch[a.w[0]] = 1;
}
