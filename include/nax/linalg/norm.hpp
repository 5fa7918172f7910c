#pragma once

#include <limits>
#include <string_view>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/numpy/views/reshape.hpp"

namespace nax::inline NAX_ABI::linalg {

inline constexpr double inf = std::numeric_limits<double>::infinity();

// The value of `ord`: a number, inf or -inf, or "fro".
class NormOrder {
 public:
  NormOrder() = default;
  NormOrder(None) {}
  template <class N>
  requires std::is_arithmetic_v<N> NormOrder(N p) : given_(true), p_(static_cast<double>(p)) {}
  NormOrder(const char* name) : given_(true), frobenius_(true) {
    if (std::string_view(name) != "fro")
      raise<ValueError>({"norm: ord must be a number or 'fro', got '", name, "'"});
  }
  bool given() const { return given_; }
  bool frobenius() const { return frobenius_; }
  double p() const { return p_; }

 private:
  bool given_ = false, frobenius_ = false;
  double p_ = 2;
};

struct NormOptions {
  NormOrder ord = {};
  Axis axis = {};
  bool keepdims = false;
};

// Vector norms over one axis (ord: 2 when not given, inf, -inf, 0 or any p), matrix norms over two (ord:
// "fro" when not given, 1, -1, inf, -inf), and the 2-norm of all elements without ord and axis. Singular
// values (ord 2 and -2 of a matrix) are not among them: a ValueError.
template <detail::ArrayLike X>
auto norm(const X& x_, const NormOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  using R = real_t<T>;
  const Array<T> x = detail::as_type<T>(x_);
  detail::check_reducible("norm", x);
  const Array<R> size = detail::evaluate(detail::make_expr<rules::absolute>(x));
  const double p = options.ord.p();
  const bool keep = options.keepdims;
  const auto root_of_squares = [&](const Axis& axis) -> Array<R> {
    const Array<R> total = [&] {
      if constexpr (is_complex_v<T>)
        return sum(detail::make_expr<rules::square>(size), {.axis = axis, .keepdims = keep});
      else
        return sum(detail::make_expr<rules::square>(x), {.axis = axis, .keepdims = keep});
    }();
    return detail::evaluate(detail::make_expr<rules::sqrt>(total));
  };
  if (!options.ord.given()) return root_of_squares(options.axis);

  Dims axes = detail::normalize_axes("norm", options.axis, x.ndim());
  if (axes.size() == 1) {
    if (options.ord.frobenius()) throw ValueError("norm: ord 'fro' is a matrix norm, the array has one axis");
    const Axis axis(axes[0]);
    if (p == 2) return root_of_squares(axis);
    if (p == inf) return max(size, {.axis = axis, .keepdims = keep});
    if (p == -inf) return min(size, {.axis = axis, .keepdims = keep});
    if (p == 1) return sum(size, {.axis = axis, .keepdims = keep});
    if (p == 0) {
      const Array<bool> there = detail::evaluate(detail::make_expr<rules::not_equal>(size, Array<R>(R(0))));
      return sum(there, {.axis = axis, .keepdims = keep}).template astype<R>();
    }
    const Array<R> power(static_cast<R>(p)), root(static_cast<R>(1 / p));
    const Array<R> total =
        sum(detail::make_expr<rules::power>(size, power), {.axis = axis, .keepdims = keep});
    return detail::evaluate(detail::make_expr<rules::power>(total, root));
  }
  if (axes.size() != 2) raise<ValueError>({"norm: improper number of axes, ", axes.size(), ", for ord"});
  if (options.ord.frobenius())
    return root_of_squares(Axis(std::vector<std::int64_t>(axes.begin(), axes.end())));
  const double order = p < 0 ? -p : p;
  if (order != 1 && order != inf)
    raise<ValueError>(
        {"norm: ord ", p, " is not a matrix norm that is supported: 'fro', 1, -1, inf or -inf"});
  const std::int64_t summed = order == 1 ? axes[0] : axes[1], kept = order == 1 ? axes[1] : axes[0];
  const Array<R> sums = sum(size, {.axis = summed, .keepdims = true});
  const Array<R> extreme =
      p > 0 ? max(sums, {.axis = kept, .keepdims = true}) : min(sums, {.axis = kept, .keepdims = true});
  return keep ? extreme : squeeze(extreme, {.axis = {axes[0], axes[1]}});
}

}  // namespace nax::inline NAX_ABI::linalg
