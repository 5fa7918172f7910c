#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cmath>
#include <limits>

#include "cuda/ptx/kernels/on_card.hpp"

// Instructions by family: kernels compute what the host computes from equal numbers.
namespace instructions_test {

using on_card::Array, on_card::scrambled;
using Instructions = on_card::Kernels;

constexpr int n = 96;
template <class T>
std::vector<T> operands(int salt) {
  std::vector<T> values(n);
  for (int i = 0; i < n; ++i) {
    const std::uint64_t bits = scrambled(static_cast<std::uint64_t>(i * 31 + salt));
    if constexpr (std::is_integral_v<T>)
      values[i] = static_cast<T>(bits >> (i % 3 * 20));
    else
      values[i] =
          static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits)) * std::pow(2., -63 + i % 9));
  }
  return values;
}
// f(a, b) of each pair, on both.
template <class R, class T, class F>
__global__ void each(const T* a, const T* b, R* to, F f) {
  const int i = threadIdx.x;
  to[i] = f(a[i], b[i]);
}
template <class R, class T, class F>
std::vector<R> on_ptx(cudaStream_t stream, const std::vector<T>& x, const std::vector<T>& y, F f) {
  const Array<T> a(x, stream), b(y, stream);
  const Array<R> to(n);
  each<R, T, F><<<1, n, 0, stream>>>(a.data(), b.data(), to.data(), f);
  return to.values(stream);
}
template <class T, class F>
void expect_same(cudaStream_t stream, F f, double tolerance = 0) {
  const std::vector<T> x = operands<T>(1), y = operands<T>(2);
  const auto actual = on_ptx<T>(stream, x, y, f);
  for (int i = 0; i < n; ++i) {
    const T expected = f(x[i], y[i]);
    if (tolerance == 0)
      EXPECT_EQ(actual[i], expected) << i;
    else
      EXPECT_NEAR(actual[i], expected, tolerance * (1 + std::abs(static_cast<double>(expected)))) << i;
  }
}

