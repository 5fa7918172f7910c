#pragma once

#include <algorithm>

#include "nax/core/error.hpp"
#include "nax/formula/gradient.hpp"
#include "nax/rules/arithmetic.hpp"
#include "nax/rules/exponential.hpp"
#include "nax/rules/extrema.hpp"
#include "nax/rules/floating.hpp"
#include "nax/rules/hyperbolic.hpp"
#include "nax/rules/power.hpp"
#include "nax/rules/special.hpp"
#include "nax/rules/trigonometric.hpp"

NAX_BEGIN
namespace formula::detail {

template <class T>
struct Shares {
  Symbol<T> of[Step::most_operands];  // -1 where none flows
};

// The rule that an operation is the value of.
// clang-format off
#define NAX_FORMULA_RULES_1(X) \
  X(absolute, absolute) X(sqrt, sqrt) X(exp, exp) X(exp2, exp2) X(expm1, expm1) X(expit, expit) \
  X(log, log) X(log2, log2) X(log10, log10) X(log1p, log1p) X(tanh, tanh) X(sinh, sinh) \
  X(cosh, cosh) X(asinh, arcsinh) X(acosh, arccosh) X(atanh, arctanh) X(sin, sin) X(cos, cos) \
  X(tan, tan) X(atan, arctan) X(asin, arcsin) X(acos, arccos) X(erf, erf) X(erfc, erfc) \
  X(one_minus_square, one_minus_square) X(cbrt, cbrt) X(lgamma, lgamma) X(tgamma, gamma) X(negative, negative)
#define NAX_FORMULA_RULES_2(X) \
  X(add, add) X(subtract, subtract) X(multiply, multiply) X(divide, divide) X(maximum, maximum) \
  X(minimum, minimum) X(copysign, copysign) X(with_sign, copysign) X(atan2, arctan2) X(hypot, hypot) \
  X(pow, power) X(fmod, fmod) X(polygamma, polygamma)
// clang-format on

template <class T>
Shares<T> shares_of(const Step& step, Symbol<T> g, Symbol<T> result) {
  const auto x = [&](int j) { return Symbol<T>::of(step.operand[static_cast<std::size_t>(j)]); };
  const auto truth = Truth<T>::of(step.operand[0]);
  const Symbol<T> zero(0);
  switch (step.operation) {
#define NAX_ONE(operation, rule)                           \
  case Operation::operation: {                             \
    const auto [of_x] = rules::rule::vjp(g, x(0), result); \
    return {{of_x}};                                       \
  }
    NAX_FORMULA_RULES_1(NAX_ONE)
#undef NAX_ONE
#define NAX_ONE(operation, rule)                                       \
  case Operation::operation: {                                         \
    const auto [of_x, of_y] = rules::rule::vjp(g, x(0), x(1), result); \
    return {{of_x, of_y}};                                             \
  }
    NAX_FORMULA_RULES_2(NAX_ONE)
#undef NAX_ONE
    case Operation::floor:
    case Operation::ceil:
    case Operation::trunc:
    case Operation::rint:
    case Operation::nextafter:
      return {};
    case Operation::fma:
      return {{g * x(1), g * x(0), g}};
    case Operation::select:
      return {{Symbol<T>(), select(truth, g, zero), select(truth, zero, g)}};
    case Operation::keep:
      return {{Symbol<T>(), kept(truth, g)}};
    case Operation::unless_ended:  // where it drops NaN, nothing flows
      return {{Symbol<T>(), select((!truth) & isnan(x(1)), zero, g)}};
    case Operation::guarded: {  // the product, but for what it has dropped
      const Truth<T> dropped = (x(0) == zero) & !isfinite(x(1));
      return {{select(dropped, zero, g * x(1)), g * x(0)}};
    }
    default:
      throw ValueError(std::string("formula: ") + facts(step.operation).name + " has no derivative");
  }
}

// Whether shares_of knows its derivative.
constexpr bool has_derivative(Operation operation) {
  switch (operation) {
#define NAX_ONE(operation, rule) case Operation::operation:
    NAX_FORMULA_RULES_1(NAX_ONE)
    NAX_FORMULA_RULES_2(NAX_ONE)
#undef NAX_ONE
    case Operation::input:
    case Operation::constant:
    case Operation::floor:
    case Operation::ceil:
    case Operation::trunc:
    case Operation::rint:
    case Operation::nextafter:
    case Operation::fma:
    case Operation::select:
    case Operation::keep:
    case Operation::unless_ended:
    case Operation::guarded:
      return true;
    default:
      return facts(operation).truth;
  }
}

// Whether a share may be a zero that ends what lies below.
constexpr bool ends_shares(Operation operation) {
  switch (operation) {
    case Operation::select:
    case Operation::keep:
    case Operation::unless_ended:
    case Operation::guarded:
    case Operation::maximum:
    case Operation::minimum:
      return true;
    default:
      return false;
  }
}

// Walks a formula backward. What zeros have made of infinities on the way to a value is dropped where shares
// meet and at the inputs: only NaN are, so that a derivative that passes a zero is still differentiable.
template <class T>
class Pull {
 public:
  explicit Pull(const Formula& f)
      : f_(f), share_(f.steps.size()), ended_(f.steps.size()), carries_(f.steps.size()) {}

