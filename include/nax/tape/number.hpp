#pragma once

#include <cstring>

#include "nax/core/transfer.hpp"

NAX_BEGIN
namespace detail {

// An array of no axes on the host, with the value that lies at `value`.
NAX_COMPILED_ONCE ArrayBase array_of_number(DType dtype, const void* value) {
  ArrayBase a = allocate(dtype, Frame(), host_device());
  std::memcpy(raw_data(a), value, dtype_size(dtype));
  return a;
}

// A cotangent of no axes as sweeps of scalars hand it on: no buffer, no handle, but a float or a double that
// lies somewhere on the host, wherever its array would be. (It is read and written in its own width: a wider
// load would wait for the store before it.)
struct Number {
  const void* value;
  DType dtype;

  static constexpr bool holds(DType type) { return type == DType::float32 || type == DType::float64; }
  // Writes the number to `sum`, or adds it to what is there.
  void give(void* sum, bool present) const {
    if (dtype == DType::float32)
      give_as<float>(sum, present);
    else
      give_as<double>(sum, present);
  }
  ArrayBase array(Device device) const { return placed_on(device, array_of_number(dtype, value)); }
  bool is_nan() const { return dtype == DType::float32 ? is_nan_as<float>() : is_nan_as<double>(); }

 private:
  template <class T>
  void give_as(void* sum, bool present) const {
    T* const to = static_cast<T*>(sum);
    const T given = *static_cast<const T*>(value);
    *to = present ? *to + given : given;
  }
  template <class T>
  bool is_nan_as() const {
    const T x = *static_cast<const T*>(value);
    return x != x;
  }
};

}  // namespace detail
NAX_END