struct Arithmetic {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    const T divisor = static_cast<T>(b | 1);
    T r = static_cast<T>(a * b + a - b);
    r = static_cast<T>(r ^ a / (divisor == T(-1) ? T(3) : divisor));
    r = static_cast<T>(r + a % (divisor == T(-1) ? T(3) : divisor));
    r = static_cast<T>(r + (a < b ? a : b) + (a >> (b & 7)) + static_cast<T>(a << (b & 7)) +
                       static_cast<T>(~b));
    return static_cast<T>(r + (a & b) + static_cast<T>(-a));
  }
};
struct Divisions {
  __host__ __device__ auto operator()(std::int64_t a, std::int64_t b) const {
    return a / (b | 5) + a % (b | 5) + (a >> 7) + (a < b);
  }
};
struct Carries {
  __host__ __device__ auto operator()(std::uint64_t a, std::uint64_t b) const {  // carries
    const unsigned __int128 x =
        static_cast<unsigned __int128>(a) * b + (static_cast<unsigned __int128>(b) << 64 | a);
    return static_cast<std::uint64_t>(x >> 64) ^
           static_cast<std::uint64_t>(x - (static_cast<unsigned __int128>(a) << 60));
  }
};
TEST_F(Instructions, IntegersWrapAroundAsOnTheHost) {
  expect_same<std::uint8_t>(stream, Arithmetic());
  expect_same<std::uint16_t>(stream, Arithmetic());
  expect_same<std::int16_t>(stream, Arithmetic());
  expect_same<std::uint32_t>(stream, Arithmetic());
  expect_same<std::int64_t>(stream, Divisions());
  expect_same<std::uint64_t>(stream, Arithmetic());
  expect_same<std::uint64_t>(stream, Carries());
}
struct Fields {
  __host__ __device__ auto operator()(std::uint32_t a, std::uint32_t b) const -> std::uint32_t {
#if defined(__CUDA_ARCH__)
    std::uint32_t field, all;
    asm("bfe.u32 %0, %1, 5, 11;" : "=r"(field) : "r"(a));
    asm("lop3.b32 %0, %1, %2, %1, 0x3C;" : "=r"(all) : "r"(a), "r"(b));
    return __popc(a) + 64 * __clz(b | 1) + 4096 * __ffs(a | 1) + __brev(a) + __funnelshift_l(a, b, 9) +
           __byte_perm(a, b, 0x3726) + field + all + __umulhi(a, b);
#else
    std::uint32_t reversed = 0;
    for (int k = 0; k < 32; ++k) reversed |= (a >> k & 1) << (31 - k);
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    std::uint32_t permuted = 0;
    for (int k = 0; k < 4; ++k)
      permuted |= static_cast<std::uint32_t>(both >> (8 * (0x3726 >> (4 * k) & 7)) & 255) << (8 * k);
    return std::popcount(a) + 64 * std::countl_zero(b | 1) + 4096 * (std::countr_zero(a | 1) + 1) + reversed +
           static_cast<std::uint32_t>(both << 9 >> 32) + permuted + (a >> 5 & 2047) + (a ^ b) +
           static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
#endif
  }
};
TEST_F(Instructions, Bits) { expect_same<std::uint32_t>(stream, Fields()); }
struct Exact {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return (a < b ? std::fma(a, b, a / b) : std::sqrt(std::fabs(a)) - b) + std::floor(a) - std::fmin(a, b);
  }
};
struct Elementary {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return std::sin(a * T(1e6)) + std::cos(b) + std::exp(a / 50) + std::log(std::fabs(b) + 1) + std::tanh(a) +
           std::erf(b) + std::pow(std::fabs(a) + 1, b / 50) + std::cbrt(a) + std::atan2(a, b) +
           std::lgamma(std::fabs(a) + 1);
  }
};
TEST_F(Instructions, FloatingNumbers) {
  expect_same<float>(stream, Exact(), 1e-6);
  expect_same<double>(stream, Exact(), 1e-15);
  expect_same<float>(stream, Elementary(), 2e-6);
  expect_same<double>(stream, Elementary(), 1e-14);
}
struct ToInt {
  __device__ auto operator()(float a, float) const { return __float2int_rn(a); }
};
struct ToUnsignedLong {
  __device__ auto operator()(float a, float) const { return __float2ull_rz(a); }
};
struct AddDown {
  __device__ auto operator()(float a, float) const { return __fadd_rd(a, 1e-9f) - a; }
};
struct AddUp {
  __device__ auto operator()(float a, float) const { return __fadd_ru(a, 1e-9f) - a; }
};
struct ByHalf {
  __device__ auto operator()(float a, float) const { return __half2float(__float2half_rn(a)); }
};
struct ByBrain {
  __device__ auto operator()(float a, float) const {
    return __bfloat162float(__float2bfloat16_rn(a) + __float2bfloat16_rn(1.f));
  }
};
TEST_F(Instructions, ConversionsRoundAndClamp) {
  std::vector<float> x(n, 0);
  const float special[] = {NAN,   INFINITY, -INFINITY, 2.5f,    -3.5f,  3e9f,
                           -3e9f, 1e20f,    -1.f,      65520.f, 1e-40f, 0.1f};
  std::copy(std::begin(special), std::end(special), x.begin());
  const auto ints = on_ptx<int>(stream, x, x, ToInt());
  EXPECT_EQ(std::vector<int>(ints.begin(), ints.begin() + 9),
            (std::vector<int>{0, INT_MAX, INT_MIN, 2, -4, INT_MAX, INT_MIN, INT_MAX, -1}));
  const auto longs = on_ptx<unsigned long long>(stream, x, x, ToUnsignedLong());
  EXPECT_EQ(longs[0], 1ull << 63);
  EXPECT_EQ(longs[1], ~0ull);
  EXPECT_EQ(longs[8], 0u);
  const auto down = on_ptx<float>(stream, x, x, AddDown());
  EXPECT_EQ(down[11], 0);
  const auto up = on_ptx<float>(stream, x, x, AddUp());
  EXPECT_GT(up[11], 0);
  const auto halves = on_ptx<float>(stream, x, x, ByHalf());
  EXPECT_EQ(halves[9], INFINITY);
  EXPECT_EQ(halves[11], 0.0999755859375f);
  const auto brains = on_ptx<float>(stream, x, x, ByBrain());
  EXPECT_EQ(brains[11], 1.1015625f);
}

__device__ __noinline__ int fibonacci(int k) { return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2); }
__constant__ int table[5] = {3, 1, 4, 1, 5};
__device__ int counter = 7;
__global__ void calls(int* to) {
  int local[8];
  for (int k = 0; k < 8; ++k) local[(k * 3 + threadIdx.x) % 8] = k;
  int chosen = 0;
  switch (threadIdx.x % 8) {
    case 0:
      chosen = 11;
      break;
    case 1:
      chosen = 5;
      break;
    case 2:
      chosen = 91;
      break;
    case 3:
      chosen = 7;
      break;
    case 4:
      chosen = 1;
      break;
    default:
      chosen = 2;
  }
  to[threadIdx.x] = fibonacci(threadIdx.x % 10) + 100 * table[threadIdx.x % 5] +
                    1000 * local[threadIdx.x % 8] + 10000 * chosen;
  atomicAdd(&counter, 1);
}
TEST_F(Instructions, CallsTablesAndLocalArrays) {
  const Array<int> to(64);
  calls<<<1, 64, 0, stream>>>(to.data());
  const std::vector<int> r = values(to);
  const int numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34}, five[] = {3, 1, 4, 1, 5},
            chosen[] = {11, 5, 91, 7, 1, 2, 2, 2};
  for (int i = 0; i < 64; ++i) {
    int local[8];
    for (int k = 0; k < 8; ++k) local[(k * 3 + i) % 8] = k;
    EXPECT_EQ(r[i], numbers[i % 10] + 100 * five[i % 5] + 1000 * local[i % 8] + 10000 * chosen[i % 8]) << i;
  }
}

