#include "cuda/ptx/kernels/on_card.hpp"

// Kernels with one fault each, which the interpreter must name; some with a correct form, which it must
// accept.
namespace faults_test {

using on_card::Array;
class Faults : public on_card::Kernels {
 protected:
  // The fault begins with this kind, after kernel, block, thread and line; all words of `parts` are in it.
  void expect(const std::string& kernel, const std::vector<std::string>& parts) {
    const std::string text = fault();
    EXPECT_NE(text.find("faults_test::" + kernel), std::string::npos) << text;
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
};

// Reverses each block of 128 through shared memory.
template <bool waits>
__global__ void reverse(const int* from, int* to) {
  __shared__ int x[128];
  x[threadIdx.x] = from[threadIdx.x];
  if (waits) __syncthreads();
  to[threadIdx.x] = x[127 - threadIdx.x];
}
TEST_F(Faults, BarrierIsMissing) {
  const Array<int> from(std::vector<int>(128, 1), stream), to(128);
  reverse<true><<<1, 128, 0, stream>>>(from.data(), to.data());
  EXPECT_EQ(fault(), "no fault");
  ptx::checks().unwritten_shared = false;
  reverse<false><<<1, 128, 0, stream>>>(from.data(), to.data());
  expect("reverse<false>", {"race", "shared memory", "without a barrier"});
}

// A tree, whose last steps are in one warp.
template <bool waits>
__global__ void tree(const int* from, int* to) {
  __shared__ int x[64];
  x[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  for (int n = 32; n > 0; n /= 2) {
    if (threadIdx.x < n) x[threadIdx.x] += x[threadIdx.x + n];
    if (n > 32 || waits) __syncthreads();
  }
  if (threadIdx.x == 0) *to = x[0];
}
TEST_F(Faults, WarpIsTakenForSynchronous) {
  const Array<int> from(std::vector<int>(64, 1), stream), to(1);
  tree<true><<<1, 64, 0, stream>>>(from.data(), to.data());
  EXPECT_EQ(fault(), "no fault");
  EXPECT_EQ(values(to)[0], 64);
  tree<false><<<1, 64, 0, stream>>>(from.data(), to.data());
  expect("tree<false>", {"race", "shared memory"});
}

template <bool waits>
__global__ void within_warp(const int* from, int* to) {
  __shared__ int x[32];
  x[threadIdx.x] = from[threadIdx.x];
  if (waits) __syncwarp();
  to[threadIdx.x] = x[threadIdx.x ^ 1];
}
TEST_F(Faults, WarpBarrierIsMissing) {
  const Array<int> from(std::vector<int>(32, 1), stream), to(32);
  within_warp<true><<<1, 32, 0, stream>>>(from.data(), to.data());
  EXPECT_EQ(fault(), "no fault");
  ptx::checks().unwritten_shared = false;
  within_warp<false><<<1, 32, 0, stream>>>(from.data(), to.data());
  expect("within_warp<false>", {"race"});
}

// The storage is used again for another round.
__global__ void used_again(const int* from, int* to) {
  __shared__ int x[64];
  for (int round = 0; round < 2; ++round) {
    x[threadIdx.x] = from[threadIdx.x] + round;
    __syncthreads();
    to[round * 64 + threadIdx.x] = x[63 - threadIdx.x];
  }
}
TEST_F(Faults, SecondBarrierOfALoopIsMissing) {
  const Array<int> from(std::vector<int>(64, 1), stream), to(128);
  used_again<<<1, 64, 0, stream>>>(from.data(), to.data());
  expect("used_again", {"race", "shared memory", "without a barrier"});
}

__global__ void copy(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) to[i] = from[i];
}
TEST_F(Faults, IndexIsOneTooFar) {
  const Array<int> from(std::vector<int>(100, 1), stream), to(100);
  copy<<<4, 32, 0, stream>>>(from.data(), to.data(), 99);
  EXPECT_EQ(fault(), "no fault");
  copy<<<4, 32, 0, stream>>>(from.data(), to.data(), 100);
  expect("copy", {"block (3, 0, 0), thread (4, 0, 0)", "out of range: reads 4 bytes of global memory",
                  "has 400 bytes, and this is 400 bytes from its beginning"});
}

__global__ void before(int* x) { x[static_cast<int>(threadIdx.x) - 1] = 1; }
TEST_F(Faults, IndexIsNegative) {
  const Array<int> x(8);
  before<<<1, 4, 0, stream>>>(x.data());
  expect("before", {"out of range: writes 4 bytes of global memory"});
}

__global__ void of_freed(int* x) { x[threadIdx.x] = 1; }
TEST_F(Faults, MemoryWasFreed) {
  int* gone = nullptr;
  {
    const Array<int> x(32);
    gone = x.data();
  }
  of_freed<<<1, 32, 0, stream>>>(gone);
  expect("of_freed", {"out of range", "which was freed"});
}
TEST_F(Faults, ArrayOfAPoolHasEnded) {
  const Array<int> pool(256);
  ptx::array_begins(pool.data() + 64, 128);
  of_freed<<<1, 32, 0, stream>>>(pool.data() + 64);
  ptx::array_ends(pool.data() + 64);  // which the kernel comes before
  EXPECT_EQ(fault(), "no fault");
  of_freed<<<1, 32, 0, stream>>>(pool.data() + 64);
  expect("of_freed", {"out of range", "gone at the launch"});
}
TEST_F(Faults, NeighbourInThePoolIsNotTheArray) {
  const Array<int> pool(256);
  ptx::array_begins(pool.data(), 31 * sizeof(int));
  ptx::array_begins(pool.data() + 64, 128);
  of_freed<<<1, 32, 0, stream>>>(pool.data());
  expect("of_freed", {"thread (31, 0, 0)", "array has 124 bytes, and this is 124 bytes"});
}
TEST_F(Faults, MemoryIsOnAnotherCard) {
  cudaSetDevice(1);
  const Array<int> x(32);
  cudaSetDevice(0);
  of_freed<<<1, 32, 0, stream>>>(x.data());
  expect("of_freed", {"out of range", "it is on card 1, and the kernel on 0"});
}
TEST_F(Faults, MemoryIsTheHosts) {
  static int host[32];
  of_freed<<<1, 32, 0, stream>>>(host);
  expect("of_freed", {"out of range"});
}

__global__ void beyond_shared(int* to, int n) {
  __shared__ int x[32];
  x[threadIdx.x] = 1;
  __syncthreads();
  to[threadIdx.x] = x[threadIdx.x + n];
}
TEST_F(Faults, IndexIsBeyondSharedMemory) {
  const Array<int> to(32);
  beyond_shared<<<1, 32, 0, stream>>>(to.data(), 1);
  expect("beyond_shared", {"out of range: reads shared memory at 0x80, of 128 bytes"});
}
__global__ void dynamic_shared(int* to) {
  extern __shared__ int x[];
  x[threadIdx.x] = 1;
  to[threadIdx.x] = x[threadIdx.x];
}
TEST_F(Faults, DynamicSharedMemoryIsTooSmall) {
  const Array<int> to(32);
  dynamic_shared<<<1, 32, 128, stream>>>(to.data());
  EXPECT_EQ(fault(), "no fault");
  dynamic_shared<<<1, 32, 124, stream>>>(to.data());
  expect("dynamic_shared", {"thread (31, 0, 0)", "out of range: writes shared memory"});
}

__global__ void pieces(const int4* from, int4* to) { to[threadIdx.x] = from[threadIdx.x]; }
TEST_F(Faults, VectorIsMisaligned) {
  const Array<int> from(std::vector<int>(33, 1), stream), to(32);
  pieces<<<1, 8, 0, stream>>>(reinterpret_cast<const int4*>(from.data() + 1),
                              reinterpret_cast<int4*>(to.data()));
  expect("pieces", {"misaligned: reads 16 bytes"});
}

__global__ void unwritten(int* to) {
  __shared__ int x[32];
  if (threadIdx.x < 31) x[threadIdx.x] = 1;
  __syncthreads();
  to[threadIdx.x] = x[threadIdx.x];
}
TEST_F(Faults, SharedMemoryIsReadUnwritten) {
  const Array<int> to(32);
  unwritten<<<1, 32, 0, stream>>>(to.data());
  expect("unwritten", {"thread (31, 0, 0)", "uninitialised: reads shared memory at 0x7c"});
}

__global__ void warp_sum(const int* from, int* to, unsigned mask, int lanes) {
  if (threadIdx.x >= lanes) return;
  int x = from[threadIdx.x];
  for (int n = 16; n > 0; n /= 2) x += __shfl_down_sync(mask, x, n);
  if (threadIdx.x == 0) *to = x;
}
__global__ void half_shuffles(int* to, unsigned mask) {
  if (threadIdx.x < 16) to[threadIdx.x] = __shfl_xor_sync(mask, static_cast<int>(threadIdx.x), 1);
  __syncthreads();
}
TEST_F(Faults, MaskNamesLanesThatDoNotCome) {
  const Array<int> to(32);
  half_shuffles<<<1, 32, 0, stream>>>(to.data(), 0xFFFF);
  EXPECT_EQ(fault(), "no fault");
  half_shuffles<<<1, 32, 0, stream>>>(to.data(), 0xFFFFFFFF);
  expect("half_shuffles", {"deadlock: waits for lanes 16-31"});
}
TEST_F(Faults, MaskLacksTheLaneItself) {
  const Array<int> to(32);
  half_shuffles<<<1, 32, 0, stream>>>(to.data(), 0xFF);
  expect("half_shuffles", {"mask: the thread is lane", "not in its own mask of lanes 0-7"});
}
TEST_F(Faults, ShuffleReadsALaneThatHasEnded) {
  const Array<int> from(std::vector<int>(32, 1), stream), to(1);
  warp_sum<<<1, 32, 0, stream>>>(from.data(), to.data(), 0xFFFFFFFF, 32);
  EXPECT_EQ(fault(), "no fault");
  EXPECT_EQ(values(to)[0], 32);
  warp_sum<<<1, 32, 0, stream>>>(from.data(), to.data(), 0xFFFFFFFF, 20);
  expect("warp_sum", {"shuffle: lane", "has ended"});
}

__global__ void barrier_in_branch(int* to) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
    to[threadIdx.x] = 1;
  } else {
    __syncthreads();
    to[threadIdx.x] = 2;
  }
}
__global__ void barrier_of_some(int* to) {
  if (threadIdx.x < 40) __syncthreads();
  __shared__ int x;
  if (threadIdx.x == 0) x = 1;
  asm volatile("bar.sync 1;");
  to[threadIdx.x] = x;
}
TEST_F(Faults, BarriersOfAWarpDiffer) {
  const Array<int> to(64);
  barrier_in_branch<<<1, 64, 0, stream>>>(to.data());
  expect("barrier_in_branch", {"barrier: thread", "of the same warp is not at this barrier"});
}
TEST_F(Faults, BarrierIsNotReachedByAll) {
  const Array<int> to(64);
  barrier_of_some<<<1, 64, 0, stream>>>(to.data());
  expect("barrier_of_some", {"deadlock: waits at barrier"});
}

