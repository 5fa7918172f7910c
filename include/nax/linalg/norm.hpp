#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "nax/core/where_used.hpp"
#include "nax/linalg/solve.hpp"
#include "nax/linalg/svd.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/numpy/views/reshape.hpp"

NAX_BEGIN
namespace linalg {

inline constexpr double inf = std::numeric_limits<double>::infinity();

// The value of `ord`: a number, inf or -inf, "fro" or "nuc".
class NormOrder {
 public:
  NormOrder() = default;
  NormOrder(None) {}
  template <class N>
  requires std::is_arithmetic_v<N> NormOrder(N p) : given_(true), p_(static_cast<double>(p)) {}
  NormOrder(const char* name) : given_(true), name_(name) {
    if (name_ != "fro" && name_ != "nuc")
      raise<ValueError>({"norm: ord must be a number, 'fro' or 'nuc', got '", name, "'"});
  }
  bool given() const { return given_; }
  bool named() const { return !name_.empty(); }
  bool frobenius() const { return name_ == "fro"; }
  bool nuclear() const { return name_ == "nuc"; }
  double p() const { return p_; }

 private:
  bool given_ = false;
  std::string_view name_ = {};
  double p_ = 2;
};

struct NormOptions {
  NormOrder ord = {};
  Axis axis = {};
  bool keepdims = false;
};

}  // namespace linalg
NAX_END

