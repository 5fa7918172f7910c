#pragma once

#include <algorithm>

#include "nax/backend/operations.hpp"
#include "nax/core/transfer.hpp"
#include "nax/devices/cuda/device/index_faults.hpp"
#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/loop.hpp"
#include "nax/devices/cuda/sort/sort_kernels.hpp"
#include "nax/loops/element_bytes.hpp"
#include "nax/loops/select_loop.hpp"

// Arithmetic on index arrays.
NAX_BEGIN
namespace cuda {

using loops::IndexMode;

// Indices of any integer type as int64, counted from the front; what is out of range becomes dropped_index,
// or is brought into range. (Templates, so that a cast is no error in a constexpr function.)
template <class Index>
struct WrapIndex {
  Loop<2> loop;
  DType from;
  std::int64_t extent;
  IndexMode mode;
  std::int64_t window = 1;

  constexpr void operator()(std::int64_t i) const { write(i); }
  // True where it is dropped.
  constexpr bool write(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    const std::int64_t k = load_as<std::int64_t>(from, at[0]);
    const std::int64_t index = wrapped(k, wide_of(from) == Wide::u64 && k < 0);
    *reinterpret_cast<Index*>(at[1]) = index;
    return index == loops::dropped_index;
  }
  // As it was given.
  constexpr std::int64_t index(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    return load_as<std::int64_t>(from, at[0]);
  }

 private:
  constexpr std::int64_t wrapped(std::int64_t k, bool huge) const {
    if (mode == IndexMode::clip) return k < 0 ? 0 : k >= extent ? extent - 1 : k;
    if (mode == IndexMode::slide) {
      const std::int64_t from_front = k < 0 ? k + extent : k, last = extent - window;
      return from_front < 0 ? 0 : from_front > last ? last : from_front;
    }
    if (mode == IndexMode::wrap) return (k % extent + extent) % extent;
    if (k < -extent || k >= extent || huge) return loops::dropped_index;
    return k < 0 ? k + extent : k;
  }
};

// Wraps runs of indices, a team each, and says whether one was dropped.
struct Either {
  static constexpr std::int32_t join(std::int32_t a, std::int32_t b) { return a | b; }
};
template <class Index>
struct WrapRun {
  WrapIndex<Index> wrap;
  std::int64_t run;
  std::int32_t* dropped;

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t part) const {
    const std::int64_t n = wrap.loop.size, end = (part + 1) * run < n ? (part + 1) * run : n;
    std::int32_t any = 0;
    for (std::int64_t i = part * run + team.thread(); i < end; i += team.threads()) any |= wrap.write(i);
    any = team.combine(any, Either());
    if (team.thread() == 0) dropped[part] = any;
  }
};

inline void launch_wrap_indices(Device device, const Loop<2>& loop, DType from, std::int64_t extent,
                                IndexMode mode, std::int64_t window) {
  for_each_narrow(loop, [&](const Loop<2>& part) {
    launch(device, part.size, WrapIndex<std::int64_t>{part, from, extent, mode, window});
  });
}
// Wraps indices, and notes one that is out of range.
template <class Index>
struct NoteIndex {
  WrapIndex<Index> wrap;
  IndexFault* fault;
  const char* function;
  int axis;
  constexpr void operator()(std::int64_t i) const {
    if (wrap.write(i)) IndexFault::note(*fault, function, wrap.index(i), axis, wrap.extent);
  }
};
inline void launch_note_indices(Device device, const Loop<2>& loop, const ops::WrapIndices& f) {
  IndexFault* const fault = IndexFaults::of(device);
  for_each_narrow(loop, [&](const Loop<2>& part) {
    const WrapIndex<std::int64_t> wrap{part, f.from.stored, f.extent, f.mode, f.window};
    launch(device, part.size, NoteIndex<std::int64_t>{wrap, fault, f.function, f.axis});
  });
}
// Wraps indices and drops those out of range; true where one was. The host waits for the answer.
inline bool launch_drop_indices(Device device, const Loop<2>& loop, DType from, std::int64_t extent) {
  constexpr int threads = 256;                                    // of a team
  constexpr std::int64_t most_parts = 1024, least = 2 * threads;  // indices of a part
  bool any = false;
  for_each_narrow(loop, [&](const Loop<2>& some) {
    const std::int64_t run = std::max((some.size + most_parts - 1) / most_parts, least);
    const std::int64_t parts = (some.size + run - 1) / run;
    const Scratch scratch(device, static_cast<std::size_t>(parts) * sizeof(std::int32_t));
    launch_teams(
        device, parts, threads,
        WrapRun<std::int64_t>{
            {some, from, extent, IndexMode::drop}, run, reinterpret_cast<std::int32_t*>(scratch.data())});
    std::int32_t dropped[most_parts];
    nax::detail::copy_bytes(Device{}, dropped, device, scratch.data(),
                            static_cast<std::size_t>(parts) * sizeof(std::int32_t));
    any |= std::any_of(dropped, dropped + parts, [](std::int32_t d) { return d != 0; });
  });
  return any;
}

