#pragma once

#include <algorithm>
#include <climits>
#include <optional>
#include <utility>

#include "nax/core/dtype.hpp"
#include "nax/loops/convolution.hpp"

// A convolution as cuDNN takes it: equal padding on both sides, at least two spatial axes, extents that fit
// into int, x not dilated. x is (n, in..., c) and y (n, out..., o), channels last; w is
// (o, kernel..., c / groups).
//
// A convolution of a dilated x is the transpose in x of another one, whose stride is the dilation and whose
// kernel is flipped: there x and y change places.
NAX_BEGIN
namespace cudnn {

struct Problem {
  loops::ConvPart part;
  DType dtype;
  bool tensor_float32, flipped;
  int axes;  // the last two or three
  int n, c, o, groups;
  int in[3], kernel[3], out[3], pad[3], stride[3], dilation[3];
  // Where the two sides' padding differs, x is first copied into `in`, from this place on; it may be cut.
  int shift[3];
  bool copies;

  friend auto operator<=>(const Problem&, const Problem&) = default;
};

inline bool is_dilated(const loops::ConvGeometry& g) {
  return g.lhs[0] != 1 || g.lhs[1] != 1 || g.lhs[2] != 1;
}
// The convolution, with a flipped kernel, whose gradient of x is this one's y; its stride must be 1.
inline std::optional<loops::ConvGeometry> transposed(const loops::ConvGeometry& g) {
  loops::ConvGeometry t = g;
  std::swap(t.c, t.o);
  for (int axis = 0; axis < 3; ++axis) {
    if (g.stride[axis] != 1) return std::nullopt;
    t.in[axis] = g.out[axis], t.out[axis] = g.in[axis];
    t.stride[axis] = g.lhs[axis], t.lhs[axis] = 1;
    t.low[axis] = (g.kernel[axis] - 1) * g.rhs[axis] - g.low[axis];
  }
  return t;
}

// None where cuDNN has no such form, and for empty operands. Precondition: x is not dilated.
inline std::optional<Problem> problem_of(loops::ConvPart part, const loops::ConvGeometry& g, DType dtype,
                                         bool tensor_float32, bool flipped) {
  Problem p{};
  p.part = part, p.dtype = dtype, p.tensor_float32 = tensor_float32, p.flipped = flipped;
  std::int64_t greatest = std::max({g.n, g.c, g.o}), least = std::min({g.n, g.c, g.o});
  bool flat = true;  // nothing along the first axis
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t reach = (g.kernel[axis] - 1) * g.rhs[axis] + 1;
    const std::int64_t padded = g.in[axis] + 2 * g.low[axis];
    const bool equal =
        g.low[axis] >= 0 && padded >= reach && (padded - reach) / g.stride[axis] + 1 == g.out[axis];
    const std::int64_t extent = equal ? g.in[axis] : (g.out[axis] - 1) * g.stride[axis] + reach;
    greatest = std::max({greatest, extent, g.in[axis], g.out[axis], reach, g.stride[axis], padded});
    least = std::min({least, g.in[axis], g.out[axis], g.kernel[axis]});
    if (greatest > INT_MAX || g.low[axis] < -INT_MAX || least < 1) return std::nullopt;
    p.in[axis] = static_cast<int>(extent);
    p.kernel[axis] = static_cast<int>(g.kernel[axis]);
    p.out[axis] = static_cast<int>(g.out[axis]);
    p.pad[axis] = equal ? static_cast<int>(g.low[axis]) : 0;
    p.shift[axis] = equal ? 0 : static_cast<int>(g.low[axis]);
    p.stride[axis] = static_cast<int>(g.stride[axis]);
    p.dilation[axis] = static_cast<int>(g.rhs[axis]);
    p.copies = p.copies || !equal;
    if (axis == 0) flat = extent == 1 && g.in[0] == 1 && g.kernel[0] == 1 && g.out[0] == 1;
  }
  // cuDNN counts an array's elements in int, too.
  const auto fits = [](std::int64_t size, const int(&extents)[3], std::int64_t channels) {
    for (const std::int64_t extent : {static_cast<std::int64_t>(extents[0]), std::int64_t{extents[1]},
                                      std::int64_t{extents[2]}, channels})
      if ((size *= extent) > INT_MAX) return false;
    return true;
  };
  if (!fits(g.n, p.in, g.c) || !fits(g.n, p.out, g.o) || !fits(g.o, p.kernel, g.c / g.groups))
    return std::nullopt;
  p.axes = flat ? 2 : 3;
  p.n = static_cast<int>(g.n), p.c = static_cast<int>(g.c), p.o = static_cast<int>(g.o);
  p.groups = static_cast<int>(g.groups);
  return p;
}

}  // namespace cudnn
NAX_END
