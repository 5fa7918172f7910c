#pragma once

#include "nax/backend/cuda/loop.hpp"
#include "nax/loops/convolution.hpp"

// Places and outputs of convolutions (loops/convolution.hpp), as kernels compute them.
NAX_BEGIN
namespace cuda {

struct ConvLoop : loops::ConvGeometry {
  std::int64_t window, inputs, outputs;  // taps; input and output channels of a group
  std::int64_t width;                    // of a patch of a group: (kernel..., inputs)
  std::int64_t places, image_rows;       // of an image: elements of a channel of x and of y
  AnyDivisor by_c, by_o, by_groups, by_inputs, by_outputs, by_width, by_in[3], by_kernel[3], by_out[3];

  explicit ConvLoop(const loops::ConvGeometry& g)
      : ConvGeometry(g),
        window(g.taps()),
        inputs(g.c / g.groups),
        outputs(g.o / g.groups),
        width(window * inputs),
        places(g.in[0] * g.in[1] * g.in[2]),
        image_rows(g.out[0] * g.out[1] * g.out[2]),
        by_c(c),
        by_o(o),
        by_groups(groups),
        by_inputs(inputs),
        by_outputs(outputs),
        by_width(width) {
    for (int axis = 0; axis < 3; ++axis) {
      by_in[axis] = AnyDivisor(in[axis]);
      by_kernel[axis] = AnyDivisor(kernel[axis]);
      by_out[axis] = AnyDivisor(out[axis]);
    }
  }

  // The place on an axis of x that tap k of output p reads; -1 between elements and in the padding.
  constexpr std::int64_t place(int axis, std::int64_t p, std::int64_t k) const {
    return quotient(p * stride[axis] + k * rhs[axis] - low[axis], lhs[axis], in[axis]);
  }
  // The output on an axis whose tap k reads place v; -1 where none does.
  constexpr std::int64_t output(int axis, std::int64_t v, std::int64_t k) const {
    return quotient(v * lhs[axis] + low[axis] - k * rhs[axis], stride[axis], out[axis]);
  }
  // Splits a row-major index over three axes; returns what is left for those before.
  static constexpr std::int64_t split(const AnyDivisor (&extents)[3], std::int64_t index,
                                      std::int64_t (&at)[3]) {
    for (int axis = 2; axis >= 0; --axis) at[axis] = extents[axis].split(index);
    return index;
  }
  // Calls f(tap, at) for the taps with which an output at p reads: `at` is the place in an image of x.
  template <class F>
  constexpr void for_each_read(const std::int64_t (&p)[3], const F& f) const {
    for_each_tap(
        in, [&](int axis, std::int64_t k) { return place(axis, p[axis], k); }, f);
  }
  // Calls f(tap, at) for the taps with which place v is read: `at` is the output in an image of y.
  template <class F>
  constexpr void for_each_reader(const std::int64_t (&v)[3], const F& f) const {
    for_each_tap(
        out, [&](int axis, std::int64_t k) { return output(axis, v[axis], k); }, f);
  }

 private:
  // Over the kernel in row-major order; where(axis, k) is -1 where tap k of an axis meets nothing.
  template <class Where, class F>
  constexpr void for_each_tap(const std::int64_t (&extents)[3], const Where& where, const F& f) const {
    for (std::int64_t k0 = 0; k0 < kernel[0]; ++k0) {
      const std::int64_t at0 = where(0, k0);
      if (at0 < 0) continue;
      for (std::int64_t k1 = 0; k1 < kernel[1]; ++k1) {
        const std::int64_t at1 = where(1, k1);
        if (at1 < 0) continue;
        for (std::int64_t k2 = 0; k2 < kernel[2]; ++k2)
          if (const std::int64_t at2 = where(2, k2); at2 >= 0)
            f((k0 * kernel[1] + k1) * kernel[2] + k2, (at0 * extents[1] + at1) * extents[2] + at2);
      }
    }
  }
  // q / by where that is a whole number in [0, extent), else -1.
  static constexpr std::int64_t quotient(std::int64_t q, std::int64_t by, std::int64_t extent) {
    if (q < 0 || q > (extent - 1) * by) return -1;
    if (by == 1) return q;
    return q % by == 0 ? q / by : -1;
  }
};

}  // namespace cuda
NAX_END
