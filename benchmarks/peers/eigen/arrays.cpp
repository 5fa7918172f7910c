#include "eigen.hpp"

namespace bench {
namespace {

constexpr Eigen::Index million = 1 << 20;

template <class F>
Work unary(F f, Eigen::Index rows, Eigen::Index columns, float low = -1, float high = 1) {
  const Matrix x = matrix(1, rows, columns, low, high);
  return assigns([=](Matrix& out) { f(x, out); });
}

Work affine_tanh() {
  const Matrix x = matrix(1, 1, million, -3, 3), a = matrix(2, 1, million);
  return assigns([=](Matrix& out) { out = (x.array() * a.array() + 1).tanh() * a.array(); });
}

Work add() {
  const Matrix x = matrix(1, 1, million), y = matrix(2, 1, million);
  return assigns([=](Matrix& out) { out = x + y; });
}

void softmax(const Matrix& x, Matrix& out) {
  out.resizeLike(x);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    out.row(i) = (x.row(i).array() - x.row(i).maxCoeff()).exp();
    out.row(i) /= out.row(i).sum();
  }
}

void logsumexp(const Matrix& x, Matrix& out) {
  out.resize(x.rows(), 1);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const float m = x.row(i).maxCoeff();
    out(i, 0) = m + std::log((x.row(i).array() - m).exp().sum());
  }
}

Work layer_norm() {
  const Row1 scale = matrix(3, 1, 1000), bias = matrix(4, 1, 1000);
  return unary(
      [=](const Matrix& x, Matrix& out) {
        out.resizeLike(x);
        for (Eigen::Index i = 0; i < x.rows(); ++i) {
          const float mean = x.row(i).mean(), variance = (x.row(i).array() - mean).square().mean();
          out.row(i) =
              (x.row(i).array() - mean) * (1 / std::sqrt(variance + 1e-5f)) * scale.array() + bias.array();
        }
      },
      4096, 1000);
}

}  // namespace

Rows eigen_array_rows() {
  return {
      {"affine_tanh_1m", affine_tanh},
      {"exp_1m",
       [] { return unary([](const Matrix& x, Matrix& out) { out = x.array().exp(); }, 1, million, -3, 3); }},
      {"log_1m",
       [] {
         return unary([](const Matrix& x, Matrix& out) { out = x.array().log(); }, 1, million, .1f, 10);
       }},
      {"sin_1m",
       [] {
         return unary([](const Matrix& x, Matrix& out) { out = x.array().sin(); }, 1, million, -10, 10);
       }},
      {"add_1m", add},
      {"softmax_4096x1000", [] { return unary(softmax, 4096, 1000); }},
      {"logsumexp_4096x1000", [] { return unary(logsumexp, 4096, 1000); }},
      {"layer_norm_4096x1000", layer_norm},
      {"sum_axis0_2048",
       [] { return unary([](const Matrix& x, Matrix& out) { out = x.colwise().sum(); }, 2048, 2048); }},
      {"sum_axis1_2048",
       [] { return unary([](const Matrix& x, Matrix& out) { out = x.rowwise().sum(); }, 2048, 2048); }},
      {"max_axis0_2048",
       [] { return unary([](const Matrix& x, Matrix& out) { out = x.colwise().maxCoeff(); }, 2048, 2048); }},
      {"transpose_copy_2048",
       [] { return unary([](const Matrix& x, Matrix& out) { out = x.transpose(); }, 2048, 2048); }},
  };
}

}  // namespace bench
