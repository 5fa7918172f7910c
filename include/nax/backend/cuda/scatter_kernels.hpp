#pragma once

#include "nax/backend/cuda/copy_kernels.hpp"
#include "nax/backend/cuda/gather_kernels.hpp"
#include "nax/backend/cuda/sort_kernels.hpp"

// Writing at places that an index array names, each place by one thread: no atomics, and sums are taken in
// the order of the loop, as the CPU takes them.
//
// The axes are parted in those along which the data moves and those along which it stands still. Two values
// can only meet in one place if they agree in the moving axes; so for each position of these there is a list
// of indices over the standing ones. Of the values with one index, the thread of the first adds all, or that
// of the last writes its own. A short list is searched as it is, at a cost that is its length squared; a long
// one is sorted first, and the values of an index are a run of it. (One thread adds a whole run: a million
// values for ten places keep ten threads a row busy, no more.)
NAX_BEGIN
namespace cuda {

inline constexpr std::int64_t searched_list = 64;

// Ways to combine the values for one place.
template <class Unit>
struct WriteLast {
  static constexpr bool adds = false;
  constexpr void write(char* to, const char* value) const {
    *reinterpret_cast<Unit*>(to) = *reinterpret_cast<const Unit*>(value);
  }
};
template <class A>
struct AddAll {
  static constexpr bool adds = true;
  using Sum = std::conditional_t<std::is_integral_v<A>, std::uint64_t, A>;  // which wraps around
  DType from, to;
  constexpr Sum load(const char* place) const { return static_cast<Sum>(load_as<A>(to, place)); }
  constexpr Sum add(Sum sum, const char* value) const {
    return sum + static_cast<Sum>(load_as<A>(from, value));
  }
  constexpr void store(char* place, Sum sum) const { store_as<A>(to, place, static_cast<A>(sum)); }
};

struct ScatterAxes {
  Loop<3> moving;      // values, data, indices
  Loop<2> standing;    // values, indices
  std::int64_t scale;  // in bytes
  AnyDivisor by_moving;

  // Element i of the loop: its position along the standing axes, and where the moving ones are.
  constexpr std::int64_t locate(std::int64_t i, char* (&at)[3]) const {
    moving.locate_any(by_moving.split(i), at);
    return i;
  }

  constexpr std::int64_t index_at(const char* line, std::int64_t s) const {
    if (!line) return 0;
    return *reinterpret_cast<const std::int64_t*>(line + offset(1, s));
  }
  // Bytes from position 0 of the standing axes to position s.
  constexpr std::int64_t offset(int operand, std::int64_t s) const {
    char* at[2];
    standing.locate_any(s, at);
    return at[operand] - standing.data[operand];
  }
};

template <class Write>
struct ScatterBySearch {
  ScatterAxes axes;
  Write write;

  constexpr void operator()(std::int64_t i) const {
    char* at[3];
    const std::int64_t s = axes.locate(i, at), n = axes.standing.size;
    const char* const line = axes.moving.data[2] ? at[2] : nullptr;
    const std::int64_t index = axes.index_at(line, s);
    if (index == loops::dropped_index) return;
    char* const to = at[1] + index * axes.scale;
    if constexpr (Write::adds) {
      for (std::int64_t j = 0; j < s; ++j)
        if (axes.index_at(line, j) == index) return;
      auto sum = write.load(to);
      for (std::int64_t j = s; j < n; ++j)
        if (axes.index_at(line, j) == index) sum = write.add(sum, at[0] + axes.offset(0, j));
      write.store(to, sum);
    } else {
      for (std::int64_t j = s + 1; j < n; ++j)
        if (axes.index_at(line, j) == index) return;
      write.write(to, at[0] + axes.offset(0, s));
    }
  }
};

// The third operand of the moving axes is the line of sorted indices.
template <class Write>
struct ScatterSorted {
  ScatterAxes axes;
  Write write;
  KeyRun<std::uint64_t> sorted;
  std::uint64_t none;  // the key of a dropped index

  constexpr void operator()(std::int64_t i) const {
    char* at[3];
    const std::int64_t s = axes.locate(i, at), n = axes.standing.size;
    const auto* const keys = reinterpret_cast<const std::uint64_t*>(at[2]);
    const std::int32_t* const places = sorted.places + (keys - sorted.keys);
    if (keys[s] == none) return;
    char* const to = at[1] + static_cast<std::int64_t>(keys[s]) * axes.scale;
    if constexpr (Write::adds) {
      if (s > 0 && keys[s - 1] == keys[s]) return;
      auto sum = write.load(to);
      for (std::int64_t j = s; j < n && keys[j] == keys[s]; ++j)
        sum = write.add(sum, at[0] + axes.offset(0, places[j]));
      write.store(to, sum);
    } else {
      if (s + 1 < n && keys[s + 1] == keys[s]) return;
      write.write(to, at[0] + axes.offset(0, places[s]));
    }
  }
};

// Keys of indices, for a sort: few bits where it is known what they may name.
struct ScatterKeys {
  std::uint64_t none = static_cast<std::uint64_t>(loops::dropped_index);
  int bits = 64;

