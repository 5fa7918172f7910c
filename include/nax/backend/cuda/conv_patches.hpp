#pragma once

#include "nax/backend/cuda/conv_loop.hpp"

// Patches of a convolution, for `count` rows of y from `first` on: an array (count, groups, kernel...,
// inputs) whose element (row, group, tap, channel) is that of x which this tap of the row reads.
NAX_BEGIN
namespace cuda {

// patches = what they read in x, zero in the padding and between elements.
template <class T>
struct GatherPatches {
  ConvLoop s;
  std::int64_t first;
  const T* x;
  T* patches;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t of_row = s.by_width.quotient(i), row = s.by_groups.quotient(of_row),
                       group = of_row - row * s.groups, in_patch = i - of_row * s.width,
                       tap = s.by_inputs.quotient(in_patch);
    std::int64_t k[3] = {}, p[3] = {};
    ConvLoop::split(s.by_kernel, tap, k);
    std::int64_t at = ConvLoop::split(s.by_out, first + row, p);
    bool reads = true;
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t v = s.place(axis, p[axis], k[axis]);
      reads = reads && v >= 0;
      at = at * s.in[axis] + v;
    }
    patches[i] = reads ? x[at * s.c + group * s.inputs + in_patch - tap * s.inputs] : T(0);
  }
};

// x = the sums of the patches' elements that read there, tap by tap. Images that begin before the first row
// keep what earlier rows gave them. One thread an element of x, from the image of the first row on.
template <class T>
struct SumPatches {
  ConvLoop s;
  std::int64_t first, count;
  const T* patches;
  T* x;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t index = first / s.image_rows * s.places * s.c + i, place = s.by_c.quotient(index),
                       channel = index - place * s.c, group = s.by_inputs.quotient(channel);
    std::int64_t v[3] = {};
    const std::int64_t image = ConvLoop::split(s.by_in, place, v);
    T sum = image * s.image_rows < first ? x[index] : T(0);
    const std::int64_t first_row = image * s.image_rows - first;
    s.for_each_reader(v, [&](std::int64_t tap, std::int64_t at) {
      const std::int64_t row = first_row + at;
      if (row >= 0 && row < count)
        sum += patches[(row * s.groups + group) * s.width + tap * s.inputs + channel - group * s.inputs];
    });
    x[index] = sum;
  }
};

}  // namespace cuda
NAX_END