NAX_BEGIN
namespace detail {

// An order as one writes it.
inline std::string order_text(double p) {
  return p == std::trunc(p) && std::abs(p) < 1e9 ? std::to_string(static_cast<std::int64_t>(p))
                                                 : std::to_string(p);
}

// The largest of sizes along some axes: 0 where there are none, as in NumPy.
template <class R>
Array<R> largest_size(const char* function, const Array<R>& sizes, const Axis& axis, bool keep) {
  for (const std::int64_t a : normalize_axes(function, axis, sizes.ndim()))
    if (sizes.shape(static_cast<int>(a)) == 0) return sum(sizes, {.axis = axis, .keepdims = keep});
  return max(sizes, {.axis = axis, .keepdims = keep});
}
// The smallest one; a ValueError where there is none.
template <class R>
Array<R> smallest_size(const char* function, double p, const Array<R>& sizes, const Axis& axis, bool keep) {
  if (sizes.size() > 0) return min(sizes, {.axis = axis, .keepdims = keep});
  for (const std::int64_t a : normalize_axes(function, axis, sizes.ndim()))
    if (sizes.shape(static_cast<int>(a)) == 0)
      raise<ValueError>(
          {function, ": ord ", order_text(p), " is the smallest of no sizes: shape ", sizes.shape()});
  return min(sizes, {.axis = axis, .keepdims = keep});
}

// The root of the sum of the squares. No kink at real elements that are 0.
template <class T>
Array<real_t<T>> root_of_squares(const Array<T>& x, const Axis& axis, bool keep) {
  if constexpr (is_complex_v<T>)
    return root_of_squares(evaluate(make_expr<rules::absolute>(x)), axis, keep);
  else
    return root_of_sum(sum(make_expr<rules::square>(x), {.axis = axis, .keepdims = keep}));
}
// The least size whose square keeps its digits.
template <class R>
double least_squared() {
  using Limits = std::numeric_limits<R>;
  return std::sqrt(static_cast<double>(Limits::min())) / static_cast<double>(Limits::epsilon());
}
// Whether squares of these sizes overflow or lose digits, as high as the values can be read here.
template <class R>
bool leaves_range(const Array<R>& sizes) {
  if (!is_readable(sizes)) return false;
  const ArrayBase all = contiguous(typed<R>(constant(sizes)), transforms_handled);
  const R* const at = elements<const R>(all, transforms_handled);
  const double least = least_squared<R>();
  for (std::int64_t i = 0, n = layout_of(all).size(); i < n; ++i) {
    const auto size = static_cast<double>(at[i]);
    if (!(size < std::numeric_limits<double>::infinity()) || size < least) return true;
  }
  return false;
}

// The p-norm of all elements along some axes. Its derivatives are 0 where it is 0.
template <class T>
Array<real_t<T>> vector_norm_of(const char* function, const Array<T>& x, double p, const Axis& axis,
                                bool keep) {
  using R = real_t<T>;
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (p == 2) {
    const Array<R> plain = root_of_squares(x, axis, keep);
    if (!leaves_range(plain)) return plain;
    // By the largest size, where that is a number whose squares leave the range. Other lines stay as they
    // are.
    const Array<R> sizes = typed<R>(constant(evaluate(make_expr<rules::absolute>(x))));
    const R least = static_cast<R>(least_squared<R>()), terms = static_cast<R>(x.size() / plain.size()),
            high = std::sqrt(std::numeric_limits<R>::max() / terms) / 2;
    const auto scale_of = [&](bool kept) {
      const Array<R> most = largest_size(function, sizes, axis, kept);
      const Array<R> normal = maximum(most, std::numeric_limits<R>::min());  // whose reciprocal is finite
      const auto leaves = ((most > 0) & (most < least)) | ((most > high) & isfinite(most));
      return evaluate(make_selection<rules::where>(leaves, normal, R(1)));
    };
    const Array<R> part = root_of_squares(evaluate(make_expr<rules::divide>(x, scale_of(true))), axis, keep);
    return evaluate(make_expr<rules::multiply>(part, scale_of(keep)));
  }
  const Array<R> size = evaluate(make_expr<rules::absolute>(x));
  if (p == inf) return largest_size(function, size, axis, keep);
  if (p == -inf) return smallest_size(function, p, size, axis, keep);
  if (p == 1) return sum(size, {.axis = axis, .keepdims = keep});
  if (p == 0) {
    const where_used_t<Array<bool>, T> there = evaluate(make_expr<rules::not_equal>(size, Array<R>(R(0))));
    return sum(there, {.axis = axis, .keepdims = keep}).template astype<R>();
  }
  const Array<R> power(static_cast<R>(p));
  const Array<R> total = sum(make_expr<rules::power>(size, power), {.axis = axis, .keepdims = keep});
  if (p < 0) return evaluate(make_expr<rules::power>(total, Array<R>(static_cast<R>(1 / p))));
  return root_of_sum(total, p);
}

// The norm of matrices in the axes `rows` and `columns`.
template <class T>
Array<real_t<T>> matrix_norm_of(const char* function, const Array<T>& x, const linalg::NormOrder& ord,
                                std::int64_t rows, std::int64_t columns, bool keep) {
  using R = real_t<T>;
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (ord.frobenius()) return vector_norm_of(function, x, 2, {rows, columns}, keep);
  const double p = ord.p(), order = p < 0 ? -p : p;
  if (ord.nuclear() || order == 2) {
    const Array<R> s = linalg::svdvals(moveaxis(x, {rows, columns}, {-2, -1}));
    const Array<R> extreme = ord.nuclear() ? Array<R>(sum(s, {.axis = -1}))
                             : p > 0       ? largest_size(function, s, -1, false)
                                           : smallest_size(function, p, s, -1, false);
    if (!keep) return extreme;
    Dims visible = x.shape();
    visible[static_cast<std::size_t>(rows)] = visible[static_cast<std::size_t>(columns)] = 1;
    return restride(extreme, with_visible(layout_of(extreme), visible));
  }
  if (order != 1 && order != inf)
    raise<ValueError>({function, ": ord ", order_text(p),
                       " is no norm of matrices: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"});
  const Array<R> size = evaluate(make_expr<rules::absolute>(x));
  const std::int64_t summed = order == 1 ? rows : columns, kept = order == 1 ? columns : rows;
  const Array<R> sums = sum(size, {.axis = summed, .keepdims = true});
  const Array<R> extreme =
      p > 0 ? largest_size(function, sums, kept, true) : smallest_size(function, p, sums, kept, true);
  return keep ? extreme : squeeze(extreme, {.axis = {rows, columns}});
}

}  // namespace detail
NAX_END