template <bool atomic>
__global__ void count(int* counter) {
  if (atomic)
    atomicAdd(counter, 1);
  else
    *counter += 1;
}
TEST_F(Faults, AtomicIsMissing) {
  ptx::checks().global_races = true;
  const Array<int> counter(std::vector<int>{0}, stream);
  count<true><<<3, 64, 0, stream>>>(counter.data());
  EXPECT_EQ(fault(), "no fault");
  EXPECT_EQ(values(counter)[0], 192);
  count<false><<<3, 64, 0, stream>>>(counter.data());
  expect("count<false>", {"race", "global memory", "without a barrier"});
}
template <bool atomic>
__global__ void histogram(const int* from, int* to) {
  __shared__ int bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncthreads();
  if (atomic)
    atomicAdd(&bins[from[threadIdx.x] & 3], 1);
  else
    ++bins[from[threadIdx.x] & 3];
  __syncthreads();
  if (threadIdx.x < 4) to[threadIdx.x] = bins[threadIdx.x];
}
TEST_F(Faults, AtomicOfSharedMemoryIsMissing) {
  const Array<int> from(std::vector<int>(64, 7), stream), to(4);
  histogram<true><<<1, 64, 0, stream>>>(from.data(), to.data());
  EXPECT_EQ(fault(), "no fault");
  EXPECT_EQ(values(to)[3], 64);
  histogram<false><<<1, 64, 0, stream>>>(from.data(), to.data());
  expect("histogram<false>", {"race", "shared memory"});
}

