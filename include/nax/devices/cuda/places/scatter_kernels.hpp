#pragma once

#include "nax/devices/cuda/places/copy_kernels.hpp"
#include "nax/devices/cuda/places/scatter_bodies.hpp"

// Writing at places that an index array names, each place by one thread: no atomics, and sums are taken in
// the order of the loop, as the CPU takes them.
//
// The axes are parted in those along which the data moves and those along which it stands still. Two values
// can only meet in one place if they agree in the moving axes; so for each position of these there is a list
// of indices over the standing ones. Of the values with one index, the thread of the first adds all, or that
// of the last writes its own. A short list is searched as it is, at a cost that is its length squared; a long
// one is sorted first, and the values of an index are a run of it. (One thread adds a whole run: a million
// values for ten places keep ten threads a row busy, no more.) Sorted values that lie in rows, as the data
// does, are taken in pieces, a thread each.
NAX_BEGIN
namespace cuda {

inline constexpr std::int64_t searched_list = 64;

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
    bits = static_cast<int>(std::bit_width(none));
  }
};
template <class Key>
struct WriteScatterKey {
  Loop<2> loop;  // indices, keys
  Key none;
  constexpr void operator()(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    const std::int64_t index = *reinterpret_cast<const std::int64_t*>(at[0]);
    *reinterpret_cast<Key*>(at[1]) = index == loops::dropped_index ? none : static_cast<Key>(index);
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

// The keys of the lists of indices, sorted, one list after another; those that are the same for several
// positions once.
template <class Key>
class SortedScatter {
 public:
  // Makes them the third operand of the moving axes.
  SortedScatter(Device device, PartedScatter& parts, std::int64_t count, const ScatterKeys& key) {
    check_line_length(count);
    const DType stored = sizeof(Key) == 4 ? DType::uint32 : DType::uint64;
    std::int64_t lines = 1;
    Dims shape, strides(parts.moving.size(), 0);
    loops::Operand index{parts.along_moving[2].data, {}, DType::int64, DType::int64};
    loops::Operand list{nullptr, {}, stored, stored};
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
    keys_.emplace(device, static_cast<std::size_t>(lines * count) * sizeof(Key));
    list.data = keys_->data();
    loops::Operand both[] = {index, list};
    loops::collapse(shape, both, 2);
    for_each_narrow(make_loop<2>(shape, both), [&](const Loop<2>& loop) {
      launch(device, loop.size, WriteScatterKey<Key>{loop, static_cast<Key>(key.none)});
    });
    sorted_.emplace(device, lines, count, reinterpret_cast<const Key*>(keys_->data()), key.bits);
    parts.along_moving[2] = {reinterpret_cast<char*>(run().keys), strides, stored, stored};
  }
  const KeyRun<Key>& run() const { return sorted_->run(); }

 private:
  std::optional<Scratch> keys_;
  std::optional<SortedLines<Key>> sorted_;
};

// The axes, collapsed; those that stand still have `count` positions.
inline ScatterAxes scatter_axes(PartedScatter& parts, std::int64_t scale) {
  loops::collapse(parts.moving, parts.along_moving, 3);
  loops::collapse(parts.standing, parts.along_standing, 2);
  ScatterAxes axes{make_loop<3>(parts.moving, parts.along_moving),
                   make_loop<2>(parts.standing, parts.along_standing),
                   scale,
                   {}};
  axes.by_moving = AnyDivisor(axes.moving.size);
  return axes;
}

// Can the innermost axis be taken in pieces of so many elements, all whole? Makes the moving axes count them.
inline bool scatter_in_pieces(const PartedScatter& parts, int per, ScatterAxes& axes, bool& repeated) {
  const int last = axes.moving.rank - 1;
  PieceLoop<3> loop;
  if (last < 0 || axes.moving.shape[last] % per != 0 || axes.scale % piece_bytes != 0 ||
      axes.moving.strides[2][last] != 0 || !in_pieces(axes.moving, parts.along_moving, per, loop))
    return false;
  repeated = loop.repeated & 1;
  if (!repeated)
    for (int axis = 0; axis < axes.standing.rank; ++axis)
      if (axes.standing.strides[0][axis] % piece_bytes != 0) return false;
  axes.moving = loop.pieces;
  axes.by_moving = AnyDivisor(axes.moving.size);
  return true;
}

// f(type_identity of the way to combine pieces), for elements that have one.
template <class Unit, class F>
bool with_pieces_of(const WriteLast<Unit>&, const F& f) {
  if constexpr (sizeof(Unit) < piece_bytes) return f(std::type_identity<WriteLastPiece<sizeof(Unit)>>());
  return false;
}
template <class A, class F>
bool with_pieces_of(const AddAll<A>& add, const F& f) {
  if (add.from != add.to) return false;
  if constexpr (std::is_same_v<A, float>) {
    if (add.to == DType::float32) return f(std::type_identity<AddAllPieces<float>>());
    if (add.to == DType::bfloat16) return f(std::type_identity<AddAllPieces<bfloat16>>());
    if (add.to == DType::float16) return f(std::type_identity<AddAllPieces<half>>());
  }
  if constexpr (std::is_same_v<A, double>) return f(std::type_identity<AddAllPieces<double>>());
  return false;
}

template <class Key, class Write>
void launch_sorted_scatter(Device device, PartedScatter& parts, std::int64_t count, std::int64_t scale,
                           const ScatterKeys& key, const Write& write) {
  const SortedScatter<Key> sorted(device, parts, count, key);
  const Key none = static_cast<Key>(key.none);
  ScatterAxes axes = scatter_axes(parts, scale);
  const bool done = with_pieces_of(write, [&]<class Pieces>(std::type_identity<Pieces>) {
    bool repeated = false;
    if (!scatter_in_pieces(parts, Pieces::per, axes, repeated)) return false;
    launch(device, axes.moving.size * count,
           ScatterSorted<Pieces, Key>{axes, Pieces{repeated}, sorted.run(), none});
    return true;
  });
  if (!done)
    launch(device, axes.moving.size * count, ScatterSorted<Write, Key>{axes, write, sorted.run(), none});
}

template <class Write>
void launch_scatter_as(Device device, const loops::SelectLoop& select, const Write& write) {
  const std::int64_t scale = select.scale * static_cast<std::int64_t>(dtype_size(select.operands[1].stored));
  PartedScatter parts(select);
  std::int64_t count = 1;
  for (std::int64_t d : parts.standing) count *= d;
  if (count > searched_list && select.operands[2].data) {
    const ScatterKeys key(select);
    if (key.bits <= 32) return launch_sorted_scatter<std::uint32_t>(device, parts, count, scale, key, write);
    return launch_sorted_scatter<std::uint64_t>(device, parts, count, scale, key, write);
  }
  const ScatterAxes axes = scatter_axes(parts, scale);
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
