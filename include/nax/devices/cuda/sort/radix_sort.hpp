#pragma once

#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/loop.hpp"

// Stable sorts by CUB's radix sorts: short lines by a block each, in shared memory, long ones by whole grids.
// They never wait for the device, so that graphs record them.
NAX_BEGIN
namespace cuda {

// Where each element of a line lies before the sort.
struct PlacesInLine {
  AnyDivisor n;
  std::int32_t* to;
  constexpr void operator()(std::int64_t i) const {
    to[i] = static_cast<std::int32_t>(i - n.quotient(i) * n.by);
  }
};

// Where line i begins, as CUB asks for it.
struct LineBegin {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;
  using pointer = const std::int64_t*;
  using reference = std::int64_t;
  using iterator_category = std::random_access_iterator_tag;
  std::int64_t n, first;
  constexpr std::int64_t operator[](std::int64_t i) const { return (first + i) * n; }
  constexpr std::int64_t operator*() const { return first * n; }
  constexpr LineBegin operator+(std::int64_t i) const { return {n, first + i}; }
};

// Calls one of CUB's functions: for the size of its memory, and with memory.
template <class Call>
void call_cub(Device device, const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), "cub");
  const Scratch memory(device, std::max<std::size_t>(bytes, 1));
  check(call(memory.data(), bytes), "cub");
}

// A block sorts a line: each thread holds `each` neighbours. What is beyond the line's end stays behind it,
// since no key is greater and the sort is stable.
template <class Key, int threads, int each>
__global__ void __launch_bounds__(threads)
    sort_in_block(std::int64_t lines, int n, int bits, const Key* from, Key* to, std::int32_t* places) {
  using Sort = cub::BlockRadixSort<Key, threads, each, std::int32_t>;
  __shared__ typename Sort::TempStorage room;
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    Key keys[each];
    std::int32_t came_from[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int place = thread * each + i;
      keys[i] = place < n ? from[line * n + place] : ~Key(0);
      came_from[i] = place;
    }
    Sort(room).SortBlockedToStriped(keys, came_from, 0, bits);
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int place = thread + i * threads;
      if (place >= n) continue;
      to[line * n + place] = keys[i];
      places[line * n + place] = came_from[i];
    }
    __syncthreads();
  }
}
template <class Key>
bool sort_in_blocks(Device device, std::int64_t lines, std::int64_t n, int bits, const Key* from, Key* keys,
                    std::int32_t* places) {
  const auto run = [&]<int threads, int each>() {
    if (n > threads * each) return false;
    const StreamInUse stream = use(device);
    sort_in_block<Key, threads, each>
        <<<blocks_for(lines, 1), threads, 0, stream>>>(lines, static_cast<int>(n), bits, from, keys, places);
    check(cudaGetLastError(), "cudaLaunchKernel");
    return true;
  };
  return run.template operator()<64, 4>() || run.template operator()<256, 4>() ||
         run.template operator()<256, 16>();
}

// Sorts the keys of lines, of so many bits, and the places they came from; `places` is room for as many.
// False where the lines are too short or too many for it.
template <class Key>
bool sort_by_radix(Device device, std::int64_t lines, std::int64_t n, int bits, const Key* from, Key* keys,
                   std::int32_t* places, std::int32_t* room) {
  const bool one_by_one = lines == 1 || (lines <= 16 && n >= 1 << 16);
  if (n <= 32) return false;
  if (sort_in_blocks(device, lines, n, bits, from, keys, places)) return true;
  if (!one_by_one && lines * n > INT32_MAX) return false;
  launch(device, lines * n, PlacesInLine{AnyDivisor(n), room});
  const StreamInUse stream = use(device);
  if (one_by_one) {
    for (std::int64_t at = 0; at < lines * n; at += n)
      call_cub(device, [&](void* memory, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, from + at, keys + at, room + at, places + at, n,
                                               0, bits, stream);
      });
  } else {
    call_cub(device, [&](void* memory, std::size_t& bytes) {
      return cub::DeviceSegmentedRadixSort::SortPairs(memory, bytes, from, keys, room, places,
                                                      static_cast<int>(lines * n), static_cast<int>(lines),
                                                      LineBegin{n, 0}, LineBegin{n, 1}, 0, bits, stream);
    });
  }
  return true;
}

}  // namespace cuda
NAX_END
