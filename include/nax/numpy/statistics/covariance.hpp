#pragma once

#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/sorting/quantile.hpp"

// How variables vary together.
NAX_BEGIN

template <class T>
struct CovOptions {
  std::optional<Array<T>> y = {};   // more variables
  bool rowvar = true;               // are the rows the variables, or the columns?
  bool bias = false;                // divide by the number of observations?
  std::optional<double> ddof = {};  // or by that number less ddof: 0 with .bias, otherwise 1
  Weights fweights = {};            // how often each observation occurs
  Weights aweights = {};            // how much each observation counts
};

template <class T>
struct CorrcoefOptions {
  std::optional<Array<T>> y = {};
  bool rowvar = true;
};

namespace detail {

// Observations as columns, a row a variable.
template <class T>
Array<T> variables(const char* function, const Array<T>& m, bool rowvar) {
  check_operand(function, m);
  if (m.ndim() > 2)
    raise<ValueError>({function, ": the array has more than 2 dimensions, shape ", m.shape()});
  if (m.ndim() < 2) return reshape_to(function, m, Shape{1, m.size()});
  return rowvar ? m : matrix_transpose(m);
}

template <class T>
Array<T> observation_weights(const char* function, const char* name, const Array<double>& w, std::int64_t n) {
  check_operand(function, w);
  if (w.ndim() != 1 || w.shape(0) != n)
    raise<ShapeError>({function, ": ", name, " must be 1-d with a number for each of ", n,
                       " observations, shape ", w.shape()});
  provide_extremes<double>();
  check_weights(function, w);
  return as_type<T>(w);
}

template <class L, class T>
std::optional<Array<L>> optional_as(const std::optional<Array<T>>& y) {
  if (!y) return std::nullopt;
  return as_type<L>(*y);
}

template <class T>
Array<T> covariance(const char* function, const Array<T>& m, const CovOptions<T>& options) {
  Array<T> x = variables(function, m, options.rowvar);
  if (options.y) {
    const Array<T> y = variables(function, *options.y, options.rowvar);
    if (x.shape(1) != y.shape(1))
      raise<ShapeError>(
          {function, ": m and y must have as many observations: ", m.shape(), " and ", options.y->shape()});
    x = concatenate_on(function, std::vector{x, y}, 0);
  }
  const std::int64_t n = x.shape(1);
  const double ddof = options.ddof.value_or(options.bias ? 0 : 1);
  using R = real_t<T>;
  std::optional<Array<R>> weights, of_aweights;
  if (options.fweights.array())
    weights = observation_weights<R>(function, "fweights", *options.fweights.array(), n);
  if (options.aweights.array()) {
    of_aweights = observation_weights<R>(function, "aweights", *options.aweights.array(), n);
    weights = weights ? Array<R>(*weights * *of_aweights) : *of_aweights;
  }
  const auto number = [](double v) { return Array<R>(static_cast<R>(v)); };
  Array<R> count = number(static_cast<double>(n) - ddof);
  Array<T> weighted = x, mean_of = Array<T>();
  if (weights) {
    const Array<R> total = sum(*weights);
    mean_of = sum(x * *weights, {.axis = 1, .keepdims = true}) / total;
    count = !of_aweights ? Array<R>(total - number(ddof))
            : ddof == 0  ? total
                         : Array<R>(total - number(ddof) * sum(*weights * *of_aweights) / total);
  } else {
    mean_of = mean(x, {.axis = 1, .keepdims = true});
  }
  const Array<T> centred = x - mean_of;
  weighted = weights ? Array<T>(centred * *weights) : centred;
  // As NumPy has it: where too few observations are left, nothing is divided by.
  count = maximum(count, number(0));
  const Array<T> transposed = matrix_transpose(Array<T>(conj(centred)));
  Array<T> c = matmul(weighted, transposed);
  if constexpr (is_complex_v<T>)
    c = c * as_type<T>(Array<R>(R(1) / count));  // (complex / 0 would be NaN)
  else
    c = c / count;
  return c.size() == 1 ? reshape_to(function, c, Shape{}) : c;
}

}  // namespace detail

// The covariances of the variables in the rows of m (1-d: one variable), and of y; 0-d for one variable.
// Integers become float. Differentiable with regard to m, y and the weights. The result has shape (n, n) for
// n variables. Throws ValueError for more than two axes and for weights that are negative or not finite,
// ShapeError where observations or weights do not fit.
template <detail::ArrayLike X>
auto cov(const X& m, const CovOptions<inexact_t<typename X::value_type>>& options = {}) {
  using T = inexact_t<typename X::value_type>;
  using L = detail::lane_t<T>;
  const auto& [y, rowvar, bias, ddof, fweights, aweights] = options;
  const CovOptions<L> wide = {detail::optional_as<L>(y), rowvar, bias, ddof, fweights, aweights};
  return detail::as_type<T>(detail::covariance<L>("cov", detail::as_type<L>(detail::as_type<T>(m)), wide));
}

// The correlation coefficients: covariances divided by both deviations, between -1 and 1. NaN for a variable
// that does not vary. The result has shape (n, n) for n variables; it is 0-d for one. Throws ValueError for
// an array of more than two axes, and ShapeError if x and y differ in observations.
template <detail::ArrayLike X>
auto corrcoef(const X& x, const CorrcoefOptions<inexact_t<typename X::value_type>>& options = {}) {
  using T = inexact_t<typename X::value_type>;
  using R = real_t<T>;
  using L = detail::lane_t<T>;
  if constexpr (!std::is_same_v<L, T>) {
    return detail::as_type<T>(
        corrcoef(detail::as_type<L>(x), {.y = detail::optional_as<L>(options.y), .rowvar = options.rowvar}));
  } else {
    const Array<T> c =
        detail::covariance<T>("corrcoef", detail::as_type<T>(x), {.y = options.y, .rowvar = options.rowvar});
    if (c.ndim() == 0) return Array<T>(c / c);
    const Array<R> deviation = sqrt(real(diagonal(c)));
    const Array<T> divisor =
        detail::as_type<T>(Array<R>(expand_dims(deviation, 1) * expand_dims(deviation, 0)));
    const Array<T> r = c / divisor;
    if constexpr (is_complex_v<T>)
      return r;
    else
      return Array<T>(clip(r, R(-1.f), R(1.f)));
  }
}

NAX_END
