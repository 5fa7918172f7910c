#pragma once

#include "nax/core/accelerator.hpp"
#include "nax/devices/cuda/launch/complex_parts.hpp"
#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/places/transpose_tiles.hpp"

// Elements from one layout to another, and from one dtype to another.
NAX_BEGIN
namespace cuda {

// Bytes move; all dtypes of a size share a kernel.
template <class Unit>
struct CopyElement {
  Loop<2> loop;
  constexpr void operator()(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    *reinterpret_cast<Unit*>(at[1]) = *reinterpret_cast<const Unit*>(at[0]);
  }
};
template <int bytes>
struct CopyPieces : PieceBody<2, piece_bytes / bytes> {
  using Base = PieceBody<2, piece_bytes / bytes>;
  constexpr void operator()(std::int64_t piece) const {
    char* at[2];
    this->loop.pieces.locate(piece, at);
    const int count = this->count(piece);
    Piece<16> all{};
    this->template load<bytes>(0, at[0], count, all);
    Base::template store<bytes>(all, at[1], count);
  }
};

// By way of a type that holds what it reads exactly, so that a conversion rounds once.
template <class A>
struct ConvertElement {
  Loop<2> loop;
  DType from, to;
  constexpr void operator()(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    store_as<A>(to, at[1], load_as<A>(from, at[0]));
  }
};
// Conversions to or from complex numbers: the imaginary part of a real number is 0, and a conversion to a
// real one drops it. Truth asks for both parts.
template <class A>
struct ConvertComplex {
  Loop<2> loop;
  DType from, to;
  constexpr void operator()(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    const DType in = part_type(from), out = part_type(to);
    const A re = load_as<A>(in, at[0]), im = in == from ? A(0) : load_as<A>(in, at[0] + dtype_size(in));
    if (to == DType::boolean) return store_as<A>(to, at[1], re != A(0) || im != A(0) ? A(1) : A(0));
    store_as<A>(out, at[1], re);
    if (out != to) store_as<A>(out, at[1] + dtype_size(out), im);
  }
};
// Conversions of training: at least eight bytes an access.
template <class From, class To>
struct ConvertPieces : PieceBody<2, piece_bytes / static_cast<int>(std::max(sizeof(From), sizeof(To)))> {
  using Base = PieceBody<2, piece_bytes / static_cast<int>(std::max(sizeof(From), sizeof(To)))>;
  constexpr void operator()(std::int64_t piece) const {
    char* at[2];
    this->loop.pieces.locate(piece, at);
    const int count = this->count(piece);
    Piece<16> in{}, out{};
    this->template load<sizeof(From)>(0, at[0], count, in);
    for (int j = 0; j < Base::per; ++j)
      out.set(j, static_cast<To>(static_cast<float>(in.template get<From>(j))));
    Base::template store<sizeof(To)>(out, at[1], count);
  }
};

template <class From, class To>
bool launch_convert_pieces(Device device, const Loop<2>& loop, const loops::Operand* operands) {
  ConvertPieces<From, To> body;
  if (operands[0].stored != dtype_of<From> || operands[1].stored != dtype_of<To> ||
      !in_pieces(loop, operands, body.per, body.loop))
    return false;
  launch(device, body.loop.pieces.size, body);
  return true;
}

inline void launch_convert(Device device, const Loop<2>& loop, const loops::Operand* operands) {
  const DType from = operands[0].stored, to = operands[1].stored;
  if (is_complex(from) || is_complex(to))
    return with_wide(part_type(from), [&]<class A>(std::type_identity<A>) {
      launch(device, loop.size, ConvertComplex<A>{loop, from, to});
    });
  if (launch_convert_pieces<float, half>(device, loop, operands) ||
      launch_convert_pieces<float, bfloat16>(device, loop, operands) ||
      launch_convert_pieces<half, float>(device, loop, operands) ||
      launch_convert_pieces<bfloat16, float>(device, loop, operands) ||
      launch_convert_pieces<std::uint8_t, float>(device, loop, operands))
    return;
  with_wide(from, [&]<class A>(std::type_identity<A>) {
    launch(device, loop.size, ConvertElement<A>{loop, from, to});
  });
}

inline void launch_copy(Device device, Dims shape, const loops::Operand& from, const loops::Operand& to) {
  loops::Operand operands[] = {from, to};
  loops::collapse(shape, operands, 2);
  const Loop<2> whole = make_loop<2>(shape, operands);
  const std::size_t bytes = dtype_size(to.stored);
  if (from.stored == to.stored && whole.size > 0 &&
      (whole.rank == 0 || (whole.rank == 1 && whole.strides[0][0] == whole.strides[1][0] &&
                           whole.strides[0][0] == static_cast<std::int64_t>(bytes))))
    return detail::accelerator_of(device).copy_between(device, whole.data[1], device, whole.data[0],
                                                       static_cast<std::size_t>(whole.size) * bytes);
  bool transposed = false;
  if (from.stored == to.stored && whole.size > 0)
    with_piece(bytes, [&]<int size>(std::type_identity<Piece<size>>) {
      if constexpr (size < piece_bytes) transposed = launch_transpose<size>(device, whole);
    });
  if (transposed) return;
  for_each_narrow(whole, [&](const Loop<2>& loop) {
    if (from.stored != to.stored) return launch_convert(device, loop, operands);
    with_piece(bytes, [&]<int size>(std::type_identity<Piece<size>>) {
      if constexpr (size < piece_bytes) {
        CopyPieces<size> body;
        if (in_pieces(loop, operands, body.per, body.loop))
          return launch(device, body.loop.pieces.size, body);
      }
      launch(device, loop.size, CopyElement<Piece<size>>{loop});
    });
  });
}

}  // namespace cuda
NAX_END