  void find_carriers(const std::vector<int>& inputs) {
    for (std::size_t i = 0; i < f_.steps.size(); ++i) {
      const Step& step = f_.steps[i];
      if (step.operation == Operation::input)
        carries_[i] = std::find(inputs.begin(), inputs.end(), static_cast<int>(step.detail)) != inputs.end();
      for (int j = 0; j < step.arity && !step.truth(); ++j)
        if (carries_[static_cast<std::size_t>(step.operand[static_cast<std::size_t>(j)])]) carries_[i] = true;
    }
  }
  void seed(int at, Symbol<T> g) { give(at, g, g == Symbol<T>(0)); }

  void walk() {
    for (std::size_t i = f_.steps.size(); i-- > 0;) {
      const Step step = f_.steps[i];
      if (share_[i].at < 0 || !carries_[i] || step.arity == 0) continue;
      const Shares<T> shares = shares_of<T>(step, share_[i], Symbol<T>::of(static_cast<int>(i)));
      for (int j = 0; j < step.arity; ++j) {
        const Symbol<T> share = shares.of[j];
        if (share.at < 0) continue;
        const Truth<T> ended = ends_shares(step.operation) ? ended_[i] | (share == Symbol<T>(0)) : ended_[i];
        give(step.operand[static_cast<std::size_t>(j)], share, ended);
      }
    }
  }
  Symbol<T> share_of_input(int number) const {
    for (std::size_t i = 0; i < f_.steps.size(); ++i)
      if (f_.steps[i].operation == Operation::input && static_cast<int>(f_.steps[i].detail) == number)
        return share_[i].at < 0 ? Symbol<T>(0) : without_ended(share_[i], ended_[i]);
    return Symbol<T>(0);
  }

 private:
  static Symbol<T> without_ended(Symbol<T> share, Truth<T> ended) {
    return select(ended & (share != share), Symbol<T>(0), share);
  }
  void give(int to, Symbol<T> share, Truth<T> ended) {
    const std::size_t at = static_cast<std::size_t>(to);
    if (!carries_[at]) return;
    if (share_[at].at < 0) {
      share_[at] = share;
      ended_[at] = ended;
      return;
    }
    if (ended_[at].at == ended.at) {  // all of one fate: what is NaN is dropped further down
      share_[at] = share_[at] + share;
      return;
    }
    share_[at] = without_ended(share_[at], ended_[at]) + without_ended(share, ended);
    ended_[at] = ended_[at] & ended;
  }

