#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "nax/optim/moments.hpp"
#include "nax/optim/scaling.hpp"

// Muon: matrices step along their orthogonalised momentum, other leaves by Adam.
NAX_BEGIN
namespace optim {

struct MuonOptions {
  std::array<double, 3> ns_coeffs = {3.4445, -4.7750, 2.0315};  // of the Newton-Schulz polynomial
  int ns_steps = 5;
  double beta = 0.95, eps = 1e-8, weight_decay = 0;  // of matrices
  bool nesterov = true;
  double adam_b1 = 0.9, adam_b2 = 0.999, adam_eps_root = 0, adam_weight_decay = 0;  // of other leaves
};

template <class P>
struct MuonState {
  Count count;
  P mu, nu;  // nu of a matrix is empty
};

// An orthogonal matrix near x / |x|, by `steps` of the iteration X <- a X + (b A + c A A) X with A = X X^T
// (K. Jordan and others, Muon, 2024). Throws ShapeError unless x is 2-d.
template <class T>
Array<T> orthogonalize_via_newton_schulz(const Array<T>& x_, const std::array<double, 3>& coefficients,
                                         int steps = 5, double eps = 1e-8) {
  if (x_.ndim() != 2)
    raise<ShapeError>({"orthogonalize_via_newton_schulz: x must be a matrix, shape ", x_.shape()});
  const bool tall = x_.shape(0) > x_.shape(1);
  const auto [a, b, c] = coefficients;
  Array<T> x = tall ? Array<T>(transpose(x_)) : x_;
  x = detail::as_type<T>(x / (detail::leaf_norm(x) + eps));
  for (int i = 0; i < steps; ++i) {
    const Array<T> products = matmul(x, transpose(x));
    const Array<T> squared = matmul(products, products);
    x = a * x + Array<T>(matmul(Array<T>(b * products + c * squared), x));
  }
  return tall ? Array<T>(transpose(x)) : x;
}

template <detail::Rate R>
class Muon {
 public:
  Muon(R rate, const MuonOptions& options) : rate_(std::move(rate)), options_(options) {}

  template <class P>
  MuonState<detail::Like<P>> init(const P& params) const {
    return {detail::no_steps(), detail::filled(params, 0),
            detail::map(
                "muon",
                []<class T>(const Array<T>& p) { return p.ndim() == 2 ? nax::zeros<T>({0}) : zeros_like(p); },
                params)};
  }
  template <class G, class S, class P>
  [[nodiscard]] auto update(const G& grads, MuonState<S> state, const P& params) const {
    detail::Like<G> updates = detail::blank("muon", grads);
    const auto rate = detail::rate_at(rate_, state.count);
    state.count = detail::next(state.count);
    tree::detail::for_each(
        "muon",
        [&](const auto& g, const auto& p, auto& m, auto& v, auto& u) {
          if constexpr (detail::trained_v<std::remove_cvref_t<decltype(g)>>) {
            u = g.ndim() == 2 ? of_matrix(g, m, p, state.count) : of_other(g, m, v, p, state.count);
            u = detail::descend(u, rate);
          }
        },
        grads, params, state.mu, state.nu, updates);
    return std::pair{std::move(updates), std::move(state)};
  }

 private:
  template <class T>
  Array<T> momentum(const Array<T>& g, const Array<T>& m, double decay, const Count& steps) const {
    if (!options_.nesterov) return Array<T>(m * detail::debias<T>(decay, steps));
    return Array<T>(decay * (m * detail::debias<T>(decay, detail::next(steps))) +
                    (1 - decay) * (g * detail::debias<T>(decay, steps)));
  }
  template <class T>
  Array<T> of_matrix(const Array<T>& g, Array<T>& m, const Array<T>& p, const Count& count) const {
    const MuonOptions& o = options_;
    m = detail::mix(1 - o.beta, g, o.beta, m);
    const Array<T> x = momentum(g, m, o.beta, count);
    const double wide =
        static_cast<double>(g.shape(1)) / static_cast<double>(std::max<std::int64_t>(g.shape(0), 1));
    const Array<T> direction = orthogonalize_via_newton_schulz(x, o.ns_coeffs, o.ns_steps, o.eps);
    return detail::mix(std::sqrt(std::max(1.0, wide)), direction, o.weight_decay, p);
  }
  template <class T>
  Array<T> of_other(const Array<T>& g, Array<T>& m, Array<T>& v, const Array<T>& p,
                    const Count& count) const {
    const MuonOptions& o = options_;
    m = detail::mix(1 - o.adam_b1, g, o.adam_b1, m);
    v = detail::mix_square(1 - o.adam_b2, g, o.adam_b2, v);
    const Array<T> x = momentum(g, m, o.adam_b1, count);
    const Array<T> direction = x / (sqrt(v * detail::debias<T>(o.adam_b2, count) + o.adam_eps_root) + o.eps);
    return detail::mix(1, direction, o.adam_weight_decay, p);
  }

  R rate_;
  MuonOptions options_;
};

// Momentum made orthogonal for leaves of two axes (inputs, outputs), Adam for all others. `update` throws
// ValueError where the trees of gradients and state differ.
template <detail::Rate R>
Muon<R> muon(R learning_rate, const MuonOptions& options = {}) {
  return {std::move(learning_rate), options};
}

}  // namespace optim
NAX_END
