#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "cuda/ptx/kernels/on_card.hpp"

// CUB's algorithms on the interpreter: their warps, barriers and look-back between blocks.
namespace cub_test {

using on_card::Array, on_card::scrambled;
using Cub = on_card::Kernels;

template <class T>
std::vector<T> numbers(std::size_t n, unsigned range = 1000) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(scrambled(i) % range);
  return values;
}

// Calls f(scratch, bytes) twice: for the size of its scratch memory, and then with it.
template <class F>
void with_scratch(const F& f) {
  std::size_t bytes = 0;
  ASSERT_EQ(f(nullptr, bytes), cudaSuccess);
  const Array<char> scratch(bytes);
  ASSERT_EQ(f(scratch.data(), bytes), cudaSuccess);
}

template <int threads>
__global__ void block_sums(const int* from, int* sums, int* running) {
  using Reduce = cub::BlockReduce<int, threads>;
  using Scan = cub::BlockScan<int, threads>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } storage;
  const int i = blockIdx.x * threads + threadIdx.x, x = from[i];
  const int sum = Reduce(storage.reduce).Sum(x);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();
  int y;
  Scan(storage.scan).InclusiveSum(x, y);
  running[i] = y;
}

TEST_F(Cub, BlocksReduceAndScan) {
  const std::vector<int> x = numbers<int>(384);
  const Array<int> from(x, stream), sums(3), running(384);
  block_sums<128><<<3, 128, 0, stream>>>(from.data(), sums.data(), running.data());
  const std::vector<int> s = values(sums), r = values(running);
  for (std::size_t b = 0; b < 3; ++b) {
    int sum = 0;
    for (std::size_t i = 0; i < 128; ++i) {
      sum += x[b * 128 + i];
      EXPECT_EQ(r[b * 128 + i], sum);
    }
    EXPECT_EQ(s[b], sum);
  }
}

TEST_F(Cub, DeviceReduces) {
  for (const std::size_t n : {1, 31, 1000, 20011}) {
    const std::vector<float> x = numbers<float>(n);
    const Array<float> from(x, stream), to(1);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceReduce::Sum(scratch, bytes, from.data(), to.data(), static_cast<int>(n), stream);
    });
    EXPECT_EQ(values(to)[0], std::accumulate(x.begin(), x.end(), 0.f));
  }
}

template <class T>
void expect_scanned(cudaStream_t stream, std::size_t n) {
  const std::vector<T> x = numbers<T>(n);
  const Array<T> from(x, stream), to(n);
  with_scratch([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, from.data(), to.data(), static_cast<int>(n), stream);
  });
  std::vector<T> expected(n);
  std::partial_sum(x.begin(), x.end(), expected.begin());
  EXPECT_EQ(to.values(stream), expected);
}
TEST_F(Cub, DeviceScans) {
  for (const std::size_t n : {1, 77, 5000, 30001}) {
    expect_scanned<int>(stream, n);
    expect_scanned<double>(stream, n);
  }
}

TEST_F(Cub, DeviceSortsPairsStably) {
  for (const std::size_t n : {1, 100, 3000, 20001}) {
    const std::vector<unsigned> x = numbers<unsigned>(n, 500);
    std::vector<int> places(n);
    std::iota(places.begin(), places.end(), 0);
    const Array<unsigned> from(x, stream), to(n);
    const Array<int> order(places, stream), sorted(n);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, from.data(), to.data(), order.data(),
                                             sorted.data(), static_cast<int>(n), 0, 32, stream);
    });
    std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return x[a] < x[b]; });
    EXPECT_EQ(values(sorted), places);
  }
}

}  // namespace cub_test