// to = a * extent + b.
template <class Index>
struct JoinIndices {
  Loop<3> loop;
  std::int64_t extent;
  constexpr void operator()(std::int64_t i) const {
    char* at[3];
    loop.locate(i, at);
    *reinterpret_cast<Index*>(at[2]) =
        *reinterpret_cast<const Index*>(at[0]) * extent + *reinterpret_cast<const Index*>(at[1]);
  }
};

// Row-major positions as offsets.
struct IndexOffsets {
  int rank;
  std::int64_t extents[most_axes], strides[most_axes];
  const std::int64_t* from;
  std::int64_t* to;
  constexpr void operator()(std::int64_t i) const {
    std::int64_t rest = from[i], offset = 0;
    if (rest == loops::dropped_index) {
      to[i] = rest;
      return;
    }
    for (int axis = rank - 1; axis >= 0; --axis) {
      offset += rest % extents[axis] * strides[axis];
      rest /= extents[axis];
    }
    to[i] = offset;
  }
};

inline void launch_index_offsets(Device device, std::int64_t n, const Dims& extents, const Dims& strides,
                                 const std::int64_t* from, std::int64_t* to) {
  if (extents.size() > static_cast<std::size_t>(most_axes))
    raise<DeviceError>(
        {"indices over ", extents.size(), " axes are more than a kernel of the GPU takes, ", most_axes});
  IndexOffsets body{static_cast<int>(extents.size()), {}, {}, from, to};
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    body.extents[axis] = extents[axis], body.strides[axis] = strides[axis];
  launch(device, n, body);
}

// In each sorted line: how many equal indices came before (or come after) each one, where it was.
struct IndexRanks {
  std::int64_t n;
  bool after;
  KeyRun<std::uint64_t> sorted;
  std::int64_t* ranks;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t place = i % n, line = i - place;
    const std::uint64_t* const keys = sorted.keys + line;
    const std::uint64_t key = keys[place];
    // The first place of the run, or the first behind it.
    std::int64_t low = after ? place : 0, high = after ? n : place;
    while (low < high) {
      const std::int64_t half = (low + high) / 2;
      if (after ? keys[half] == key : keys[half] != key)
        low = half + 1;
      else
        high = half;
    }
    const bool dropped = static_cast<std::int64_t>(key) == loops::dropped_index;
    ranks[line + sorted.places[i]] = dropped ? 0 : after ? low - 1 - place : place - low;
  }
};

inline void launch_index_ranks(Device device, std::int64_t lines, std::int64_t n, bool after,
                               const std::int64_t* index, std::int64_t* ranks) {
  if (lines * n == 0) return;
  check_line_length(n);
  const SortedLines<std::uint64_t> sorted(device, lines, n, reinterpret_cast<const std::uint64_t*>(index));
  launch(device, lines * n, IndexRanks{n, after, sorted.run(), ranks});
}

struct KeepRanked {
  const std::int64_t* ranks;
  std::int64_t rank;
  const std::int64_t* from;
  std::int64_t* to;
  constexpr void operator()(std::int64_t i) const {
    to[i] = ranks[i] == rank ? from[i] : loops::dropped_index;
  }
};

// to[counts[i] - 1] = i where the mask holds; `counts` are the true elements up to and with each.
struct TruePositions {
  const bool* mask;
  const std::int64_t* counts;
  std::int64_t* to;
  constexpr void operator()(std::int64_t i) const {
    if (mask[i]) to[counts[i] - 1] = i;
  }
};

// to = `one` at the place in its line that the line's label names, zero elsewhere.
template <class Word>
struct OneHot {
  AnyDivisor by_n, by_inner;
  DType label;
  std::int64_t label_bytes;
  const char* labels;
  Word one;
  Word* to;
  constexpr void operator()(std::int64_t i) const {
    std::int64_t outer = i;
    const std::int64_t in_run = by_inner.split(outer), place = by_n.split(outer),
                       line = outer * by_inner.by + in_run;
    to[i] = load_as<std::int64_t>(label, labels + line * label_bytes) == place ? one : Word();
  }
};
struct TwoWords {
  std::uint64_t low = 0, high = 0;
};

inline void launch_one_hot(Device device, const loops::Lines& lines, DType label, const char* labels,
                           DType dtype, char* to) {
  const loops::ElementBytes bytes = loops::one_of(dtype);
  const auto run = [&]<class Word>(Word one) {
    std::memcpy(&one, bytes.at, sizeof one);
    launch(
        device, lines.count() * lines.n,
        OneHot<Word>{AnyDivisor(lines.n), AnyDivisor(lines.inner), label,
                     static_cast<std::int64_t>(dtype_size(label)), labels, one, reinterpret_cast<Word*>(to)});
  };
  switch (dtype_size(dtype)) {
    case 1:
      return run(std::uint8_t());
    case 2:
      return run(std::uint16_t());
    case 4:
      return run(std::uint32_t());
    case 8:
      return run(std::uint64_t());
    default:
      return run(TwoWords());
  }
}

}  // namespace cuda
NAX_END
