#pragma once

#include "nax/core/array_base.hpp"

namespace nax::detail {

// A cotangent of no axes as sweeps of scalars hand it on: no buffer, no handle. It lies on the host.
struct Number {
  DType dtype = DType::float32;
  union {
    float single;
    double wide;
  };

  static constexpr bool holds(DType type) { return type == DType::float32 || type == DType::float64; }
  Number() : wide(0) {}
  explicit Number(DType type) : dtype(type), wide(0) {}
  Number(DType type, const void* value) : dtype(type) {
    if (type == DType::float32)
      single = *static_cast<const float*>(value);
    else
      wide = *static_cast<const double*>(value);
  }

  void* data() { return &single; }
  const void* data() const { return &single; }
  void add(const Number& other) {
    if (dtype == DType::float32)
      single += other.single;
    else
      wide += other.wide;
  }
  [[gnu::noinline]] ArrayBase array() const {
    ArrayBase a = allocate(dtype, Frame(), on_accelerator(current_device) ? Device{} : current_device);
    if (dtype == DType::float32)
      *reinterpret_cast<float*>(raw_data(a)) = single;
    else
      *reinterpret_cast<double*>(raw_data(a)) = wide;
    return a;
  }
};

}  // namespace nax::detail