__global__ void of_warps(unsigned* to) {
  const unsigned lane = threadIdx.x % 32, all = 0xFFFFFFFF;
  unsigned* const r = to + 8 * threadIdx.x;
  r[0] = __shfl_xor_sync(all, lane * 10, 5);
  r[1] = __shfl_up_sync(all, lane, 3, 8);
  r[2] = __shfl_sync(all, lane, 2, 16);
  r[3] = __ballot_sync(all, lane % 3 == 0);
  r[4] = __match_any_sync(all, lane / 4);
  r[5] = __reduce_max_sync(all, lane ^ 9u) + 100 * __reduce_add_sync(all, lane);
  r[6] = __any_sync(all, lane == 40) + 2 * __all_sync(all, lane < 32);
  r[7] = __syncthreads_count(threadIdx.x % 5 == 0) + 1000 * __syncthreads_or(threadIdx.x == 3);
}
TEST_F(Instructions, ThreadsOfAWarp) {
  const Array<unsigned> to(8 * 64);
  of_warps<<<1, 64, 0, stream>>>(to.data());
  const std::vector<unsigned> r = values(to);
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned lane = i % 32, *at = &r[8 * i];
    EXPECT_EQ(at[0], (lane ^ 5) * 10);
    EXPECT_EQ(at[1], lane % 8 < 3 ? lane : lane - 3);
    EXPECT_EQ(at[2], lane / 16 * 16 + 2);
    EXPECT_EQ(at[3], 0x49249249u);
    EXPECT_EQ(at[4], 15u << (lane / 4 * 4));
    EXPECT_EQ(at[5], 31u + 100 * 496);
    EXPECT_EQ(at[6], 2u);
    EXPECT_EQ(at[7], 1013u);
  }
}

__global__ void atomics(int* i, unsigned* u, float* f, double* d) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i[0], k);
  atomicMin(&i[1], -k);
  atomicMax(&i[2], k);
  atomicOr(&u[0], 1u << (k % 32));
  atomicInc(&u[1], 9);
  unsigned old = u[2], seen;  // by compare and swap
  do {
    seen = old;
    old = atomicCAS(&u[2], seen, seen + 2);
  } while (old != seen);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}
TEST_F(Instructions, Atomics) {
  const Array<int> i(std::vector<int>(3, 0), stream);
  const Array<unsigned> u(std::vector<unsigned>(3, 0), stream);
  const Array<float> f(std::vector<float>{0}, stream);
  const Array<double> d(std::vector<double>{0}, stream);
  atomics<<<3, 64, 0, stream>>>(i.data(), u.data(), f.data(), d.data());
  EXPECT_EQ(values(i), (std::vector<int>{191 * 96, -191, 191}));
  EXPECT_EQ(values(u), (std::vector<unsigned>{0xFFFFFFFF, 192 % 10, 384}));
  EXPECT_EQ(values(f)[0], 96);
  EXPECT_EQ(values(d)[0], 48);
}

__global__ void places(int4* to) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  to[block * blockDim.x * blockDim.y * blockDim.z + thread] =
      int4{block, thread, static_cast<int>(threadIdx.z), warpSize};
}
TEST_F(Instructions, GridsOfThreeAxesAndVectors) {
  const Array<int4> to(2 * 3 * 2 * 3 * 5 * 2);
  places<<<dim3(2, 3, 2), dim3(3, 5, 2), 0, stream>>>(to.data());
  const std::vector<int4> r = values(to);
  for (int i = 0; i < static_cast<int>(r.size()); ++i) {
    EXPECT_EQ(r[i].x, i / 30);
    EXPECT_EQ(r[i].y, i % 30);
    EXPECT_EQ(r[i].z, i % 30 / 15);
    EXPECT_EQ(r[i].w, 32);
  }
}

}  // namespace instructions_test
