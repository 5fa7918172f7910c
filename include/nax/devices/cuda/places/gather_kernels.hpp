#pragma once

#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/loops/lines.hpp"
#include "nax/loops/select_loop.hpp"

// Reading at places that an index array names: one thread a value.
NAX_BEGIN
namespace cuda {

template <class Unit>
struct GatherElement {
  Loop<3> loop;
  std::int64_t scale;  // in bytes

  constexpr void operator()(std::int64_t i) const {
    char* at[3];
    loop.locate(i, at);
    const std::int64_t index = loop.data[2] ? *reinterpret_cast<const std::int64_t*>(at[2]) : 0;
    Unit& to = *reinterpret_cast<Unit*>(at[0]);
    if (index == loops::dropped_index)
      to = Unit{};
    else
      to = *reinterpret_cast<const Unit*>(at[1] + index * scale);
  }
};

// Rows that lie in a row, of which each has one index.
template <int bytes>
struct GatherPieces : PieceBody<3, piece_bytes / bytes> {
  using Base = PieceBody<3, piece_bytes / bytes>;
  std::int64_t scale;
  constexpr void operator()(std::int64_t piece) const {
    char* at[3];
    this->loop.pieces.locate(piece, at);
    const std::int64_t index = this->loop.pieces.data[2] ? *reinterpret_cast<const std::int64_t*>(at[2]) : 0;
    const int count = this->count(piece);
    Piece<16> all{};
    if (index != loops::dropped_index) this->template load<bytes>(1, at[1] + index * scale, count, all);
    Base::template store<bytes>(all, at[0], count);
  }
};

inline void launch_gather(Device device, loops::SelectLoop select) {
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(select.data().stored));
  loops::collapse(select.shape, select.operands, 3);
  const std::int64_t scale = select.scale * bytes;
  for_each_narrow(make_loop<3>(select.shape, select.operands), [&](const Loop<3>& loop) {
    with_piece(static_cast<std::size_t>(bytes), [&]<int size>(std::type_identity<Piece<size>>) {
      if constexpr (size < piece_bytes) {
        GatherPieces<size> body;
        const bool one_index = !loop.data[2] || loop.rank == 0 || loop.strides[2][loop.rank - 1] == 0;
        if (one_index && scale % piece_bytes == 0 && in_pieces(loop, select.operands, body.per, body.loop)) {
          body.scale = scale;
          return launch(device, body.loop.pieces.size, body);
        }
      }
      launch(device, loop.size, GatherElement<Piece<size>>{loop, scale});
    });
  });
}

// to = the elements of lines at places in their lines.
template <class Unit>
struct TakeFromLines {
  AnyDivisor by_n, by_inner;
  const Unit* from;
  const std::int32_t* places;
  Unit* to;
  constexpr void operator()(std::int64_t i) const {
    std::int64_t outer = i;
    const std::int64_t in_run = by_inner.split(outer);
    outer = by_n.quotient(outer);
    to[i] = from[(outer * by_n.by + places[i]) * by_inner.by + in_run];
  }
};
inline void launch_take_lines(Device device, const loops::Lines& lines, DType dtype, const char* from,
                              const std::int32_t* places, char* to) {
  with_piece(dtype_size(dtype), [&]<class Unit>(std::type_identity<Unit>) {
    launch(device, lines.count() * lines.n,
           TakeFromLines<Unit>{AnyDivisor(lines.n), AnyDivisor(lines.inner),
                               reinterpret_cast<const Unit*>(from), places, reinterpret_cast<Unit*>(to)});
  });
}

}  // namespace cuda
NAX_END
