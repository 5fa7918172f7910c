#pragma once

#include <algorithm>

#include "nax/backend/cuda/attention_float.hpp"
#include "nax/backend/cuda/attention_half.hpp"
#include "nax/core/dtype.hpp"

// Attention in one launch.
NAX_BEGIN
namespace cuda {

template <class T>
bool is_in_pieces(const loops::Attention& f) {
  const auto of = [](const loops::AttentionRows& x) {
    return reinterpret_cast<std::uintptr_t>(x.data) |
           static_cast<std::uintptr_t>(x.batch | x.row | x.head) * sizeof(T);
  };
  return ((of(f.q) | of(f.k) | of(f.v)) | static_cast<std::uintptr_t>(f.width) * sizeof(T)) % piece_bytes ==
         0;
}

template <class T, int rows, class Body>
void launch_attention_of(Device device, const loops::Attention& f, Body body) {
  body.f = f;
  body.parts = (f.queries + rows - 1) / rows;
  body.scale = static_cast<float>(f.scale) * log2_e;
  body.in_pieces = is_in_pieces<T>(f);
  launch_blocks(device, f.batch * f.heads * body.parts, body);
}

#if defined(__CUDACC__)
inline bool multiplies_halves(Device device) {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, card_of(device)),
        "cudaDeviceGetAttribute");
  return major >= 8;
}
#else
inline bool multiplies_halves(Device) { return true; }
#endif

// Returns false, and does nothing, where no kernel does this.
inline bool launch_attention(Device device, DType dtype, loops::Attention f) {
  if (f.width > 128 || f.queries > most_places || f.keys > most_places) return false;
  f.left = std::clamp(f.left, -most_places, most_places),
  f.right = std::clamp(f.right, -most_places, most_places);
  const auto run = [&]<int width>(std::integral_constant<int, width>) {
    if (dtype == DType::float32) {
      launch_attention_of<float, 64>(device, f, AttendFloat<width>{});
      return true;
    }
    if ((dtype != DType::float16 && dtype != DType::bfloat16) || !multiplies_halves(device)) return false;
    if (dtype == DType::float16)
      launch_attention_of<half, 128>(device, f, AttendHalf<half, width>{});
    else
      launch_attention_of<bfloat16, 128>(device, f, AttendHalf<bfloat16, width>{});
    return true;
  };
  return f.width <= 64 ? run(std::integral_constant<int, 64>()) : run(std::integral_constant<int, 128>());
}

}  // namespace cuda
NAX_END
