#pragma once

#include "nax/loops/convolution.hpp"

// Places and outputs of convolutions (loops/convolution.hpp), as kernels compute them.
NAX_BEGIN
namespace cuda {

struct ConvLoop : loops::ConvGeometry {
  std::int64_t window, inputs, outputs;  // taps; input and output channels of a group
  std::int64_t width;                    // of a patch of a group: (kernel..., inputs)
  std::int64_t places, image_rows;       // of an image: elements of a channel of x and of y

  explicit ConvLoop(const loops::ConvGeometry& g)
      : ConvGeometry(g),
        window(g.taps()),
        inputs(g.c / g.groups),
        outputs(g.o / g.groups),
        width(window * inputs),
        places(g.in[0] * g.in[1] * g.in[2]),
        image_rows(g.out[0] * g.out[1] * g.out[2]) {}

  // The place on an axis of x that tap k of output p reads; -1 between elements and in the padding.
  constexpr std::int64_t place(int axis, std::int64_t p, std::int64_t k) const {
    return quotient(p * stride[axis] + k * rhs[axis] - low[axis], lhs[axis], in[axis]);
  }
  // The output on an axis whose tap k reads place v; -1 where none does.
  constexpr std::int64_t output(int axis, std::int64_t v, std::int64_t k) const {
    return quotient(v * lhs[axis] + low[axis] - k * rhs[axis], stride[axis], out[axis]);
  }
  // Splits a row-major index over three axes; returns what is left for those before.
  static constexpr std::int64_t split(const std::int64_t (&extents)[3], std::int64_t index,
                                      std::int64_t (&at)[3]) {
    for (int axis = 2; axis >= 0; --axis) {
      at[axis] = index % extents[axis];
      index /= extents[axis];
    }
    return index;
  }

 private:
  // q / by where that is a whole number in [0, extent), else -1.
  static constexpr std::int64_t quotient(std::int64_t q, std::int64_t by, std::int64_t extent) {
    if (q < 0 || q > (extent - 1) * by) return -1;
    if (by == 1) return q;
    return q % by == 0 ? q / by : -1;
  }
};

}  // namespace cuda
NAX_END
