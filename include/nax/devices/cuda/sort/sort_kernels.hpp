#pragma once

#include <algorithm>
#include <bit>
#include <optional>

#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/loop.hpp"
#if defined(__CUDACC__)
#include "nax/devices/cuda/sort/radix_sort.hpp"
#endif

// Stable sorts of lines, of which a batch is sorted at once: on a card by radix where lines are long, and
// otherwise, and on the emulated device, by merging.
//
// One thread an element: it counts how many others of its line come before it, first among its neighbours in
// blocks of 32, then, again and again, in the run beside its own, by bisection; that is its place in the
// merged run. A line of n elements takes log2(n / 32) passes of log2(n) reads a thread, and the order never
// depends on who came first.
NAX_BEGIN
namespace cuda {

inline constexpr std::int64_t sorted_block = 32;

// Keys, and where in its line each came from.
template <class Key>
struct KeyRun {
  Key* keys;
  std::int32_t* places;
};

template <class Key>
struct SortBlocks {
  std::int64_t n;
  const Key* from;
  KeyRun<Key> to;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t place = i % n, block = place - place % sorted_block, line = i - place;
    const std::int64_t end = block + sorted_block < n ? block + sorted_block : n;
    const Key key = from[i];
    std::int64_t before = 0;
    for (std::int64_t j = block; j < end; ++j) {
      const Key other = from[line + j];
      before += other < key || (other == key && j < place);
    }
    to.keys[line + block + before] = key;
    to.places[line + block + before] = static_cast<std::int32_t>(place);
  }
};

template <class Key>
struct MergeRuns {
  std::int64_t n, width;
  KeyRun<Key> from, to;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t place = i % n, line = i - place, start = place - place % (2 * width);
    const std::int64_t middle = start + width < n ? start + width : n;
    const std::int64_t end = start + 2 * width < n ? start + 2 * width : n;
    const bool left = place < middle;
    const Key key = from.keys[i];
    // How many of the other run come before this one: of equal ones, those of the left run.
    std::int64_t low = left ? middle : start, high = left ? end : middle;
    const std::int64_t first = low;
    while (low < high) {
      const std::int64_t half = (low + high) / 2;
      const Key other = from.keys[line + half];
      if (other < key || (!left && other == key))
        low = half + 1;
      else
        high = half;
    }
    const std::int64_t at = line + place + (low - first) - (left ? 0 : middle - start);
    to.keys[at] = key;
    to.places[at] = from.places[i];
  }
};

// The sorted keys of `lines` lines of n, one after another, as long as it lives. Keys are below 2^bits.
template <class Key>
class SortedLines {
 public:
  SortedLines(Device device, std::int64_t lines, std::int64_t n, const Key* keys,
              [[maybe_unused]] int bits = 8 * static_cast<int>(sizeof(Key)))
      : rooms_{{device, bytes(lines * n)}, {device, bytes(lines * n)}},
        runs_{run(0, lines * n), run(1, lines * n)} {
    const std::int64_t size = lines * n;
#if defined(__CUDACC__)
    if (sort_by_radix(device, lines, n, bits, keys, runs_[0].keys, runs_[0].places, runs_[1].places)) return;
#endif
    launch(device, size, SortBlocks<Key>{n, keys, runs_[0]});
    for (std::int64_t width = sorted_block; width < n; width *= 2) {
      launch(device, size, MergeRuns<Key>{n, width, runs_[0], runs_[1]});
      std::swap(runs_[0], runs_[1]);
    }
  }
  const KeyRun<Key>& run() const { return runs_[0]; }

 private:
  static std::size_t bytes(std::int64_t size) {
    return static_cast<std::size_t>(size) * (sizeof(Key) + sizeof(std::int32_t));
  }
  KeyRun<Key> run(int room, std::int64_t size) const {
    Key* const keys = reinterpret_cast<Key*>(rooms_[room].data());
    return {keys, reinterpret_cast<std::int32_t*>(keys + size)};
  }
  Scratch rooms_[2];
  KeyRun<Key> runs_[2];
};

inline void check_line_length(std::int64_t n) {
  if (n > INT32_MAX) throw DeviceError("a sort on a GPU takes lines of less than 2^31 elements");
}

}  // namespace cuda
NAX_END