// The block that comes last adds up what the others left.
template <bool fences>
__global__ void last_block_adds(int* parts, unsigned* done, int* to) {
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    if (fences) __threadfence();
    if (atomicAdd(done, 1u) == gridDim.x - 1) {
      if (fences) __threadfence();
      int sum = 0;
      for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
      *to = sum;
    }
  }
}
TEST_F(Faults, FenceIsMissing) {
  ptx::checks().global_races = true;
  const Array<int> parts(20), to(1);
  const Array<unsigned> done(std::vector<unsigned>{0}, stream), again(std::vector<unsigned>{0}, stream);
  last_block_adds<true><<<20, 32, 0, stream>>>(parts.data(), done.data(), to.data());
  EXPECT_EQ(fault(), "no fault");
  EXPECT_EQ(values(to)[0], 210);
  last_block_adds<false><<<20, 32, 0, stream>>>(parts.data(), again.data(), to.data());
  expect("last_block_adds<false>", {"race: reads global memory", "of block"});
}

// Waits for a block of a higher number, which may come after all of the lower ones have ended.
__global__ void waits_for(volatile int* flag, unsigned other) {
  if (blockIdx.x == other)
    *flag = 1;
  else
    while (*flag == 0) {
    }
}
TEST_F(Faults, BlocksWaitForABlockThatDoesCome) {
  const Array<int> flag(std::vector<int>{0}, stream);
  waits_for<<<40, 32, 0, stream>>>(flag.data(), 3);
  EXPECT_EQ(fault(), "no fault");
}

__global__ void trapped(const int* x) {
  if (x[0] == 1) __trap();
}
TEST_F(Faults, KernelTraps) {
  const Array<int> x(std::vector<int>{1}, stream);
  trapped<<<1, 1, 0, stream>>>(x.data());
  expect("trapped", {"trap: the kernel ends itself"});
}

__global__ void __launch_bounds__(64) small(int* x) { x[threadIdx.x] = 1; }
TEST_F(Faults, BlockIsLargerThanItsBounds) {
  const Array<int> x(65);
  small<<<1, 65, 0, stream>>>(x.data());
  expect("small", {"1 blocks of 65 threads, of at most 64"});
}

__global__ void unknown(int* x) {
  asm volatile("barrier.cluster.arrive;");
  x[0] = 1;
}
TEST_F(Faults, InstructionIsNotKnown) {
  const Array<int> x(1);
  unknown<<<1, 1, 0, stream>>>(x.data());
  expect("unknown", {"`barrier.cluster.arrive`: the instruction is not known"});
}

}  // namespace faults_test