NAX_BEGIN
namespace linalg {

// Vector norms over one axis (ord: 2 when not given, inf, -inf, 0 or any p), matrix norms over two (ord:
// "fro" when not given, "nuc", 1, -1, 2, -2, inf, -inf), and the 2-norm of all elements without ord and axis.
// The result has the shape of x without these axes; keepdims leaves extent 1. Throws ValueError for an
// unknown `ord`, for one that does not fit the number of axes, or for more than two axes with it. Half types
// are computed in float and rounded once. The derivatives of vector norms are 0 where all elements are 0.
// Numbers whose squares leave the range of their type have 2-norms, but for jit, which does not look at them.
template <detail::ArrayLike X>
auto norm(const X& x_, const NormOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  const Array<T> x = detail::as_type<T>(x_);
  detail::check_reducible("norm", x);
  const NormOrder& ord = options.ord;
  const Dims axes = detail::normalize_axes("norm", options.axis, x.ndim());
  if (ord.given() && axes.size() != 1 && axes.size() != 2)
    raise<ValueError>({"norm: improper number of axes, ", axes.size(), ", for ord"});
  if (ord.named() && axes.size() == 1)
    throw ValueError("norm: ord 'fro' and 'nuc' are matrix norms, the array has one axis");
  return detail::in_lanes<real_t<T>>(
      [&](const auto& wide) {
        return ord.given() && axes.size() == 2
                   ? detail::matrix_norm_of("norm", wide, ord, axes[0], axes[1], options.keepdims)
                   : detail::vector_norm_of("norm", wide, ord.p(), options.axis, options.keepdims);
      },
      x);
}

struct MatrixNormOptions {
  bool keepdims = false;
  NormOrder ord = "fro";
};
// The norm of the matrices in the last two axes; ord as above. (..., m, n) gives (...); keepdims leaves (...,
// 1, 1). Throws ShapeError unless the array is at least 2-d, and ValueError for an `ord` that is no matrix
// norm.
template <detail::ArrayLike X>
auto matrix_norm(const X& x_, const MatrixNormOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  const Array<T> x = detail::as_type<T>(x_);
  detail::check_reducible("matrix_norm", x);
  if (x.ndim() < 2) raise<ShapeError>({"matrix_norm: the array must be at least 2-d, shape ", x.shape()});
  const NormOrder ord = options.ord.given() ? options.ord : NormOrder("fro");
  return detail::in_lanes<real_t<T>>(
      [&](const auto& wide) {
        return detail::matrix_norm_of("matrix_norm", wide, ord, x.ndim() - 2, x.ndim() - 1, options.keepdims);
      },
      x);
}

struct VectorNormOptions {
  Axis axis = {};
  bool keepdims = false;
  NormOrder ord = 2;
};
// The norm over one axis, over several as if they were one, or over all; ord is a number, inf or -inf. The
// result has the shape of x without these axes; keepdims leaves extent 1. Throws ValueError for a named
// `ord`, and IndexError if an axis is out of bounds.
template <detail::ArrayLike X>
auto vector_norm(const X& x_, const VectorNormOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  const Array<T> x = detail::as_type<T>(x_);
  detail::check_reducible("vector_norm", x);
  if (options.ord.named()) throw ValueError("vector_norm: ord must be a number");
  return detail::in_lanes<real_t<T>>(
      [&](const auto& wide) {
        return detail::vector_norm_of("vector_norm", wide, options.ord.p(), options.axis, options.keepdims);
      },
      x);
}

// The condition numbers of matrices: the ratio of the largest singular value to the smallest (p: 2 when not
// given; -2: its inverse), or norm(x, p) norm(inv(x), p) of square ones. inf for singular matrices. (..., m,
// n) gives (...). Throws ValueError for empty ones.
template <detail::ArrayLike X>
auto cond(const X& x_, const NormOrder& p = {}) {
  using T = detail::linalg_t<X>;
  using R = real_t<T>;
  const Array<T> x = detail::as_type<T>(x_);
  detail::check_matrices("cond", x);
  if (x.size() == 0) throw ValueError("cond: not defined on empty arrays");
  const auto ratio = [&]() -> Array<R> {
    if (!p.given() || (!p.named() && (p.p() == 2 || p.p() == -2))) {
      const Array<R> s = svdvals(x);
      const Array<R> first = s(ellipsis, 0), last = s(ellipsis, -1);
      return p.p() == -2 ? detail::la::over(last, first) : detail::la::over(first, last);
    }
    detail::check_square("cond", x);
    const int n = x.ndim();
    return detail::la::times(detail::matrix_norm_of("cond", x, p, n - 2, n - 1, false),
                             detail::matrix_norm_of("cond", detail::inverse(x), p, n - 2, n - 1, false));
  };
  const Array<R> r = ratio();
  // A NaN where x has none is 0 / 0, or infinity times 0: a singular matrix.
  using Bools = nax::detail::where_used_t<Array<bool>, T>;
  const Bools holes = any(isnan(nax::detail::typed<T>(detail::constant(x))), {.axis = {-2, -1}});
  const Bools singular = detail::evaluate(isnan(nax::detail::typed<R>(detail::constant(r))) & !holes);
  return Array<R>(where(singular, std::numeric_limits<R>::infinity(), r));
}

}  // namespace linalg
NAX_END
