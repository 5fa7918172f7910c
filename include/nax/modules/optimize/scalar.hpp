#pragma once

#include "nax/modules/optimize/implicit.hpp"
#include "nax/modules/optimize/problem.hpp"
#include "nax/modules/optimize/root_core.hpp"
#include "nax/transform/grad.hpp"

// Roots of functions of one number, by SciPy's names.
NAX_BEGIN
namespace optimize {

struct BracketOptions {
  double xtol = 2e-12, rtol = 8.881784197001252e-16;
  std::int64_t max_steps = 100;
  Arguments args = {};
};
struct NewtonOptions {
  double tol = 1.48e-8, rtol = 0;
  std::int64_t max_steps = 50;
  Arguments args = {};
};

namespace detail {

// A user's function of one number. One whose parameter is a number gets and gives numbers; any other one gets
// a 0-d array of double, and its root is one, differentiable.
template <class F>
class OfNumber {
 public:
  using P = nax::detail::parameter_t<F, 0>;
  static constexpr bool plain = Scalar<P>;

  OfNumber(const char* function, const F& f, const Arguments& args)
      : function_(function), f_(f), args_(args) {}

  Array<double> array(const Array<double>& x) const requires(!plain) {
    const Array<double> y =
        nax::detail::to_arrays(call_function<double>(function_, f_, x, args_)).template astype<double>();
    if (y.size() != 1)
      raise<ShapeError>({function_, ": the function must return one number, not shape ", y.shape()});
    return y.reshape(Shape{});
  }
  double operator()(double x) const {
    if constexpr (plain)
      return static_cast<double>(call_function<double>(function_, f_, static_cast<P>(x), args_));
    else
      return values_of(array(Array<double>(x)))[0];
  }
  // The root that `find` finds.
  template <class Find>
  auto root(const Find& find) const {
    const double x = [&] {
      const nax::detail::RecordOn off(nullptr);
      return find();
    }();
    if constexpr (plain) {
      return x;
    } else {
      const auto g = [this](const Array<double>& at) { return array(at.reshape(Shape{})).reshape(Shape{1}); };
      // (The front end of CUDA 13.0 fails on {x}.)
      return with_derivatives(vector_of<double>(std::vector<double>(1, x)), g).reshape(Shape{});
    }
  }

 private:
  const char* function_;
  const F& f_;
  const Arguments& args_;
};

}  // namespace detail

// A root of f between a and b, where f has different signs (Brent's method). f takes and returns a number, or
// a 0-d array of double: then the result is one, differentiable in `args` and in what f captured. Throws
// ValueError for equal signs, where f is NaN, and after max_steps.
template <class F>
auto brentq(const F& f, double a, double b, const BracketOptions& o = {}) {
  const detail::OfNumber<F> g("brentq", f, o.args);
  return g.root([&] { return detail::brentq(g, a, b, o.xtol, o.rtol, o.max_steps); });
}

// A root of f between a and b by halving. The result is as brentq's, and so is what it throws.
template <class F>
auto bisect(const F& f, double a, double b, const BracketOptions& o = {}) {
  const detail::OfNumber<F> g("bisect", f, o.args);
  return g.root([&] { return detail::bisect(g, a, b, o.xtol, o.rtol, o.max_steps); });
}

// A root of f near x0: by Newton's steps where f takes a 0-d array, whose derivative is that of forward mode,
// by secants where f takes a number. The result is as brentq's. Throws ValueError where the derivative or the
// secant is flat, where f is NaN, and after max_steps.
template <class F>
auto newton(const F& f, double x0, const NewtonOptions& o = {}) {
  using Function = detail::OfNumber<F>;
  const Function g("newton", f, o.args);
  return g.root([&] {
    if constexpr (Function::plain) {
      return detail::secant(g, x0, o.tol, o.rtol, o.max_steps);
    } else {
      const auto both = [&](double x, double& slope) {
        const auto of = [&](const Array<double>& at) { return g.array(at); };
        const auto [value, tangent] = jvp(of, std::tuple{Array<double>(x)}, std::tuple{Array<double>(1.)});
        slope = detail::values_of(tangent)[0];
        return detail::values_of(value)[0];
      };
      return detail::newton(both, x0, o.tol, o.rtol, o.max_steps);
    }
  });
}

}  // namespace optimize
NAX_END