  const Formula& f_;
  std::vector<Symbol<T>> share_;
  std::vector<Truth<T>> ended_;
  std::vector<char> carries_;
};

// The steps of a formula in this recorder, under its numbers there.
struct Copied {
  Formula steps;
  std::vector<int> results;
};
inline Copied copied(const Formula& given, Recorder& recorder) {
  std::vector<int> made(given.steps.size());
  for (std::size_t i = 0; i < given.steps.size(); ++i) {
    Step step = given.steps[i];
    for (int j = 0; j < step.arity; ++j) {
      int& at = step.operand[static_cast<std::size_t>(j)];
      at = made[static_cast<std::size_t>(at)];
    }
    made[i] = recorder.record_step(step);
  }
  Copied copy{{given.type, given.inputs, {}, {}}, {}};
  for (int i = 0; i < recorder.size(); ++i) copy.steps.steps.push_back(recorder.step(i));
  for (int result : given.results) copy.results.push_back(made[static_cast<std::size_t>(result)]);
  return copy;
}

template <class T>
Formula derived(const Formula& given, const std::vector<int>& inputs, bool valued, bool cotangents) {
  Recorder recorder(given.type);
  const Copied copy = copied(given, recorder);
  const Formula& f = copy.steps;
  Pull<T> pull(f);
  pull.find_carriers(inputs);
  for (std::size_t k = 0; k < given.results.size(); ++k) {
    const int result = copy.results[k];
    if (f.steps[static_cast<std::size_t>(result)].truth()) continue;
    pull.seed(result, cotangents ? Symbol<T>::input(given.inputs + static_cast<int>(k)) : Symbol<T>(1));
  }
  pull.walk();
  std::vector<int> results;
  for (int input : inputs) results.push_back(pull.share_of_input(input).at);
  if (valued) results.insert(results.end(), copy.results.begin(), copy.results.end());
  Formula derivative = recorder.finish(results);
  derivative.inputs = given.inputs + (cotangents ? static_cast<int>(given.results.size()) : 0);
  return derivative;
}

template <class T>
Formula pushed(const Formula& given, const std::vector<int>& inputs) {
  Recorder recorder(given.type);
  const Copied copy = copied(given, recorder);
  std::vector<int> tangents;
  for (int result : copy.results) {
    Pull<T> pull(copy.steps);
    pull.find_carriers(inputs);
    pull.seed(result, Symbol<T>(1));
    pull.walk();
    int tangent = -1;
    for (std::size_t j = 0; j < inputs.size(); ++j)
      if (const int derivative = pull.share_of_input(inputs[j]).at; derivative != recorder.constant(0))
        tangent =
            tangent_sum(recorder, tangent, recorder.input(given.inputs + static_cast<int>(j)), derivative);
    tangents.push_back(tangent < 0 ? recorder.constant(0) : tangent);
  }
  Formula f = recorder.finish(tangents);
  f.inputs = given.inputs + static_cast<int>(inputs.size());
  return f;
}

}  // namespace formula::detail
NAX_END
NAX_BEGIN
namespace formula {

NAX_ENGINE Formula pull_of(const Formula& f, const std::vector<int>& inputs, bool valued) {
  return f.type == DType::float32 ? detail::derived<float>(f, inputs, valued, true)
                                  : detail::derived<double>(f, inputs, valued, true);
}
NAX_ENGINE Formula gradient_of(const Formula& f, const std::vector<int>& inputs, bool valued) {
  if (f.results.size() != 1) throw ValueError("formula: gradient_of takes a formula of one result");
  return f.type == DType::float32 ? detail::derived<float>(f, inputs, valued, false)
                                  : detail::derived<double>(f, inputs, valued, false);
}
NAX_ENGINE bool is_differentiable(const Formula& f) {
  for (const Step& step : f.steps)
    if (!detail::has_derivative(step.operation)) return false;
  return true;
}
NAX_ENGINE Formula push_of(const Formula& f, const std::vector<int>& inputs) {
  return f.type == DType::float32 ? detail::pushed<float>(f, inputs) : detail::pushed<double>(f, inputs);
}
NAX_ENGINE int tangent_sum(Recorder& recorder, int sum, int tangent, int derivative) {
  const auto record = [&](Operation operation, auto... x) {
    return recorder.record(operation, Places{x...});
  };
  const int zero = recorder.constant(0), share = record(Operation::guarded, tangent, derivative);
  // An infinite tangent times zero; only that is dropped, so that a zero in passing has a derivative.
  const int dropped = record(Operation::both, record(Operation::equal, derivative, zero),
                             record(Operation::not_equal, share, share));
  const int term = record(Operation::select, dropped, zero, share);
  return sum < 0 ? term : record(Operation::add, sum, term);
}

}  // namespace formula
NAX_END
