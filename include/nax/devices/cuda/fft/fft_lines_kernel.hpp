#pragma once

#include <cstdint>
#include <type_traits>

#include "nax/core/dtype.hpp"
#include "nax/devices/cuda/launch/complex_parts.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/loop.hpp"

// Copies lines of numbers for Fourier transforms, and multiplies them on the way. Complex numbers are pairs
// of real ones: std::complex does not compute on a GPU.
NAX_BEGIN
namespace cuda {

// Lines of an array: strides, in elements, over the axes that are not transformed, and along the one that is.
struct LinesAt {
  char* data;
  DType stored;
  Dims strides;
  std::int64_t axis;
};

// Factors of each number on its way. The ends are the places that have no partner: 0, and n / 2 of an
// even n.
struct LineFactors {
  double scale = 1, middle = 1;  // of all numbers; also of all but the ends
  bool conjugate = false;
  bool real_ends = false;  // the imaginary parts of the ends are dropped

  bool nothing() const { return scale == 1 && middle == 1 && !conjugate && !real_ends; }
};

template <class R>
struct MoveNumber {
  Loop<2> loop;
  R factor;
  bool conjugate, keeps_imaginary, from_real, to_real;

  constexpr void operator()(std::int64_t i) const {
    char* at[2];
    loop.locate(i, at);
    const R* const from = reinterpret_cast<const R*>(at[0]);
    R* const to = reinterpret_cast<R*>(at[1]);
    const R re = from[0] * factor;
    const R im = from_real || !keeps_imaginary ? R(0) : from[1] * (conjugate ? -factor : factor);
    to[0] = re;
    if (!to_real) to[1] = im;
  }
};

// `places` numbers of each line; n is the length of the transform. A complex number that goes to a real one
// leaves its imaginary part behind. The two sides may be the same.
inline void launch_move_lines(Device device, const Dims& others, std::int64_t n, std::int64_t places,
                              const LinesAt& from, const LinesAt& to, const LineFactors& by) {
  const auto part = [&]<class R>(std::type_identity<R>, std::int64_t first, std::int64_t count, double factor,
                                 bool keeps_imaginary) {
    if (count <= 0) return;
    Dims shape = others;
    shape.push_back(count);
    const auto operand = [&](const LinesAt& side) {
      loops::Operand o{side.data + first * side.axis * static_cast<std::int64_t>(dtype_size(side.stored)),
                       side.strides, side.stored, side.stored};
      o.strides.push_back(side.axis);
      return o;
    };
    loops::Operand operands[] = {operand(from), operand(to)};
    loops::collapse(shape, operands, 2);
    for_each_narrow(make_loop<2>(shape, operands), [&](const Loop<2>& loop) {
      launch(device, loop.size,
             MoveNumber<R>{loop, static_cast<R>(factor), by.conjugate, keeps_imaginary,
                           !is_complex(from.stored), !is_complex(to.stored)});
    });
  };
  const auto parts = [&](auto type) {
    if (by.middle == 1 && !by.real_ends) return part(type, 0, places, by.scale, true);
    const bool has_last = n % 2 == 0 && places > 1;
    part(type, 0, 1, by.scale, !by.real_ends);
    part(type, 1, places - 1 - (has_last ? 1 : 0), by.scale * by.middle, true);
    if (has_last) part(type, n / 2, 1, by.scale, !by.real_ends);
  };
  if (part_type(from.stored) == DType::float64)
    parts(std::type_identity<double>());
  else
    parts(std::type_identity<float>());
}

}  // namespace cuda
NAX_END
