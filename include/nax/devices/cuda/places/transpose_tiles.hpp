#pragma once

#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"

// Copies between layouts whose rows run along different axes: by tiles in shared memory, so that both are
// read and written in runs. Bytes move; all dtypes of a size share a kernel.
NAX_BEGIN
namespace cuda {

template <int bytes>
struct TransposeTiles {
  static constexpr int side = bytes == 8 ? 32 : 64, stride = side + 1;  // columns lie in different banks
  static constexpr int per = piece_bytes / bytes, blocks = 4, shared_bytes = side * stride * bytes;
  using Unit = Piece<bytes>;
  struct State {};

  // Along `down` elements lie side by side where they are read, along `right` where they are written.
  struct Axis {
    std::int64_t extent, step;  // bytes from row to row
    AnyDivisor tiles;
    bool in_pieces;  // rows are pieces
  };
  Loop<2> others;
  Axis down, right;

  template <class OneBlock>
  constexpr void operator()(const OneBlock& block, std::int64_t i) const {
    const std::int64_t first_right = right.tiles.split(i) * side, first_down = down.tiles.split(i) * side;
    char* at[2];
    others.locate_any(i, at);
    Unit* const tile = reinterpret_cast<Unit*>(block.room);
    typename OneBlock::template Each<State> states{};
    block.each(states, [&](int thread, State&) {
      for_each_run(
          thread, right.extent - first_right, down.extent - first_down, [&](int row, int column, int count) {
            const char* const from = at[0] + (first_right + row) * right.step + (first_down + column) * bytes;
            Unit* const to = tile + row * stride + column;
            if (down.in_pieces) {
              const Piece<16> piece = Piece<16>::load(from);
              for (int j = 0; j < per; ++j) to[j] = piece.template get<Unit>(j);
            } else {
              for (int j = 0; j < per; ++j)
                if (j < count) to[j] = Unit::load(from + j * bytes);
            }
          });
    });
    block.wait();
    block.each(states, [&](int thread, State&) {
      for_each_run(thread, down.extent - first_down, right.extent - first_right,
                   [&](int row, int column, int count) {
                     char* const to = at[1] + (first_down + row) * down.step + (first_right + column) * bytes;
                     const Unit* const from = tile + column * stride + row;
                     if (right.in_pieces) {
                       Piece<16> piece{};
                       for (int j = 0; j < per; ++j) piece.set(j, from[j * stride]);
                       piece.store(to);
                     } else {
                       for (int j = 0; j < per; ++j)
                         if (j < count) from[j * stride].store(to + j * bytes);
                     }
                   });
    });
  }

 private:
  // f(row, column, count) for the runs of a thread in a tile, of as many elements as a piece.
  template <class F>
  static constexpr void for_each_run(int thread, std::int64_t rows, std::int64_t columns, const F& f) {
    constexpr int threads = 256, across = side / per;
    for (int e = thread; e < side * across; e += threads) {
      const int row = e / across, column = e % across * per;
      if (row < rows && column < columns)
        f(row, column, columns - column < per ? static_cast<int>(columns - column) : per);
    }
  }
};

// Returns false, and does nothing, where the loop is no transpose of long enough axes.
template <int bytes>
bool launch_transpose(Device device, const Loop<2>& loop) {
  constexpr std::int64_t least = 16;
  using Body = TransposeTiles<bytes>;
  int down = -1, right = -1;
  for (int axis = 0; axis < loop.rank; ++axis) {
    if (loop.strides[0][axis] == bytes) down = axis;
    if (loop.strides[1][axis] == bytes) right = axis;
  }
  if (down < 0 || right < 0 || down == right || loop.shape[down] < least || loop.shape[right] < least)
    return false;
  Body body;
  body.others.rank = 0;
  std::uintptr_t places[2] = {};
  for (int o = 0; o < 2; ++o) {
    body.others.data[o] = loop.data[o];
    places[o] = reinterpret_cast<std::uintptr_t>(loop.data[o]);
  }
  std::int64_t tiles = 1;
  for (int axis = 0; axis < loop.rank; ++axis) {
    for (int o = 0; o < 2; ++o)
      if (axis != (o == 0 ? down : right)) places[o] |= static_cast<std::uintptr_t>(loop.strides[o][axis]);
    if (axis == down || axis == right) continue;
    const int to = body.others.rank++;
    body.others.shape[to] = loop.shape[axis];
    for (int o = 0; o < 2; ++o) body.others.strides[o][to] = loop.strides[o][axis];
    tiles *= loop.shape[axis];
  }
  body.others.count();
  const auto make = [&](int axis, std::int64_t step, std::uintptr_t place) {
    const std::int64_t extent = loop.shape[axis], of_axis = (extent + Body::side - 1) / Body::side;
    tiles *= of_axis;
    return typename Body::Axis{extent, step, AnyDivisor(of_axis),
                               place % piece_bytes == 0 && extent % Body::per == 0};
  };
  body.down = make(down, loop.strides[1][down], places[0]);
  body.right = make(right, loop.strides[0][right], places[1]);
  launch_blocks(device, tiles, body);
  return true;
}

}  // namespace cuda
NAX_END
