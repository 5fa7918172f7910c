#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "nax/backend/cuda/launch.hpp"
#include "nax/backend/cuda/scratch.hpp"

// Stable sorts by CUB's radix sorts. They never wait for the device, so that graphs record them.
NAX_BEGIN
namespace cuda {

// Where each element of a line lies before the sort.
struct PlacesInLine {
  std::int64_t n;
  std::int32_t* to;
  constexpr void operator()(std::int64_t i) const { to[i] = static_cast<std::int32_t>(i % n); }
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

// Sorts the keys of lines, of so many bits, and the places they came from; `places` is room for as many.
// False where the lines are too short or too many for it.
template <class Key>
bool sort_by_radix(Device device, std::int64_t lines, std::int64_t n, int bits, const Key* from, Key* keys,
                   std::int32_t* places, std::int32_t* room) {
  const bool one_by_one = lines == 1 || (lines <= 16 && n >= 1 << 16);
  if (n <= 64 || (!one_by_one && lines * n > INT32_MAX)) return false;
  launch(device, lines * n, PlacesInLine{n, room});
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
