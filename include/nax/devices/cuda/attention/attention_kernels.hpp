#pragma once

#include <algorithm>

#include "nax/core/dtype.hpp"
#include "nax/devices/cuda/attention/attention_float.hpp"
#include "nax/devices/cuda/attention/attention_gradient.hpp"
#include "nax/devices/cuda/attention/attention_gradient_float.hpp"
#include "nax/devices/cuda/attention/attention_half.hpp"
#include "nax/devices/cuda/device/scratch.hpp"

// Attention in one launch.
NAX_BEGIN
namespace cuda {

template <class T>
bool is_row_of_pieces(const loops::AttentionRows& x) {
  const auto steps = static_cast<std::uintptr_t>(x.batch | x.row | x.head) * sizeof(T);
  return (reinterpret_cast<std::uintptr_t>(x.data) | steps) % piece_bytes == 0;
}
template <class T>
bool is_in_pieces(const loops::Attention& f) {
  return is_row_of_pieces<T>(f.q) && is_row_of_pieces<T>(f.k) && is_row_of_pieces<T>(f.v) &&
         static_cast<std::uintptr_t>(f.width) * sizeof(T) % piece_bytes == 0;
}
// Are there no more queries and keys than kernels count, in rows that are no wider?
inline bool is_in_reach(const loops::Attention& f) {
  return f.width <= 128 && f.queries <= most_places && f.keys <= most_places;
}
// The window as one of as many keys as kernels count.
inline void narrow_window(loops::Attention& f) {
  f.left = std::clamp(f.left, -most_places, most_places);
  f.right = std::clamp(f.right, -most_places, most_places);
}

template <class T, int rows, class Body>
void launch_attention_of(Device device, const loops::Attention& f, Body body) {
  body.f = f;
  body.parts = (f.queries + rows - 1) / rows;
  body.scale = static_cast<float>(f.scale) * body.unit;
  body.in_pieces = is_in_pieces<T>(f);
  launch_blocks(device, f.batch * f.heads * body.parts, body);
}

// Is it of architecture 8.0 or later, with products of bfloat16, and 99 KB of shared memory for a block?
#if defined(__CUDACC__)
inline bool is_of_8_0(Device device) {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, card_of(device)),
        "cudaDeviceGetAttribute");
  return major >= 8;
}
#else
inline bool is_of_8_0(Device) { return true; }
#endif

inline bool has_attention(Device device, DType dtype, const loops::Attention& f) {
  if (!is_in_reach(f) || (f.width > 64 && !is_of_8_0(device))) return false;
  return dtype == DType::float32 ||
         ((dtype == DType::float16 || dtype == DType::bfloat16) && is_of_8_0(device));
}
// Of operands for which there is a kernel.
inline void launch_attention(Device device, DType dtype, loops::Attention f) {
  narrow_window(f);
  const auto run = [&]<int width>(std::integral_constant<int, width>) {
    if (dtype == DType::float32)
      launch_attention_of<float, 64>(device, f, AttendFloat<width>{});
    else if (dtype == DType::float16)
      launch_attention_of<half, 128>(device, f, AttendHalf<half, width>{});
    else
      launch_attention_of<bfloat16, 128>(device, f, AttendHalf<bfloat16, width>{});
  };
  f.width <= 64 ? run(std::integral_constant<int, 64>()) : run(std::integral_constant<int, 128>());
}

template <class T, int rows, class OfQueries, class OfKeys>
void launch_attention_gradient_of(Device device, const loops::AttentionGradient& x, OfQueries of_queries,
                                  OfKeys of_keys) {
  const loops::Attention& f = x.attention;
  const Scratch along(device, static_cast<std::size_t>(f.batch * f.heads * f.queries) * sizeof(float));
  const auto fill = [&](auto& body) {
    body.f = f;
    body.scale = static_cast<float>(f.scale) * body.unit;
    body.in_pieces = is_in_pieces<T>(f) && is_row_of_pieces<T>(x.g);
    body.g = x.g;
    body.along = reinterpret_cast<float*>(along.data());
  };
  fill(of_queries);
  of_queries.dq = x.dq;
  of_queries.parts = (f.queries + rows - 1) / rows;
  launch_blocks(device, f.batch * f.heads * of_queries.parts, of_queries);
  fill(of_keys);
  of_keys.dk = x.dk, of_keys.dv = x.dv;
  of_keys.parts = (f.keys + rows - 1) / rows;
  launch_blocks(device, f.batch * f.groups * of_keys.parts, of_keys);
}

inline bool has_attention_gradient(Device device, DType dtype, const loops::Attention& f) {
  return is_of_8_0(device) && has_attention(device, dtype, f);
}
inline void launch_attention_gradient(Device device, DType dtype, loops::AttentionGradient x) {
  narrow_window(x.attention);
  const auto run = [&]<int width>(std::integral_constant<int, width>) {
    const auto of_half = [&]<class T>(std::type_identity<T>) {
      launch_attention_gradient_of<T, 128>(device, x, QueryGradients<T, width>{}, KeyGradients<T, width>{});
    };
    if (dtype == DType::float16)
      of_half(std::type_identity<half>());
    else if (dtype == DType::bfloat16)
      of_half(std::type_identity<bfloat16>());
    else
      launch_attention_gradient_of<float, 64>(device, x, FloatQueryGradients<width>{},
                                              FloatKeyGradients<width>{});
  };
  x.attention.width <= 64 ? run(std::integral_constant<int, 64>()) : run(std::integral_constant<int, 128>());
}

}  // namespace cuda
NAX_END
