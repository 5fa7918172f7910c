#include "eigen.hpp"

namespace bench {
namespace {

Work product(Eigen::Index m, Eigen::Index k, Eigen::Index n) {
  const Matrix a = matrix(1, m, k), b = matrix(2, k, n);
  return assigns([=](Matrix& out) { out.noalias() = a * b; });
}

Work batched() {
  constexpr Eigen::Index batch = 64, n = 128;
  const Matrix a = matrix(1, batch * n, n), b = matrix(2, batch * n, n);
  return assigns([=](Matrix& out) {
    out.resize(batch * n, n);
    for (Eigen::Index i = 0; i < batch; ++i)
      out.middleRows(i * n, n).noalias() = a.middleRows(i * n, n) * b.middleRows(i * n, n);
  });
}

Work gradients(Eigen::Index m, Eigen::Index k, Eigen::Index n) {
  struct State {
    Matrix a, b, g, out, da, db;
  };
  const auto s =
      std::make_shared<State>(State{matrix(1, m, k), matrix(2, k, n), matrix(3, m, n), {}, {}, {}});
  const auto step = [=] {
    s->out.noalias() = s->a * s->b;
    s->da.noalias() = s->g * s->b.transpose();
    s->db.noalias() = s->a.transpose() * s->g;
  };
  return work(step, [=] {
    step();
    std::vector<float> all;
    append(all, s->out), append(all, s->da), append(all, s->db);
    return all;
  });
}

Work matvecs() {
  const Matrix a = matrix(1, 64, 64), xs = matrix(2, 512, 64);
  return assigns([=](Matrix& out) { out.noalias() = xs * a.transpose(); });
}

struct Logistic {
  Matrix x = matrix(1, 1024, 32), w = matrix(3, 32, 1);
  Eigen::ArrayXf y = (matrix(2, 1024, 1).array() > 0.f).select(Eigen::ArrayXf::Ones(1024), -1.f);
};

Work logistic_gradient() {
  return assigns([l = Logistic()](Matrix& out) {
    const Eigen::ArrayXf z = (l.x * l.w).array();
    const Eigen::VectorXf slope = -l.y / (1 + (l.y * z).exp()) / 1024.f;
    out.noalias() = l.x.transpose() * slope;
  });
}

Work logistic_hessian() {
  return assigns([l = Logistic()](Matrix& out) {
    const Eigen::ArrayXf z = (l.x * l.w).array(), s = 1 / (1 + (-z).exp());
    const Matrix scaled = l.x.array().colwise() * (s * (1 - s) / 1024.f);
    out.noalias() = l.x.transpose() * scaled;
  });
}

}  // namespace

Rows eigen_product_rows() {
  return {
      {"matmul_128x784x1024", [] { return product(128, 784, 1024); }},
      {"matmul_1024", [] { return product(1024, 1024, 1024); }},
      {"matmul_batched_64x128", batched},
      {"matmul_and_gradients_128x784x1024", [] { return gradients(128, 784, 1024); }},
      {"vmap_matvec_64x64_512", matvecs},
      {"gradient_logistic_1024x32", logistic_gradient},
      {"hessian_logistic_1024x32", logistic_hessian},
  };
}

}  // namespace bench
