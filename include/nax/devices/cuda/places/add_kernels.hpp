#pragma once

#include "nax/devices/cuda/launch/complex_parts.hpp"
#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"

// Sums of two arrays of one dtype: how gradients accumulate.
NAX_BEGIN
namespace cuda {

template <class A>
struct AddElements {
  Loop<3> loop;
  DType dtype;
  constexpr void operator()(std::int64_t i) const {
    char* at[3];
    loop.locate(i, at);
    store_as<A>(dtype, at[2], static_cast<A>(load_as<A>(dtype, at[0]) + load_as<A>(dtype, at[1])));
  }
};

template <class A, class T>
struct AddPieces : PieceBody<3, piece_bytes / static_cast<int>(sizeof(T))> {
  using Base = PieceBody<3, piece_bytes / static_cast<int>(sizeof(T))>;
  constexpr void operator()(std::int64_t piece) const {
    char* at[3];
    this->loop.pieces.locate(piece, at);
    const int count = this->count(piece);
    Piece<16> in[2]{}, sum{};
    this->template load<sizeof(T)>(0, at[0], count, in[0]);
    this->template load<sizeof(T)>(1, at[1], count, in[1]);
    for (int j = 0; j < Base::per; ++j) {
      const A total = static_cast<A>(number(in[0], j) + number(in[1], j));
      T x{};
      StoreAs<A>{reinterpret_cast<char*>(&x), total}(std::type_identity<T>());
      sum.set(j, x);
    }
    Base::template store<sizeof(T)>(sum, at[2], count);
  }

 private:
  static constexpr A number(const Piece<16>& in, int j) {
    const T x = in.template get<T>(j);
    return LoadAs<A>{reinterpret_cast<const char*>(&x)}(std::type_identity<T>());
  }
};

inline void launch_add(Device device, Dims shape, const loops::Operand& a, const loops::Operand& b,
                       const loops::Operand& to) {
  loops::Operand operands[] = {a, b, to};
  if (is_complex(to.stored)) {
    for (loops::Operand& o : operands) o = parts_of(o);
    shape.push_back(2);
  }
  loops::collapse(shape, operands, 3);
  const DType dtype = operands[2].stored;
  for_each_narrow(make_loop<3>(shape, operands), [&](const Loop<3>& loop) {
    const bool done = with_type(dtype, [&]<class T>(std::type_identity<T>) {
      AddPieces<wide_t<T>, T> body;
      if (!in_pieces(loop, operands, body.per, body.loop)) return false;
      launch(device, body.loop.pieces.size, body);
      return true;
    });
    if (done) return;
    with_wide(dtype, [&]<class A>(std::type_identity<A>) {
      launch(device, loop.size, AddElements<A>{loop, dtype});
    });
  });
}

}  // namespace cuda
NAX_END