  explicit ScatterKeys(const loops::SelectLoop& loop) {
    const std::size_t axes = loop.extents.size();
    std::int64_t most = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::int64_t step = axes == 1 ? 1 : loop.strides[axis];  // several axes: an index is an offset
      if (step < 0) return;
      most += (loop.extents[axis] - 1) * step;
    }
    if (axes == 0 || most < 0) return;
    none = static_cast<std::uint64_t>(most) + 1;
    bits = std::bit_width(none);
  }
};
struct WriteScatterKey {
  Loop<2> loop;  // indices, keys
  std::uint64_t none;
  constexpr void operator()(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    const std::int64_t index = *reinterpret_cast<const std::int64_t*>(at[0]);
    *reinterpret_cast<std::uint64_t*>(at[1]) =
        index == loops::dropped_index ? none : static_cast<std::uint64_t>(index);
  }
};

// The parted axes, not yet collapsed.
struct PartedScatter {
  Dims moving, standing;
  loops::Operand along_moving[3], along_standing[2];

  explicit PartedScatter(const loops::SelectLoop& loop) {
    for (int o = 0; o < 3; ++o)
      along_moving[o] = {loop.operands[o].data, {}, loop.operands[o].stored, loop.operands[o].lane};
    along_standing[0] = along_moving[0];
    along_standing[1] = along_moving[2];
    for (std::size_t axis = 0; axis < loop.shape.size(); ++axis) {
      if (loop.operands[1].strides[axis] != 0) {
        moving.push_back(loop.shape[axis]);
        for (int o = 0; o < 3; ++o) along_moving[o].strides.push_back(loop.operands[o].strides[axis]);
      } else {
        standing.push_back(loop.shape[axis]);
        for (int o = 0; o < 2; ++o) along_standing[o].strides.push_back(loop.operands[2 * o].strides[axis]);
      }
    }
  }
};

template <class Write>
void launch_scatter_as(Device device, const loops::SelectLoop& select, const Write& write) {
  const std::int64_t scale = select.scale * static_cast<std::int64_t>(dtype_size(select.operands[1].stored));
  PartedScatter parts(select);
  std::int64_t count = 1, lines = 1;
  for (std::int64_t d : parts.standing) count *= d;
  const ScatterKeys key(select);
  std::optional<Scratch> keys;
  std::optional<SortedLines<std::uint64_t>> sorted;
  if (count > searched_list && select.operands[2].data) {
    check_line_length(count);
    // The lists one after another, those that are the same for several positions once.
    Dims shape, strides(parts.moving.size(), 0);
    loops::Operand index{parts.along_moving[2].data, {}, DType::int64, DType::int64}, list = index;
    for (std::size_t axis = parts.moving.size(); axis-- > 0;)
      if (parts.along_moving[2].strides[axis] != 0)
        strides[axis] = lines * count, lines *= parts.moving[axis];
    for (std::size_t axis = 0; axis < parts.moving.size(); ++axis)
      if (strides[axis] != 0) {
        shape.push_back(parts.moving[axis]);
        index.strides.push_back(parts.along_moving[2].strides[axis]);
        list.strides.push_back(strides[axis]);
      }
    std::int64_t below = count;
    for (std::size_t axis = 0; axis < parts.standing.size(); ++axis) {
      below /= parts.standing[axis];
      shape.push_back(parts.standing[axis]);
      index.strides.push_back(parts.along_standing[1].strides[axis]);
      list.strides.push_back(below);
    }
    keys.emplace(device, static_cast<std::size_t>(lines * count) * sizeof(std::uint64_t));
    list.data = keys->data();
    loops::Operand both[] = {index, list};
    loops::collapse(shape, both, 2);
    for_each_narrow(make_loop<2>(shape, both), [&](const Loop<2>& loop) {
      launch(device, loop.size, WriteScatterKey{loop, key.none});
    });
    sorted.emplace(device, lines, count, reinterpret_cast<const std::uint64_t*>(keys->data()), key.bits);
    parts.along_moving[2] = {reinterpret_cast<char*>(sorted->run().keys), strides, DType::int64,
                             DType::int64};
  }
  loops::collapse(parts.moving, parts.along_moving, 3);
  loops::collapse(parts.standing, parts.along_standing, 2);
  ScatterAxes axes{make_loop<3>(parts.moving, parts.along_moving),
                   make_loop<2>(parts.standing, parts.along_standing),
                   scale,
                   {}};
  axes.by_moving = AnyDivisor(axes.moving.size);
  if (sorted)
    launch(device, axes.moving.size * count, ScatterSorted<Write>{axes, write, sorted->run(), key.none});
  else
    launch(device, axes.moving.size * count, ScatterBySearch<Write>{axes, write});
}

inline void launch_scatter(Device device, const loops::SelectLoop& select, bool add) {
  for (std::int64_t d : select.shape)
    if (d == 0) return;
  const DType from = select.operands[0].stored, to = select.operands[1].stored;
  if (!add)
    return with_piece(dtype_size(to), [&]<class Unit>(std::type_identity<Unit>) {
      launch_scatter_as(device, select, WriteLast<Unit>{});
    });
  if (is_complex(to) && from == to) {
    loops::SelectLoop parts = select;
    parts.shape.push_back(2);
    parts.values() = parts_of(parts.values());
    parts.data() = parts_of(parts.data());
    parts.indices().strides.push_back(0);
    parts.scale *= 2;
    return launch_scatter(device, parts, add);
  }
  with_wide(to, [&]<class A>(std::type_identity<A>) {
    launch_scatter_as(device, select, AddAll<A>{from, to});
  });
}

}  // namespace cuda
NAX_END
