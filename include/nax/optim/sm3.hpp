#pragma once

#include <algorithm>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/optim/transformation.hpp"

NAX_BEGIN
namespace optim {

struct Sm3Options {
  double momentum = 0.9;
};

template <class P>
struct Sm3State {
  P mu;  // the largest sums of squares along each axis, one axis behind the other
  P nu;  // the momentum
};

class Sm3 {
 public:
  Sm3(double rate, const Sm3Options& options) : rate_(rate), options_(options) {}

  template <class P>
  Sm3State<detail::Like<P>> init(const P& params) const {
    auto mu = detail::map(
        "sm3",
        []<class T>(const Array<T>& p) {
          std::int64_t extents = p.ndim() == 0 ? 1 : 0;
          for (const std::int64_t n : p.shape()) extents += n;
          return zeros<T>({extents});
        },
        params);
    return {std::move(mu), detail::filled(params, 0)};
  }
  template <class G, class S, class... P>
  [[nodiscard]] auto update(const G& grads, const Sm3State<S>& state, const P&...) const {
    const double b1 = options_.momentum, eps = 1e-8, rate = rate_;
    const auto sums = detail::map(
        "sm3", [](const auto& g, const auto& mu) { return sum_of_squares(g, mu); }, grads, state.mu);
    Sm3State<S> next;
    next.nu = detail::map(
        "sm3",
        [=]<class T>(const Array<T>& g, const Array<T>& total, const Array<T>& before) {
          const Array<T> direction = g * where(total > T(0), rsqrt(total + eps), T(0));
          return detail::mix(1 - b1, direction, b1, before);
        },
        grads, sums, state.nu);
    next.mu = detail::map(
        "sm3", [](const auto& total) { return largest(total); }, sums);
    auto updates = detail::map(
        "sm3", [rate](const auto& m) { return detail::descend(m, rate); }, next.nu);
    return std::pair{std::move(updates), std::move(next)};
  }

 private:
  // The squares of g, plus the least of the sums that cover an element.
  template <class T>
  static Array<T> sum_of_squares(const Array<T>& g, const Array<T>& mu) {
    if (g.ndim() < 2) return Array<T>(g * g + mu.reshape(g.shape()));
    std::optional<Array<T>> least;
    std::int64_t at = 0;
    for (int axis = 0; axis < g.ndim(); ++axis) {
      const std::int64_t n = g.shape(axis);
      std::vector<std::int64_t> shape(static_cast<std::size_t>(g.ndim()), 1);
      shape[static_cast<std::size_t>(axis)] = n;
      const Array<T> own = mu(slice(at, at + n)).reshape(Shape(shape));
      least = least ? Array<T>(minimum(*least, own)) : own;
      at += n;
    }
    return Array<T>(g * g + *least);
  }
  template <class T>
  static Array<T> largest(const Array<T>& total) {
    if (total.ndim() < 2) return total.reshape({-1});
    std::vector<Array<T>> all;
    for (int axis = 0; axis < total.ndim(); ++axis) {
      std::vector<int> others;
      for (int other = 0; other < total.ndim(); ++other)
        if (other != axis) others.push_back(other);
      all.push_back(max(total, {.axis = Axis(others)}));
    }
    return concatenate(all);
  }
  double rate_;
  Sm3Options options_;
};

// Adagrad in the memory of the axes' extents: an element's sum of squares is the least of those that its
// slices have (Anil and others 2019). `update` throws ValueError where the trees of gradients and state
// differ.
inline Sm3 sm3(double learning_rate, const Sm3Options& options = {}) { return Sm3(learning_rate, options); }

}  // namespace optim
NAX_END
