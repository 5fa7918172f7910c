#pragma once

#include <algorithm>

#include "nax/devices/cuda/launch/narrow_divisor.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"
#include "nax/loops/convolution.hpp"

// Places and outputs of convolutions (loops/convolution.hpp), as kernels compute them.
NAX_BEGIN
namespace cuda {

// Index: std::int64_t, or std::int32_t where is_narrow_conv().
template <class Index>
struct ConvLoopOf {
  using Divide = DivisorOf<Index>;
  Index n, c, o, groups, in[3], kernel[3], out[3], stride[3], low[3], lhs[3], rhs[3];
  Index window, inputs, outputs;    // taps; input and output channels of a group
  Index width;                      // of a patch of a group: (kernel..., inputs)
  Index places, image_rows;         // of an image: elements of a channel of x and of y
  Index last_place[3], last_at[3];  // of an axis of x and of y, times lhs and stride
  Divide by_c, by_o, by_groups, by_inputs, by_outputs, by_width, by_in[3], by_kernel[3], by_out[3], by_lhs[3],
      by_stride[3];

  explicit ConvLoopOf(const loops::ConvGeometry& g)
      : n(cut(g.n)),
        c(cut(g.c)),
        o(cut(g.o)),
        groups(cut(g.groups)),
        window(cut(g.taps())),
        inputs(c / groups),
        outputs(o / groups),
        width(window * inputs),
        places(cut(g.in[0] * g.in[1] * g.in[2])),
        image_rows(cut(g.out[0] * g.out[1] * g.out[2])),
        by_c(c),
        by_o(o),
        by_groups(groups),
        by_inputs(inputs),
        by_outputs(outputs),
        by_width(width) {
    for (int axis = 0; axis < 3; ++axis) {
      in[axis] = cut(g.in[axis]), kernel[axis] = cut(g.kernel[axis]), out[axis] = cut(g.out[axis]);
      stride[axis] = cut(g.stride[axis]), low[axis] = cut(g.low[axis]);
      lhs[axis] = cut(g.lhs[axis]), rhs[axis] = cut(g.rhs[axis]);
      last_place[axis] = (in[axis] - 1) * lhs[axis], last_at[axis] = (out[axis] - 1) * stride[axis];
      by_in[axis] = Divide(in[axis]), by_kernel[axis] = Divide(kernel[axis]),
      by_out[axis] = Divide(out[axis]);
      by_lhs[axis] = Divide(lhs[axis]), by_stride[axis] = Divide(stride[axis]);
    }
  }
  constexpr Index rows() const { return n * image_rows; }

  // The place on an axis of x that tap k of output p reads; -1 between elements and in the padding.
  constexpr Index place(int axis, Index p, Index k) const {
    return quotient(p * stride[axis] + k * rhs[axis] - low[axis], by_lhs[axis], last_place[axis]);
  }
  // The output on an axis whose tap k reads place v; -1 where none does.
  constexpr Index output(int axis, Index v, Index k) const {
    return quotient(v * lhs[axis] + low[axis] - k * rhs[axis], by_stride[axis], last_at[axis]);
  }
  // Splits a row-major index over three axes; returns what is left for those before.
  static constexpr Index split(const Divide (&extents)[3], Index index, Index (&at)[3]) {
    for (int axis = 2; axis >= 0; --axis) at[axis] = extents[axis].split(index);
    return index;
  }
  // Calls f(tap, at) for the taps with which an output at p reads: `at` is the place in an image of x.
  template <class F>
  constexpr void for_each_read(const Index (&p)[3], const F& f) const {
    for_each_tap(
        in, [&](int axis, Index k) { return place(axis, p[axis], k); }, f);
  }
  // Calls f(tap, at) for the taps with which place v is read: `at` is the output in an image of y.
  template <class F>
  constexpr void for_each_reader(const Index (&v)[3], const F& f) const {
    for_each_tap(
        out, [&](int axis, Index k) { return output(axis, v[axis], k); }, f);
  }

  // Calls f(tap, at) for the lines of taps along the last axis: their first tap, and the first output of the
  // line of y whose outputs read place v with them.
  template <class F>
  constexpr void for_each_reader_line(const Index (&v)[3], const F& f) const {
    for_each_tap_line(
        out, [&](int axis, Index k) { return output(axis, v[axis], k); }, f);
  }

 private:
  static constexpr Index cut(std::int64_t x) { return static_cast<Index>(x); }
  // Over the kernel in row-major order; where(axis, k) is -1 where tap k of an axis meets nothing.
  template <class Where, class F>
  constexpr void for_each_tap(const Index (&extents)[3], const Where& where, const F& f) const {
    for_each_tap_line(extents, where, [&](Index tap, Index at) {
      NAX_GPU_ROLLED
      for (Index k = 0; k < kernel[2]; ++k)
        if (const Index at2 = where(2, k); at2 >= 0) f(tap + k, at + at2);
    });
  }
  template <class Where, class F>
  constexpr void for_each_tap_line(const Index (&extents)[3], const Where& where, const F& f) const {
    for (Index k0 = 0; k0 < kernel[0]; ++k0) {
      const Index at0 = where(0, k0);
      if (at0 < 0) continue;
      for (Index k1 = 0; k1 < kernel[1]; ++k1)
        if (const Index at1 = where(1, k1); at1 >= 0)
          f((k0 * kernel[1] + k1) * kernel[2], (at0 * extents[1] + at1) * extents[2]);
    }
  }
  // q / by where that is a whole number, and q in [0, last], else -1.
  static constexpr Index quotient(Index q, const Divide& by, Index last) {
    if (q < 0 || q > last) return -1;
    if (by.by == 1) return q;
    const Index whole = by.quotient(q);
    return whole * by.by == q ? whole : -1;
  }
};
using ConvLoop = ConvLoopOf<std::int64_t>;

// Do 32 bits hold all that kernels count, over x, w, y and patches of so many rows?
inline bool is_narrow_conv(const loops::ConvGeometry& g, std::int64_t patch_rows) {
  constexpr std::int64_t most = most_narrow_index;
  const auto fits = [](std::initializer_list<std::int64_t> factors) {  // their product, all of them >= 0
    std::int64_t product = 1;
    for (const std::int64_t factor : factors) {
      if (factor > most || (product *= factor) > most) return false;
    }
    return true;
  };
  if (g.c == 0 || !fits({g.n, g.in[0], g.in[1], g.in[2], g.c}) ||
      !fits({g.n, g.out[0], g.out[1], g.out[2], std::max<std::int64_t>(g.o, 1)}) ||
      !fits({g.kernel[0], g.kernel[1], g.kernel[2], g.c / g.groups, g.o}) ||
      !fits({patch_rows, g.kernel[0], g.kernel[1], g.kernel[2], g.c}))
    return false;
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t low = g.low[axis] < 0 ? -g.low[axis] : g.low[axis];
    if (low > most || g.stride[axis] > most || g.lhs[axis] > most || g.rhs[axis] > most) return false;
    const std::int64_t kernel = g.kernel[axis] * g.rhs[axis];
    if (g.in[axis] * g.lhs[axis] + kernel + low > most || g.out[axis] * g.stride[axis] + kernel + low > most)
      return false;
  }
  return true;
}

}  // namespace cuda
NAX_END
