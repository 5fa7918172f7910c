// Backpropagation written out.
#include <cmath>

#include "eigen.hpp"

namespace bench {
namespace {

struct Layer {
  Matrix w, a, dw, dz;  // a: what the layer gives
  Row1 b, db;
};

struct Net {
  std::vector<Layer> layers;
  Matrix x, y;
  bool relu;
  float loss = 0;

  Net(const std::vector<int>& sizes, int batch, bool relu_) : relu(relu_) {
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      const float limit = 1 / std::sqrt(static_cast<float>(sizes[i]));
      const auto seed = static_cast<std::uint32_t>(10 + 2 * i);
      Layer& layer = layers.emplace_back();
      layer.w = matrix(seed, sizes[i], sizes[i + 1], -limit, limit);
      layer.b = matrix(seed + 1, 1, sizes[i + 1], -limit, limit);
    }
    x = matrix(1, batch, sizes.front());
    const auto labels = integers(2, batch, static_cast<std::uint32_t>(sizes.back()));
    y = Matrix::Zero(batch, sizes.back());
    for (int i = 0; i < batch; ++i) y(i, labels[static_cast<std::size_t>(i)]) = 1;
  }

  void step() {
    const Matrix* in = &x;
    for (Layer& l : layers) {
      l.a.noalias() = *in * l.w;
      if (&l == &layers.back())
        l.a.rowwise() += l.b;
      else if (relu)
        l.a = (l.a.rowwise() + l.b).cwiseMax(0.f);
      else
        l.a = (l.a.rowwise() + l.b).array().tanh();
      in = &l.a;
    }
    Layer& last = layers.back();
    last.a.colwise() -= last.a.rowwise().maxCoeff().eval();
    last.dz = last.a.array().exp();
    const Eigen::VectorXf sums = last.dz.rowwise().sum();
    const auto batch = static_cast<float>(x.rows());
    loss = -((last.a.array() * y.array()).sum() - sums.array().log().sum()) / batch;
    last.dz.array().colwise() /= sums.array();
    last.dz = (last.dz - y) / batch;
    for (std::size_t i = layers.size(); i-- > 0;) {
      Layer& l = layers[i];
      l.dw.noalias() = (i ? layers[i - 1].a : x).transpose() * l.dz;
      l.db = l.dz.colwise().sum();
      if (i) {
        Layer& below = layers[i - 1];
        below.dz.noalias() = l.dz * l.w.transpose();
        if (relu)
          below.dz.array() *= (below.a.array() > 0.f).cast<float>();
        else
          below.dz.array() *= 1 - below.a.array().square();
      }
    }
    for (Layer& l : layers) {
      l.w -= 0.01f * l.dw;
      l.b -= 0.01f * l.db;
    }
  }
};

Work train(const std::vector<int>& sizes, int batch, bool relu) {
  const auto net = std::make_shared<Net>(sizes, batch, relu);
  return work([=] { net->step(); },
              [=] {
                Net fresh(sizes, batch, relu);
                for (int i = 0; i < 5; ++i) fresh.step();
                std::vector<float> all;
                for (const Layer& l : fresh.layers) append(all, l.w), append(all, l.b);
                all.push_back(fresh.loss);
                return all;
              });
}

}  // namespace

Rows eigen_step_rows() {
  return {
      {"step_784-1024-1024-10_tanh_128",
       [] {
         return train({784, 1024, 1024, 10}, 128, false);
       }},
      {"step_784-512-512-10_relu_128",
       [] {
         return train({784, 512, 512, 10}, 128, true);
       }},
      {"step_784-128-10_tanh_32",
       [] {
         return train({784, 128, 10}, 32, false);
       }},
      {"step_16-16-4_tanh_8",
       [] {
         return train({16, 16, 4}, 8, false);
       }},
  };
}

}  // namespace bench
