#pragma once

#include "nax/core/array_base.hpp"

namespace nax::detail {

// A cotangent of no axes as sweeps of scalars hand it on: no buffer, no handle. It lies on the host.
struct Number {
  DType dtype;
  union {
    float single;
    double wide;
    std::uint32_t next;  // of one that is free: the next free one
  };

  static constexpr bool holds(DType type) { return type == DType::float32 || type == DType::float64; }
  Number() = default;
  Number(DType type, const void* value) : dtype(type) { set(value); }
  // Not as a block: the value has just been written, alone, and a wider load would wait for it.
  Number(const Number& other) : dtype(other.dtype) { set(other.data()); }
  Number& operator=(const Number& other) {
    dtype = other.dtype;
    set(other.data());
    return *this;
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
    ArrayBase a = allocate(dtype, Frame(), host_device());
    if (dtype == DType::float32)
      *reinterpret_cast<float*>(raw_data(a)) = single;
    else
      *reinterpret_cast<double*>(raw_data(a)) = wide;
    return a;
  }

 private:
  void set(const void* value) {
    if (dtype == DType::float32)
      single = *static_cast<const float*>(value);
    else
      wide = *static_cast<const double*>(value);
  }
};

}  // namespace nax::detail
