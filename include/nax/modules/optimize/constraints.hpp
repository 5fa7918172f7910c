#pragma once

#include <any>
#include <functional>
#include <string>
#include <vector>

#include "nax/modules/optimize/constrained_core.hpp"
#include "nax/modules/optimize/problem.hpp"

// Constraints of minimize, the types of their functions forgotten.
NAX_BEGIN
namespace optimize {
namespace detail {

using RealFunction = std::function<Array<double>(const Array<double>&)>;
struct ConstrainedSolution {
  Array<double> x;
  ConstrainedState state;
};
// (A template, so that a program without constraints does not compile it.)
template <class Nothing>
ConstrainedSolution solve_constrained(const RealFunction& f, const RealFunction& constraints,
                                      const ConstrainedProblem& problem, const Vector& x0);

}  // namespace detail

// {"eq", fun}: fun(x, args...) = 0; {"ineq", fun}: fun(x, args...) >= 0, for each element. fun takes x, or x
// and the arguments of the function that is minimised; one with `auto` parameters is for an x that is one
// array.
class Constraint {
 public:
  template <class F>
  Constraint(std::string type, F f)
      : type_(std::move(type)),
        call_([f = std::move(f)](const std::any& x, const Arguments& args) { return call<F>(f, x, args); }),
        solve_(&detail::solve_constrained<std::enable_if_t<sizeof(F) != 0>>) {}

  const std::string& type() const { return type_; }
  // The values at a tree, as a vector.
  Array<double> operator()(const std::any& x, const Arguments& args) const { return call_(x, args); }
  auto solver() const { return solve_; }

 private:
  template <class F>
  static Array<double> call(const F& f, const std::any& x, const Arguments& args) {
    using First = nax::detail::parameter_t<F, 0>;
    constexpr bool any = std::is_same_v<First, nax::detail::Anything>;
    using P = std::conditional_t<any, Array<double>, First>;
    const auto of = [&](const P& at) {
      constexpr bool alone = std::is_invocable_v<const F&, const P&>;
      const auto out = nax::detail::to_arrays(
          detail::call_function<double>("minimize: constraints", f, at, alone ? Arguments() : args));
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(out)>, Array<double>>)
        return out.reshape({out.size()});
      else
        return Array<double>(tree::ravel(out).first.template astype<double>());
    };
    if (const P* same = std::any_cast<P>(&x)) return of(*same);
    if constexpr (any)
      if (const Array<float>* narrow = std::any_cast<Array<float>>(&x)) return of(narrow->astype<double>());
    throw TypeError("minimize: constraints: a function takes another type than that of x0");
  }

  std::string type_;
  std::function<Array<double>(const std::any&, const Arguments&)> call_;
  detail::ConstrainedSolution (*solve_)(const detail::RealFunction&, const detail::RealFunction&,
                                        const detail::ConstrainedProblem&, const detail::Vector&);
};

}  // namespace optimize
NAX_END
