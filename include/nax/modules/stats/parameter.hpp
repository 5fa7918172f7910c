#pragma once

#include <limits>
#include <optional>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/reductions/reduce.hpp"
#include "nax/numpy/views/views.hpp"

// Shared by all distributions. Their functions take numbers, arrays and expressions that broadcast, of real
// types (integers become float), and return an array. Outside of its support a density is 0; parameters that
// no distribution has give NaN where the formula does. Everything is made of differentiable functions.
NAX_BEGIN
namespace stats {

// The value of `loc` or `scale`: a number, or an array or expression, through which gradients go.
class Parameter {
 public:
  template <Scalar S>
  requires(!is_complex_v<S>) Parameter(S number) : number_(static_cast<double>(number)) {}
  template <detail::ArrayLike X>
  requires(!is_complex_v<typename X::value_type>) Parameter(const X& x)
      : array_(Array<typename X::value_type>(x)),
        as_float_(convert<typename X::value_type, float>),
        as_double_(convert<typename X::value_type, double>) {}

  bool is(double number) const { return !array_ && number_ == number; }
  bool is_number() const { return !array_; }
  double number() const { return number_; }

  // As an array of R. Throws TypeError where that would drop digits.
  template <class R>
  Array<R> as(const char* name) const {
    if (!array_) return Array<R>(static_cast<R>(number_));
    if (array_->dtype() == dtype_of<R>) return detail::typed<R>(*array_);
    const bool wide = array_->dtype() == DType::float64;
    if constexpr (std::is_same_v<R, double>)
      return detail::typed<R>(as_double_(*array_));
    else if constexpr (std::is_same_v<R, float>)
      if (!wide) return detail::typed<R>(as_float_(*array_));
    raise<TypeError>({"stats: ", name, " is of type ", dtype_name(array_->dtype()), ", the operands make ",
                      dtype_name(dtype_of<R>), "; convert one of them"});
  }

 private:
  template <class S, class R>
  static ArrayBase convert(const ArrayBase& x) {
    if constexpr (std::is_same_v<S, R> || (std::is_same_v<S, double> && std::is_same_v<R, float>))
      return x;  // is not called
    else
      return detail::evaluate(detail::make_expr<rules::cast<R>>(detail::typed<S>(x)));
  }

  double number_ = 0;
  std::optional<ArrayBase> array_;
  ArrayBase (*as_float_)(const ArrayBase&) = nullptr;
  ArrayBase (*as_double_)(const ArrayBase&) = nullptr;
};

struct LocScaleOptions {
  Parameter loc = 0;    // what z = 0 stands for: a number, or an array that broadcasts
  Parameter scale = 1;  // what z = 1 stands for, less loc
};
struct LocOptions {
  Parameter loc = 0;  // where counting begins: a number, or an array that broadcasts
};

}  // namespace stats

namespace detail {

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// The element type that operands make; numbers alone make float.
template <class... X>
struct StatsType {
  static auto pick() {
    using S = typename Strong<std::remove_cvref_t<X>...>::type;
    if constexpr (std::is_void_v<S>)
      return std::type_identity<float>{};
    else
      return std::type_identity<inexact_t<S>>{};
  }
  using type = typename decltype(pick())::type;
  static_assert(!is_complex_v<type>, "stats: distributions are of real numbers");
};
template <class... X>
using stats_t = typename StatsType<X...>::type;

template <class R, class X>
Array<R> stats_operand(const X& x) {
  if constexpr (Scalar<X>)
    return Array<R>(static_cast<R>(x));
  else
    return as_type<R>(x);
}

// x less loc.
template <class R, class X>
Array<R> shifted_by(const X& x, const stats::Parameter& loc) {
  if (loc.is(0)) return stats_operand<R>(x);
  return stats_operand<R>(x) - loc.as<R>("loc");
}
// (x - loc) / scale
template <class R, class X>
Array<R> standardised(const X& x, const stats::LocScaleOptions& options) {
  const Array<R> shifted = shifted_by<R>(x, options.loc);
  if (options.scale.is(1)) return shifted;
  return shifted / options.scale.as<R>("scale");
}
// z scale + loc
template <class R>
Array<R> unstandardised(const Array<R>& z, const stats::LocScaleOptions& options) {
  Array<R> x = z;
  if (!options.scale.is(1)) x = z * options.scale.as<R>("scale");
  if (!options.loc.is(0)) x = x + options.loc.as<R>("loc");
  return x;
}
// f((x - loc) / scale), as an array of the operand's type.
template <class X, class F>
auto of_standardised(const X& x, const stats::LocScaleOptions& options, const F& f) {
  using R = stats_t<X>;
  return Array<R>(f(standardised<R>(x, options)));
}
// f(q) scale + loc, as an array of the operand's type: a quantile.
template <class Q, class F>
auto of_quantile(const Q& q, const stats::LocScaleOptions& options, const F& f) {
  using R = stats_t<Q>;
  return unstandardised<R>(f(stats_operand<R>(q)), options);
}
template <class R>
Array<R> log_scale(const stats::LocScaleOptions& options) {
  if (options.scale.is_number()) return Array<R>(static_cast<R>(std::log(options.scale.number())));
  return log(options.scale.as<R>("scale"));
}

}  // namespace detail
NAX_END
