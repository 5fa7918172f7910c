#pragma once

#include "nax/devices/cuda/conv/conv_loop.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"

// Patches of a convolution, for `count` rows of y from `first` on: an array (count, groups, kernel...,
// inputs) whose element (row, group, tap, channel) is that of x which this tap of the row reads.
//
// Kernels take a piece of neighbouring channels as one channel, where the inputs of a group divide into such.
NAX_BEGIN
namespace cuda {

// patches = what they read in x, zero in the padding and between elements. One thread a piece of a patch, in
// the rows that lie `step` apart: what does not depend on the row is computed once.
template <class Unit, class Index>
struct GatherPatches {
  ConvLoopOf<Index> s;
  Index first, count, step;
  const Unit* x;
  Unit* patches;

  constexpr void operator()(std::int64_t i) const {
    Index row = static_cast<Index>(i), tap = s.by_width.split(row);
    const Index group = s.by_groups.split(row), row_size = s.groups * s.width,
                in_row = static_cast<Index>(i) - row * row_size,
                from = group * s.inputs + s.by_inputs.split(tap);
    Index k[3] = {};
    k[2] = s.by_kernel[2].split(tap), k[1] = s.by_kernel[1].split(tap), k[0] = tap;
    for (; row < count; row += step) {
      Index p[3] = {}, at = s.split(s.by_out, first + row, p);
      bool reads = true;
      for (int axis = 0; axis < 3; ++axis) {
        const Index v = s.place(axis, p[axis], k[axis]);
        reads = reads && v >= 0;
        at = at * s.in[axis] + v;
      }
      patches[row * row_size + in_row] = reads ? x[at * s.c + from] : Unit{};
    }
  }
};

// x = the sums of the patches' elements that read there, tap by tap. Images that begin before the first row
// keep what earlier rows gave them. One thread a piece of x, from the image of the first row on.
template <class T, int per, class Index>
struct SumPatches {
  using Unit = Piece<per* static_cast<int>(sizeof(T))>;
  ConvLoopOf<Index> s;
  Index first, count;
  Index begin;  // of the first row's image, in pieces of x
  const Unit* patches;
  Unit* x;

  constexpr void operator()(std::int64_t i) const {
    const Index index = begin + static_cast<Index>(i);
    Index place = index, v[3] = {};
    const Index channel = s.by_c.split(place), group = s.by_inputs.quotient(channel),
                image = s.split(s.by_in, place, v), first_row = image * s.image_rows - first,
                in_row = group * s.width + channel - group * s.inputs;
    Unit sum = first_row < 0 ? x[index] : Unit{};
    s.for_each_reader_line(v, [&](Index tap, Index at) {
      for (Index k = 0; k < s.kernel[2]; k += batch) add_taps(sum, in_row, first_row + at, v[2], tap, k);
    });
    x[index] = sum;
  }

 private:
  static constexpr int batch = 3;  // taps whose elements are loaded before the first is added

  // Adds what taps k, k + 1, ... of a line read, of the outputs from a row on.
  constexpr void add_taps(Unit& sum, Index in_row, Index line_row, Index v, Index tap, Index k) const {
    Unit parts[batch];
    bool reads[batch] = {};
    NAX_GPU_UNROLL
    for (int j = 0; j < batch; ++j) {
      const Index at = k + j < s.kernel[2] ? s.output(2, v, k + j) : -1, row = line_row + at;
      reads[j] = at >= 0 && row >= 0 && row < count;
      if (reads[j]) parts[j] = patches[row * s.groups * s.width + in_row + (tap + k + j) * s.inputs];
    }
    NAX_GPU_UNROLL
    for (int j = 0; j < batch; ++j) {
      if (!reads[j]) continue;
      for (int e = 0; e < per; ++e)
        sum.set(e, static_cast<T>(sum.template get<T>(e) + parts[j].template get<T>(e)));
    }
  }
};

// f(loop, integral_constant of the elements of a piece) for patches of so many rows.
template <class T, class F>
void with_patch_pieces(const loops::ConvGeometry& g, std::int64_t rows, const T* x, const T* patches,
                       const F& f) {
  constexpr int per = piece_bytes / static_cast<int>(sizeof(T));
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(patches)) % piece_bytes == 0;
  if (loops::ConvGeometry pieces = g; aligned && g.c / g.groups % per == 0) {
    pieces.c /= per;
    if (is_narrow_conv(pieces, rows))
      return f(ConvLoopOf<std::int32_t>(pieces), std::integral_constant<int, per>());
  }
  if (is_narrow_conv(g, rows)) return f(ConvLoopOf<std::int32_t>(g), std::integral_constant<int, 1>());
  f(ConvLoop(g), std::integral_constant<int, 1>());
}

template <class T>
void launch_gather_patches(Device device, const loops::ConvGeometry& g, std::int64_t first,
                           std::int64_t count, const T* x, T* patches) {
  with_patch_pieces(
      g, count, x, patches,
      [&]<class Index, int per>(const ConvLoopOf<Index>& s, std::integral_constant<int, per>) {
        using Unit = Piece<per* static_cast<int>(sizeof(T))>;
        constexpr std::int64_t enough_threads = std::int64_t{1} << 19, rows_each = 4;
        const std::int64_t row_size = std::int64_t{s.groups} * s.width,
                           step = count * row_size < enough_threads * rows_each
                                      ? count
                                      : (count + rows_each - 1) / rows_each;
        launch(device, step * row_size,
               GatherPatches<Unit, Index>{s, static_cast<Index>(first), static_cast<Index>(count),
                                          static_cast<Index>(step), reinterpret_cast<const Unit*>(x),
                                          reinterpret_cast<Unit*>(patches)});
      });
}

template <class T>
void launch_sum_patches(Device device, const loops::ConvGeometry& g, std::int64_t first, std::int64_t count,
                        const T* patches, T* x) {
  with_patch_pieces(
      g, count, x, const_cast<T*>(patches),
      [&]<class Index, int per>(const ConvLoopOf<Index>& s, std::integral_constant<int, per>) {
        using Sum = SumPatches<T, per, Index>;
        const std::int64_t image = first / s.image_rows,
                           images = (first + count - 1) / s.image_rows - image + 1,
                           size = std::int64_t{s.places} * s.c;
        launch(device, images * size,
               Sum{s, static_cast<Index>(first), static_cast<Index>(count), static_cast<Index>(image * size),
                   reinterpret_cast<const typename Sum::Unit*>(patches),
                   reinterpret_cast<typename Sum::Unit*>(x)});
      });
}

}  // namespace cuda
NAX_END
