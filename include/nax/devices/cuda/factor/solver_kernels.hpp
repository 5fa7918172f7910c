#pragma once

#include <cmath>
#include <limits>

#include "nax/devices/cuda/launch/complex_parts.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/places/copy_kernels.hpp"
#include "nax/loops/factoring.hpp"
#include "nax/loops/linear_systems.hpp"

// Kernels around cuSOLVER's calls. A number of `parts` reals is a real or a complex one: nvcc's code for the
// operators of std::complex is not used.
NAX_BEGIN
namespace cuda {

// The triangle of row-major matrices: see Factorisation::triangle.
template <class R, int parts>
struct TakeTriangle {
  const R* from;
  R* to;
  std::int64_t m, n;
  bool lower;
  R diagonal;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t column = i % n, row = i / n % m;
    const bool inside = lower ? column <= row : column >= row;
    for (int p = 0; p < parts; ++p) {
      const R x = inside ? from[i * parts + p] : R(0);
      to[i * parts + p] = column == row ? x * diagonal : x;
    }
  }
};

// f(type_identity of the real type, Parts of a number) for a dtype. Throws DeviceError for one that has no
// matrices on a GPU.
template <int count>
struct Parts {};
template <class F>
void with_parts(DType dtype, const F& f) {
  const auto of = [&](auto real) { is_complex(dtype) ? f(real, Parts<2>()) : f(real, Parts<1>()); };
  if (part_type(dtype) == DType::float32) return of(std::type_identity<float>());
  if (part_type(dtype) == DType::float64) return of(std::type_identity<double>());
  raise<DeviceError>({"linalg: no matrices of ", dtype_name(dtype), " on a GPU"});
}

inline void launch_triangle(Device device, const loops::Factoring& what, DType dtype, const char* from,
                            char* to) {
  with_parts(dtype, [&]<class R, int parts>(std::type_identity<R>, Parts<parts>) {
    launch(device, what.batch * what.m * what.n,
           TakeTriangle<R, parts>{reinterpret_cast<const R*>(from), reinterpret_cast<R*>(to), what.m, what.n,
                                  what.lower, static_cast<R>(what.diagonal)});
  });
}

struct OrderOfSwaps {
  std::int64_t k, m;
  const std::int32_t* swaps;
  std::int32_t* rows;
  constexpr void operator()(std::int64_t line) const {
    loops::order_of_swaps(k, m, swaps + line * k, rows + line * m);
  }
};

// Matrices of a batch, and where they lie.
inline loops::StridedMatrices row_major(std::int64_t m, std::int64_t n) { return {n, 1, Dims(1, m * n)}; }
inline loops::StridedMatrices column_major(std::int64_t m, std::int64_t n) { return {1, m, Dims(1, m * n)}; }
inline void copy_matrices(Device device, DType dtype, const Dims& batches, std::int64_t m, std::int64_t n,
                          const void* from, const loops::StridedMatrices& from_layout, void* to,
                          const loops::StridedMatrices& to_layout) {
  Dims shape = batches;
  shape.push_back(m);
  shape.push_back(n);
  const auto operand = [&](const void* data, const loops::StridedMatrices& x) {
    Dims strides = x.batch;
    strides.push_back(x.row);
    strides.push_back(x.column);
    return loops::Operand{static_cast<char*>(const_cast<void*>(data)), strides, dtype, dtype};
  };
  launch_copy(device, shape, operand(from, from_layout), operand(to, to_layout));
}

}  // namespace cuda
NAX_END
