#pragma once

#include <algorithm>
#include <optional>

#include "nax/devices/cuda/conv/conv_direct.hpp"
#include "nax/devices/cuda/conv/conv_patches.hpp"
#include "nax/devices/cuda/conv/convolution_library.hpp"
#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/gemm/matmul_kernels.hpp"
#include "nax/devices/cuda/places/copy_kernels.hpp"
#include "nax/devices/cuda/rows/row_loops.hpp"

// Convolutions: products of matrices, a batch of the groups', by blocks of rows of y whose patches fit into
// bounded memory. Groups of few channels are computed directly. All sums have an order that depends on the
// shapes alone.
NAX_BEGIN
namespace cuda {

inline constexpr std::int64_t most_patch_bytes = std::int64_t{1} << 27;

// Whether x itself is the array of patches.
inline bool is_pointwise(const ConvLoop& s) {
  bool plain = s.window == 1;
  for (int axis = 0; axis < 3; ++axis)
    plain = plain && s.stride[axis] == 1 && s.lhs[axis] == 1 && s.low[axis] == 0 && s.in[axis] == s.out[axis];
  return plain;
}

// Precondition: x, w and y have elements.
template <class T>
void launch_patch_convolve(Device device, loops::ConvPart part, const loops::ConvGeometry& geometry,
                           const T* a, const T* b, T* to, bool accumulate, std::int64_t patch_bytes) {
  const ConvLoop s(geometry);
  const auto matrix = [](const T* data, std::int64_t batch, std::int64_t row, std::int64_t column) {
    return Matrix{reinterpret_cast<char*>(const_cast<T*>(data)), batch, row, column};
  };
  const std::int64_t rows = s.rows(), row_size = s.groups * s.width;
  const std::int64_t row_bytes = row_size * static_cast<std::int64_t>(sizeof(T));
  const bool pointwise = is_pointwise(s);
  const std::int64_t block = pointwise ? rows : std::clamp<std::int64_t>(patch_bytes / row_bytes, 1, rows);
  std::optional<Scratch> room;
  if (!pointwise) room.emplace(device, static_cast<std::size_t>(block * row_bytes));
  T* const patches = room                             ? reinterpret_cast<T*>(room->data())
                     : part == loops::ConvPart::input ? to
                                                      : const_cast<T*>(a);
  constexpr DType dtype = dtype_of<T>;
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first), at_y = first * s.o;
    if (part != loops::ConvPart::input && !pointwise)
      launch_gather_patches(device, geometry, first, count, a, patches);
    switch (part) {
      case loops::ConvPart::forward:
        launch_matmul(device, dtype, s.groups, count, s.outputs, s.width,
                      matrix(patches, s.width, row_size, 1), matrix(b, s.outputs, s.o, 1),
                      matrix(to + at_y, s.outputs, s.o, 1), false);
        break;
      case loops::ConvPart::weights:
        launch_matmul(device, dtype, s.groups, s.width, s.outputs, count,
                      matrix(patches, s.width, 1, row_size), matrix(b + at_y, s.outputs, s.o, 1),
                      matrix(to, s.outputs, s.o, 1), accumulate || first > 0);
        break;
      case loops::ConvPart::input:
        launch_matmul(device, dtype, s.groups, count, s.width, s.outputs, matrix(a + at_y, s.outputs, s.o, 1),
                      matrix(b, s.outputs, 1, s.o), matrix(patches, s.width, row_size, 1), false);
        if (!pointwise) launch_sum_patches(device, geometry, first, count, patches, to);
        break;
    }
  }
}

inline void launch_own_convolve(Device device, loops::ConvPart part, const loops::ConvGeometry& geometry,
                                DType dtype, const char* a, const char* b, char* to, bool accumulate,
                                std::int64_t patch_bytes = most_patch_bytes);

// Half types, computed in float32. `to` is converted first where it is added to.
inline void launch_half_convolve(Device device, loops::ConvPart part, const loops::ConvGeometry& geometry,
                                 DType dtype, const char* a, const char* b, char* to, bool accumulate) {
  using enum loops::ConvPart;
  const ConvLoop s(geometry);
  const std::int64_t x = s.n * s.places * s.c, y = s.rows() * s.o, w = s.width * s.o;
  const std::int64_t of_a = part == input ? y : x, of_b = part == weights ? y : w,
                     of_to = part == forward ? y
                             : part == input ? x
                                             : w;
  const auto room = [&](std::int64_t size) {
    return static_cast<std::size_t>(std::max<std::int64_t>(size, 1)) * sizeof(float);
  };
  const Scratch wide_a(device, room(of_a)), wide_b(device, room(of_b)), wide_to(device, room(of_to));
  const auto convert = [&](std::int64_t size, const char* from, DType from_type, char* at, DType to_type) {
    const Dims shape(1, size), strides(1, 1);
    if (size > 0)
      launch_copy(device, shape, {const_cast<char*>(from), strides, from_type, to_type},
                  {at, strides, to_type, to_type});
  };
  convert(of_a, a, dtype, wide_a.data(), DType::float32);
  convert(of_b, b, dtype, wide_b.data(), DType::float32);
  if (accumulate) convert(of_to, to, dtype, wide_to.data(), DType::float32);
  launch_own_convolve(device, part, geometry, DType::float32, wide_a.data(), wide_b.data(), wide_to.data(),
                      accumulate);
  convert(of_to, wide_to.data(), DType::float32, to, dtype);
}

// By nax's own kernels. Throws DeviceError for a dtype without one: all but floating ones.
inline void launch_own_convolve(Device device, loops::ConvPart part, const loops::ConvGeometry& geometry,
                                DType dtype, const char* a, const char* b, char* to, bool accumulate,
                                std::int64_t patch_bytes) {
  const ConvLoop s(geometry);
  constexpr std::int64_t few_channels = 8;
  const bool direct =
      (s.groups > 1 && s.inputs < few_channels) || s.rows() * s.width * s.o == 0 || s.n * s.places == 0;
  const auto run = [&]<class T>(std::type_identity<T>) {
    const T *left = reinterpret_cast<const T*>(a), *right = reinterpret_cast<const T*>(b);
    if (direct)
      launch_direct_convolve<T>(device, part, geometry, left, right, reinterpret_cast<T*>(to), accumulate);
    else
      launch_patch_convolve<T>(device, part, geometry, left, right, reinterpret_cast<T*>(to), accumulate,
                               patch_bytes);
  };
  if (dtype == DType::float32) return run(std::type_identity<float>());
  if (dtype == DType::float64) return run(std::type_identity<double>());
  if (dtype_kind(dtype) == Kind::floating)
    return launch_half_convolve(device, part, geometry, dtype, a, b, to, accumulate);
  raise<DeviceError>({"conv_general_dilated: ", dtype_name(dtype), " has no kernel on ", device});
}

// By a library if it has a kernel; but a convolution that is one product of matrices needs none.
inline void launch_convolve(Device device, loops::ConvPart part, const loops::ConvGeometry& geometry,
                            DType dtype, const char* a, const char* b, char* to, bool accumulate) {
  if (convolution_library && !is_pointwise(ConvLoop(geometry)) &&
      convolution_library(device, part, geometry, dtype, a, b, to, accumulate))
    return;
  launch_own_convolve(device, part, geometry, dtype, a, b, to, accumulate);
}

}  // namespace cuda
NAX_END
