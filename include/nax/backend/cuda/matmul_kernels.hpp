#pragma once

#include "nax/backend/cuda/elements.hpp"
#include "nax/backend/cuda/launch.hpp"
#include "nax/loops/linear.hpp"
#include "nax/loops/product.hpp"

#if defined(__CUDACC__) || defined(NAX_CUDA_BLAS)  // tests define the latter
#include "nax/backend/cuda/blas.hpp"
#else
#include "nax/backend/cuda/host_products.hpp"
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
inline void launch_contract(Device device, DType dtype, const loops::Product& p,
                            SmallVector<loops::BatchAxis, 4> axes, const char* a, const char* b, char* c,
                            bool accumulate) {
  if (axes.size() > 1) {
    std::size_t longest = axes.size() - 1;
    for (std::size_t i = axes.size(); i-- > 0;)
      if (!axes[i].summed && (axes[longest].summed || axes[i].extent > axes[longest].extent)) longest = i;
    std::swap(axes[longest], axes.back());
  }
  launch_products(device, dtype, p, axes.begin(), axes.size(), const_cast<char*>(a), const_cast<char*>(b), c,
                  accumulate);
}

}  // namespace cuda
NAX_END
