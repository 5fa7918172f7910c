#pragma once

#include <cmath>
#include <numbers>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/sequences/differences.hpp"

// Angles without their jumps; differences of the flattened array.
NAX_BEGIN

struct UnwrapOptions {
  std::optional<double> discont = {};  // half the period when not given, and never less
  std::int64_t axis = -1;
  double period = 2 * std::numbers::pi;
};

namespace detail {

template <ArrayLike P>
auto unwrapped(const P& p_, const UnwrapOptions& options) {
  using T = inexact_t<typename P::value_type>;
  static_assert(!is_complex_v<T>, "unwrap: complex numbers have no order");
  const Array<T> p = as_type<T>(p_);
  check_operand("unwrap", p);
  if (p.ndim() == 0) raise<ShapeError>({"unwrap: the array must be at least 1-d"});
  if (!(options.period > 0)) raise<ValueError>({"unwrap: the period must be positive, got ", options.period});
  const int axis = normalize_axis("unwrap", options.axis, p.ndim());
  if (p.shape(axis) == 0) return p;
  // The jumps are whole multiples of the period: constants.
  const auto [before, after] = neighbours(typed<T>(constant(p)), axis);
  const double half = options.period / 2, discont = options.discont.value_or(half);
  const Array<T> step = after - before;
  const Array<T> wrapped = remainder(step + half, options.period) - half;
  // A step of half the period upwards stays one upwards.
  const Array<T> into = where((wrapped == -half) & (step > T(0.f)), half, wrapped);
  const Array<T> jump = where(abs(step) < discont, T(0.f), into - step);
  const Array<T> shifted = stretch_of_axis<T>(p, axis, 1, p.shape(axis) - 1) + cumsum(jump, {.axis = axis});
  return concatenate_on("unwrap", std::vector{stretch_of_axis<T>(p, axis, 0, 1), shifted}, axis);
}

// (An object, as detail has a function of this name that would be found as well.)
struct Unwrap {
  using Options = UnwrapOptions;
  template <ArrayLike P>
  auto operator()(const P& p, const Options& options = {}) const {
    return unwrapped(p, options);
  }
};

}  // namespace detail

// p with multiples of the period added along an axis, so that no step is longer than half of it (steps
// shorter than `discont` stay). Integers become float. The derivative is 1. The result has the shape of p.
// Throws ShapeError for a 0-d array, ValueError for a period that is not positive.
inline constexpr detail::Unwrap unwrap{};

template <class T>
struct Ediff1dOptions {
  std::optional<Array<T>> to_end = {}, to_begin = {};
};
// The differences of neighbours in the flattened array, with what comes before and behind them. The result
// has shape (n - 1,) for n elements, longer by what is given. Throws ValueError for a moved-from array.
template <detail::ArrayLike X>
auto ediff1d(const X& x_, const Ediff1dOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::materialise(x_);
  detail::check_operand("ediff1d", x);
  const auto flat = [](const Array<T>& a) { return detail::reshape_to("ediff1d", a, Shape{a.size()}); };
  std::vector<Array<T>> parts;
  if (options.to_begin) parts.push_back(flat(*options.to_begin));
  parts.push_back(diff(flat(x)));
  if (options.to_end) parts.push_back(flat(*options.to_end));
  return parts.size() == 1 ? parts[0] : detail::concatenate_on("ediff1d", parts, 0);
}

NAX_END
