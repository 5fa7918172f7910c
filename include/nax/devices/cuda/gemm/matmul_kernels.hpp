#pragma once

#include <optional>

#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/places/copy_kernels.hpp"
#include "nax/loops/linear.hpp"
#include "nax/loops/product.hpp"

#if defined(__CUDACC__) || defined(NAX_CUDA_BLAS)  // tests define the latter
#include "nax/devices/cuda/gemm/blas.hpp"
#else
#include "nax/devices/cuda/gemm/host_products.hpp"
#endif

// Matrix products: by cuBLASLt for floating and complex types (where the host runs the kernels by the CPU's
// GEMM), by a plain loop for integers.
NAX_BEGIN
namespace cuda {

using loops::Matrix;

template <class A>
struct IntegerProduct {
  DType dtype;
  std::int64_t m, n, k;
  Matrix a, b, c;
  bool accumulate;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t column = i % n, row = i / n % m, batch = i / n / m;
    const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
    const char* x = a.data + (batch * a.batch + row * a.row) * bytes;
    const char* y = b.data + (batch * b.batch + column * b.column) * bytes;
    char* to = c.data + (batch * c.batch + row * c.row + column * c.column) * bytes;
    std::uint64_t sum = accumulate ? static_cast<std::uint64_t>(load_as<A>(dtype, to)) : 0;
    for (std::int64_t j = 0; j < k; ++j, x += a.column * bytes, y += b.row * bytes)
      sum +=
          static_cast<std::uint64_t>(load_as<A>(dtype, x)) * static_cast<std::uint64_t>(load_as<A>(dtype, y));
    store_as<A>(dtype, to, static_cast<A>(sum));
  }
};

inline void launch_matmul(Device device, DType dtype, std::int64_t batch, std::int64_t m, std::int64_t n,
                          std::int64_t k, const Matrix& a, const Matrix& b, const Matrix& c,
                          bool accumulate) {
  if (detail::is_inexact(dtype))
    return launch_float_matmul(device, dtype, batch, m, n, k, a, b, c, accumulate);
  if (wide_of(dtype) == Wide::i64)
    launch(device, batch * m * n, IntegerProduct<std::int64_t>{dtype, m, n, k, a, b, c, accumulate});
  else
    launch(device, batch * m * n, IntegerProduct<std::uint64_t>{dtype, m, n, k, a, b, c, accumulate});
}

// Products over axes before the matrices'. Batches that do not merge: the last axis that is not summed and is
// longest is one call, the others are loops.
inline void launch_products(Device device, DType dtype, const loops::Product& p, const loops::BatchAxis* axes,
                            std::size_t count, char* a, char* b, char* c, bool accumulate) {
  const loops::BatchAxis x = count == 0 ? loops::BatchAxis{1, 0, 0, 0, false} : axes[0];
  if (count == 0 || (count == 1 && !x.summed))
    return launch_matmul(device, dtype, x.extent, p.m, p.n, p.k, {a, x.a, p.a_row, p.a_column},
                         {b, x.b, p.b_row, p.b_column}, {c, x.c, p.c_row, p.c_column}, accumulate);
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  for (std::int64_t i = 0; i < x.extent; ++i)
    launch_products(device, dtype, p, axes + 1, count - 1, a + i * x.a * bytes, b + i * x.b * bytes,
                    c + i * x.c * bytes, accumulate || (x.summed && i > 0));
}

// The step from one of a batch to the next, where it is one for all of them.
inline std::optional<std::int64_t> batch_step(Dims extents, const Dims& steps) {
  loops::Operand x{nullptr, steps};
  loops::collapse(extents, &x, 1);
  if (extents.size() > 1) return std::nullopt;
  return extents.empty() ? 0 : x.strides[0];
}
// A row-major copy of the matrices of a batch, in `memory`.
inline Matrix copy_batch(Device device, DType dtype, Dims shape, Dims steps, const Matrix& x,
                         std::int64_t rows, std::int64_t columns, std::optional<Scratch>& memory) {
  shape.push_back(rows), shape.push_back(columns);
  steps.push_back(x.row), steps.push_back(x.column);
  Dims own = shape;
  std::int64_t size = 1;
  for (std::size_t axis = shape.size(); axis-- > 0; size *= shape[axis]) own[axis] = size;
  char* const to = memory.emplace(device, static_cast<std::size_t>(size) * dtype_size(dtype)).data();
  launch_copy(device, shape, {x.data, steps, dtype, dtype}, {to, own, dtype, dtype});
  return {to, rows * columns, columns, 1};
}

// Products over several axes, none of them summed, as one call; factors whose batches do not lie in one step
// are copied before. Returns false, and does nothing, where that does not pay: in place of two calls, or
// where an element of a copy meets few others.
inline bool launch_as_one_batch(Device device, DType dtype, const loops::Product& p,
                                const SmallVector<loops::BatchAxis, 4>& axes, char* a, char* b, char* c,
                                bool accumulate) {
  constexpr std::int64_t few = 32;
  Dims extents, steps[3];
  std::int64_t batches = 1, longest = 1;
  for (const loops::BatchAxis& axis : axes) {
    if (axis.summed) return false;
    extents.push_back(axis.extent);
    steps[0].push_back(axis.a), steps[1].push_back(axis.b), steps[2].push_back(axis.c);
    batches *= axis.extent;
    longest = std::max(longest, axis.extent);
  }
  const auto step_a = batch_step(extents, steps[0]), step_b = batch_step(extents, steps[1]),
             step_c = batch_step(extents, steps[2]);
  if (batches <= 2 * longest || !step_c || (!step_a && p.n < few) || (!step_b && p.m < few)) return false;
  std::optional<Scratch> memory_a, memory_b;
  Matrix left{a, step_a.value_or(0), p.a_row, p.a_column}, right{b, step_b.value_or(0), p.b_row, p.b_column};
  if (!step_a) left = copy_batch(device, dtype, extents, steps[0], left, p.m, p.k, memory_a);
  if (!step_b) right = copy_batch(device, dtype, extents, steps[1], right, p.k, p.n, memory_b);
  launch_matmul(device, dtype, batches, p.m, p.n, p.k, left, right, {c, *step_c, p.c_row, p.c_column},
                accumulate);
  return true;
}
inline void launch_contract(Device device, DType dtype, const loops::Product& p,
                            SmallVector<loops::BatchAxis, 4> axes, const char* a, const char* b, char* c,
                            bool accumulate) {
  char *const from_a = const_cast<char*>(a), *const from_b = const_cast<char*>(b);
  if (axes.size() > 1) {
    if (launch_as_one_batch(device, dtype, p, axes, from_a, from_b, c, accumulate)) return;
    std::size_t longest = axes.size() - 1;
    for (std::size_t i = axes.size(); i-- > 0;)
      if (!axes[i].summed && (axes[longest].summed || axes[i].extent > axes[longest].extent)) longest = i;
    std::swap(axes[longest], axes.back());
  }
  launch_products(device, dtype, p, axes.begin(), axes.size(), from_a, from_b, c, accumulate);
}

}  // namespace cuda
NAX_END
