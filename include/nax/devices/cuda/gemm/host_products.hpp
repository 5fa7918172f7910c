#pragma once

#include "nax/backend/cpu/gemm/gemm.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/loops/linear.hpp"
#include "nax/loops/product.hpp"
#include "nax/rules/activations.hpp"

// Products of floating matrices where the host runs the kernels, by the CPU's GEMM: in place of blas.hpp.
NAX_BEGIN
namespace cuda {

using loops::Matrix;

template <class F>
void with_floating(DType dtype, const F& f) {
  if (dtype == DType::float64)
    f(std::type_identity<double>());
  else if (dtype == DType::float32)
    f(std::type_identity<float>());
  else if (dtype == DType::float16)
    f(std::type_identity<half>());
  else
    f(std::type_identity<bfloat16>());
}

inline void launch_float_matmul(Device device, DType dtype, std::int64_t batch, std::int64_t m,
                                std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
                                const Matrix& c, bool accumulate) {
  const auto multiply = [&]<class T>(std::type_identity<T>) {
    launch(device, 1, [=](std::int64_t) {
      cpu::gemm_batched<T>(batch, m, n, k, reinterpret_cast<const T*>(a.data), a.batch, a.row, a.column,
                           reinterpret_cast<const T*>(b.data), b.batch, b.row, b.column,
                           reinterpret_cast<T*>(c.data), c.batch, c.row, c.column, accumulate);
    });
  };
  if (dtype == DType::complex64)
    multiply(std::type_identity<std::complex<float>>());
  else if (dtype == DType::complex128)
    multiply(std::type_identity<std::complex<double>>());
  else
    with_floating(dtype, multiply);
}

template <class T>
void multiply_on_host(const loops::Product& p, const char* a, const char* b, char* c) {
  cpu::gemm_batched<T>(1, p.m, p.n, p.k, reinterpret_cast<const T*>(a), 0, p.a_row, p.a_column,
                       reinterpret_cast<const T*>(b), 0, p.b_row, p.b_column, reinterpret_cast<T*>(c), 0,
                       p.c_row, p.c_column, false);
}

template <class T>
struct LinearOnHost {
  loops::Product p;
  loops::Linear f;

  void operator()(std::int64_t) const {
    multiply_on_host<T>(p, f.a, f.b, f.c);
    const auto at = [](const char* x, std::int64_t i) {
      return static_cast<detail::lane_t<T>>(reinterpret_cast<const T*>(x)[i]);
    };
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        const std::int64_t to = i * p.c_row + j * p.c_column;
        auto x = at(f.c, to) + at(f.bias, j);
        if (f.added) x += at(f.added, to);
        if (f.before) reinterpret_cast<T*>(f.before)[to] = static_cast<T>(x);
        reinterpret_cast<T*>(f.c)[to] = static_cast<T>(activated(x));
      }
  }

 private:
  template <class V>
  V activated(V x) const {
    switch (f.activation) {
      case loops::Activation::identity:
        break;
      case loops::Activation::relu:
        return rules::relu::value(x);
      case loops::Activation::gelu:
        return rules::gelu_tanh::value(x);
      case loops::Activation::gelu_exact:
        return rules::gelu::value(x);
    }
    return x;
  }
};

template <class T>
struct ProductAndSumsOnHost {
  loops::Product p;
  const char *a, *b;
  char *c, *sums;

  void operator()(std::int64_t) const {
    multiply_on_host<T>(p, a, b, c);
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < p.k; ++i)
        sum += static_cast<double>(reinterpret_cast<const T*>(b)[i * p.b_row + j * p.b_column]);
      reinterpret_cast<T*>(sums)[j] = static_cast<T>(sum);
    }
  }
};

// As those of blas.hpp.
inline bool has_epilogues(DType dtype) { return !is_complex(dtype); }
inline bool has_linear(Device, DType, const loops::Product&, const loops::Linear&) { return true; }
inline bool has_product_and_sums(Device, DType, const loops::Product&, const char*, const char*, char*,
                                 char*) {
  return true;
}
inline void launch_linear(Device device, DType dtype, const loops::Product& p, const loops::Linear& linear) {
  with_floating(dtype, [&]<class T>(std::type_identity<T>) {
    launch(device, 1, LinearOnHost<T>{p, linear});
  });
}
inline void launch_product_and_sums(Device device, DType dtype, const loops::Product& p, const char* a,
                                    const char* b, char* c, char* sums) {
  with_floating(dtype, [&]<class T>(std::type_identity<T>) {
    launch(device, 1, ProductAndSumsOnHost<T>{p, a, b, c, sums});
  });
}

}  // namespace cuda
NAX_END
