#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string_view>
#include <utility>

#include "nax/expr/expressions/debug_nans.hpp"
#include "nax/formula/recorder.hpp"
#include "nax/formula/symbol.hpp"
#include "nax/modules/exporting/expressions.hpp"
#include "nax/rules/activations.hpp"
#include "nax/rules/arithmetic.hpp"
#include "nax/rules/comparison.hpp"
#include "nax/rules/exponential.hpp"
#include "nax/rules/extrema.hpp"
#include "nax/rules/floating.hpp"
#include "nax/rules/hyperbolic.hpp"
#include "nax/rules/power.hpp"
#include "nax/rules/rounding.hpp"
#include "nax/rules/special.hpp"
#include "nax/rules/trigonometric.hpp"

NAX_BEGIN
namespace io::detail {

// ---- rules as formulas

template <class Rule, std::size_t... i>
formula::Formula formula_of_rule(std::index_sequence<i...>) {
  formula::Recorder recorder(DType::float64);
  const std::vector<int> results(1, Rule::value(formula::Symbol<double>::input(static_cast<int>(i))...).at);
  return recorder.finish(results);
}
struct WrittenRule {
  const char* name;
  int arity;
  bool of_integers;  // does the formula hold for integers, too?
  formula::Formula (*formula)();
};
template <class Rule, std::size_t arity, bool of_integers = false>
constexpr WrittenRule written_rule() {
  return {Rule::name, static_cast<int>(arity), of_integers,
          [] { return formula_of_rule<Rule>(std::make_index_sequence<arity>()); }};
}
inline const WrittenRule* find_rule(std::string_view name, int arity) {
  static constexpr WrittenRule all[] = {
#define NAX_ONE(rule, ...) written_rule<rules::rule, __VA_ARGS__>(),
      // clang-format off
      NAX_ONE(add, 2, true) NAX_ONE(subtract, 2, true) NAX_ONE(multiply, 2, true)
      NAX_ONE(negative, 1, true) NAX_ONE(square, 1, true) NAX_ONE(absolute, 1, true)
      NAX_ONE(maximum, 2, true) NAX_ONE(minimum, 2, true) NAX_ONE(clip, 3, true) NAX_ONE(equal, 2, true)
      NAX_ONE(not_equal, 2, true) NAX_ONE(less, 2, true) NAX_ONE(less_equal, 2, true)
      NAX_ONE(greater, 2, true) NAX_ONE(greater_equal, 2, true) NAX_ONE(relu, 1, true) NAX_ONE(relu6, 1)
      NAX_ONE(leaky_relu, 2) NAX_ONE(elu, 2) NAX_ONE(celu, 2) NAX_ONE(selu, 1) NAX_ONE(gelu, 1)
      NAX_ONE(gelu_tanh, 1) NAX_ONE(silu, 1) NAX_ONE(softplus, 1) NAX_ONE(soft_sign, 1)
      NAX_ONE(hard_tanh, 1) NAX_ONE(add_scaled, 3) NAX_ONE(divide, 2) NAX_ONE(reciprocal, 1)
      NAX_ONE(fabs, 1) NAX_ONE(sign, 1) NAX_ONE(mod, 2) NAX_ONE(floor_divide, 2) NAX_ONE(fmod, 2)
      NAX_ONE(isclose, 4) NAX_ONE(isfinite, 1) NAX_ONE(isnan, 1) NAX_ONE(isinf, 1) NAX_ONE(exp, 1)
      NAX_ONE(exp2, 1) NAX_ONE(expm1, 1) NAX_ONE(log, 1) NAX_ONE(log2, 1) NAX_ONE(log10, 1)
      NAX_ONE(log1p, 1) NAX_ONE(logaddexp, 2) NAX_ONE(logaddexp2, 2) NAX_ONE(fmax, 2) NAX_ONE(fmin, 2)
      NAX_ONE(signbit, 1) NAX_ONE(copysign, 2) NAX_ONE(heaviside, 2) NAX_ONE(nan_to_num, 4) NAX_ONE(sinh, 1) NAX_ONE(cosh, 1) NAX_ONE(tanh, 1)
      NAX_ONE(arcsinh, 1) NAX_ONE(arccosh, 1) NAX_ONE(arctanh, 1) NAX_ONE(power, 2) NAX_ONE(float_power, 2)
      NAX_ONE(sqrt, 1) NAX_ONE(rsqrt, 1) NAX_ONE(cbrt, 1) NAX_ONE(floor, 1) NAX_ONE(ceil, 1)
      NAX_ONE(trunc, 1) NAX_ONE(rint, 1) NAX_ONE(erf, 1) NAX_ONE(erfc, 1) NAX_ONE(ndtr, 1) NAX_ONE(lgamma, 1)
      NAX_ONE(expit, 1) NAX_ONE(log_expit, 1) NAX_ONE(logit, 1) NAX_ONE(xlogy, 2) NAX_ONE(xlog1py, 2)
      NAX_ONE(entr, 1) NAX_ONE(sin, 1) NAX_ONE(cos, 1) NAX_ONE(tan, 1) NAX_ONE(arcsin, 1)
      NAX_ONE(arccos, 1) NAX_ONE(arctan, 1) NAX_ONE(hypot, 2) NAX_ONE(deg2rad, 1) NAX_ONE(rad2deg, 1)
      NAX_ONE(sinc, 1)
// clang-format on
#undef NAX_ONE
  };
  for (const WrittenRule& rule : all)
    if (rule.name == name && rule.arity == arity) return &rule;
  return nullptr;
}

// ---- formulas as nodes

struct NodeOf {
  formula::Operation operation;
  NodeKind kind;
};
inline constexpr NodeOf simple_nodes[] = {
#define NAX_ONE(name, kind) {formula::Operation::name, NodeKind::kind},
    // clang-format off
    NAX_ONE(add, add) NAX_ONE(subtract, subtract) NAX_ONE(multiply, multiply) NAX_ONE(divide, divide)
    NAX_ONE(negative, negative) NAX_ONE(absolute, absolute) NAX_ONE(sqrt, sqrt) NAX_ONE(floor, floor)
    NAX_ONE(ceil, ceil) NAX_ONE(rint, rint) NAX_ONE(maximum, maximum) NAX_ONE(minimum, minimum)
    NAX_ONE(at_least, maximum) NAX_ONE(at_most, minimum) NAX_ONE(equal, equal) NAX_ONE(less, less)
    NAX_ONE(less_equal, less_equal) NAX_ONE(both, logical_and) NAX_ONE(either, logical_or)
    NAX_ONE(differ, logical_xor) NAX_ONE(opposite, logical_not) NAX_ONE(select, select) NAX_ONE(exp, exp)
    NAX_ONE(expit, expit) NAX_ONE(log, log) NAX_ONE(tanh, tanh) NAX_ONE(sinh, sinh) NAX_ONE(cosh, cosh)
    NAX_ONE(asinh, asinh) NAX_ONE(acosh, acosh) NAX_ONE(atanh, atanh) NAX_ONE(sin, sin) NAX_ONE(cos, cos)
    NAX_ONE(tan, tan) NAX_ONE(atan, atan) NAX_ONE(asin, asin) NAX_ONE(acos, acos) NAX_ONE(erf, erf)
    NAX_ONE(pow, power)
    NAX_ONE(erfc, erfc) NAX_ONE(lgamma, lgamma) NAX_ONE(exp2, exp2) NAX_ONE(expm1, expm1) NAX_ONE(log2, log2) NAX_ONE(log10, log10)
    NAX_ONE(log1p, log1p) NAX_ONE(cbrt, cbrt) NAX_ONE(trunc, trunc) NAX_ONE(sign_bit, signbit)
    NAX_ONE(hypot, hypot) NAX_ONE(fmod, fmod) NAX_ONE(copysign, copysign) NAX_ONE(with_sign, copysign)
// clang-format on
#undef NAX_ONE
};

class FormulaNodes {
 public:
  // Numbers are of `type`.
  FormulaNodes(Graph& graph, DType type, FunctionRef<void(const std::string&)> refuse)
      : graph_(graph), type_(type), refuse_(refuse) {}

  int write(const formula::Formula& f, const std::vector<int>& inputs) {
    std::vector<int> made;
    for (const formula::Step& step : f.steps) {
      std::vector<int> x;
      for (int j = 0; j < step.arity; ++j)
        x.push_back(made[static_cast<std::size_t>(step.operand[static_cast<std::size_t>(j)])]);
      if (step.operation == formula::Operation::input)
        made.push_back(inputs[step.detail]);
      else if (step.operation == formula::Operation::constant)
        made.push_back(number(step.number()));
      else if (step.operation == formula::Operation::known)
        made.push_back(graph_.number(step.detail != 0, DType::boolean));
      else
        made.push_back(node(step, x));
    }
    return made[static_cast<std::size_t>(f.results[0])];
  }
  int number(double x) { return graph_.number(x, type_); }
  int make(NodeKind kind, std::vector<int> x) { return graph_.elementwise(kind, std::move(x), type_); }
  int truth(NodeKind kind, std::vector<int> x) {
    return graph_.elementwise(kind, std::move(x), DType::boolean);
  }
  int opposite(int x) { return truth(NodeKind::logical_not, {x}); }
  // The angle of (x, y), from that of the smaller and the larger coordinate.
  int angle_of(int y, int x) {
    using enum NodeKind;
    const int across = make(absolute, {x}), up = make(absolute, {y});
    const int most = make(maximum, {across, up}), least = make(minimum, {across, up});
    const int quotient = make(select, {truth(equal, {least, most}), number(1), make(divide, {least, most})});
    const int zero = truth(equal, {most, number(0)});
    int angle = make(select, {zero, number(0), make(atan, {quotient})});
    const auto turned = [&](int when, double from) {
      angle = make(select, {when, make(subtract, {number(from), angle}), angle});
    };
    turned(truth(less, {across, up}), std::numbers::pi / 2);
    turned(is_negative(x), std::numbers::pi);
    angle = make(select, {is_negative(y), make(negative, {angle}), angle});
    const int known = truth(logical_and, {truth(equal, {x, x}), truth(equal, {y, y})});
    return make(select, {known, angle, make(add, {x, y})});
  }
  // The quotient of integers, rounded down, or what it leaves of x; 0 where y is 0.
  int floor_divided(int x, int y, bool rest) {
    using enum NodeKind;
    const bool has_sign = dtype_name(type_)[0] != 'u';
    const int zero = number(0), is_zero = truth(equal, {y, zero});
    int safe = make(select, {is_zero, number(1), y}), is_minus_one = -1;
    if (has_sign) {  // the quotient of the least number by -1 is out of range
      is_minus_one = truth(equal, {y, number(-1)});
      safe = make(select, {is_minus_one, number(1), safe});
    }
    int quotient = make(divide, {x, safe});
    int left = make(subtract, {x, make(multiply, {quotient, safe})});
    if (has_sign) {
      const int differ = truth(logical_xor, {truth(less, {left, zero}), truth(less, {safe, zero})});
      const int moves = truth(logical_and, {differ, opposite(truth(equal, {left, zero}))});
      quotient = make(select, {moves, make(subtract, {quotient, number(1)}), quotient});
      left = make(select, {moves, make(add, {left, safe}), left});
      quotient = make(select, {is_minus_one, make(negative, {x}), quotient});
    }
    return make(select, {is_zero, zero, rest ? left : quotient});
  }
  // Powers of integers, which wrap around; the exponent's bits from the lowest on. Negative ones are
  // truncated.
  int integer_power(int x, int n) {
    using enum NodeKind;
    const int one = number(1), two = number(2), zero = number(0);
    int made = one, factor = x, left = n;
    for (int bits = bits_of(n); bits > 0; --bits) {
      const int half = make(divide, {left, two});
      const int is_odd = truth(equal, {make(subtract, {left, make(multiply, {half, two})}), one});
      made = make(select, {is_odd, make(multiply, {made, factor}), made});
      if (bits > 1) factor = make(multiply, {factor, factor}), left = half;
    }
    if (bits_of(n) < all_bits()) return made;  // they are known, and none is negative
    const int half = make(divide, {n, two});
    const int is_even = truth(equal, {make(multiply, {half, two}), n});
    const int of_minus_one = make(select, {is_even, one, number(-1)});
    const int truncated = make(select, {truth(equal, {x, one}), one,
                                        make(select, {truth(equal, {x, number(-1)}), of_minus_one, zero})});
    return make(select, {truth(less, {n, zero}), truncated, made});
  }
  // Shifts of integers of this type, which are held as int32 or int64, by powers of two.
  int shifted(int x, int n, DType of, bool right) {
    using enum NodeKind;
    const bool has_sign = dtype_name(of)[0] != 'u';
    const int bits = static_cast<int>(8 * dtype_size(of));
    std::vector<std::int32_t> powers;
    std::vector<std::int64_t> wide;
    for (int bit = 0; bit < bits; ++bit) {
      wide.push_back(static_cast<std::int64_t>(std::uint64_t{1} << bit));
      powers.push_back(static_cast<std::int32_t>(wide.back()));
    }
    const void* const data = type_ == DType::int64 ? static_cast<const void*>(wide.data())
                                                   : static_cast<const void*>(powers.data());
    const int zero = number(0), last = right && has_sign ? bits - 2 : bits - 1;
    const int beyond = truth(logical_or, {truth(less, {n, zero}), truth(less, {number(last), n})});
    const int place = graph_.cast(make(select, {beyond, zero, n}), DType::int64);
    const int factor = graph_.add({NodeKind::take,
                                   {graph_.own_constant(data, type_, Dims(1, bits)), place},
                                   type_,
                                   Dims(graph_[place].shape)});
    if (!right) return make(select, {beyond, zero, make(multiply, {x, factor})});
    // Of a negative number what its complement has not.
    const int is_less = truth(less, {x, zero}), minus_one = number(-1);
    const int size = make(select, {is_less, make(subtract, {minus_one, x}), x});
    const int left = make(select, {beyond, zero, make(divide, {size, factor})});
    return make(select, {is_less, make(subtract, {minus_one, left}), left});
  }

 private:
  // How many bits numbers of int32 or int64 have at most: those of a constant, or all but the sign.
  int all_bits() const { return static_cast<int>(8 * dtype_size(type_)) - 1; }
  int bits_of(int n) const {
    const Node& node = graph_[n];
    if (node.kind != NodeKind::constant || node.dtype != type_) return all_bits();
    int bits = 0;
    const std::size_t size = dtype_size(type_);
    for (std::int64_t i = 0; i < elements_of(node.shape); ++i) {
      std::uint64_t x = 0;  // on machines whose lowest byte comes first
      std::memcpy(&x, static_cast<const char*>(node.data) + static_cast<std::size_t>(i) * size, size);
      bits = std::max(bits, static_cast<int>(std::bit_width(x)));
    }
    return std::min(bits, all_bits());
  }
  // Also of -0, which divides 1 to -inf.
  int is_negative(int x) {
    return truth(NodeKind::logical_or,
                 {truth(NodeKind::less, {x, number(0)}),
                  truth(NodeKind::less, {make(NodeKind::divide, {number(1), x}), number(0)})});
  }
  // ONNX Runtime has erf of float alone: that of doubles is written out.
  int erf_of(int x) {
    if (graph_.system != System::onnx || type_ != DType::float64) return make(NodeKind::erf, {x});
    return write(formula::lowered(formula_of_rule<rules::erf>(std::make_index_sequence<1>())), {x});
  }
  // Near 0 by (exp(x) + 1) tanh(x / 2), which keeps all digits.
  int expm1_of(int x) {
    using enum NodeKind;
    const int raised = make(exp, {x}), half = make(tanh, {make(multiply, {x, number(0.5)})});
    const int is_small = truth(less, {make(absolute, {x}), number(1)});
    return make(select, {is_small, make(multiply, {make(add, {raised, number(1)}), half}),
                         make(subtract, {raised, number(1)})});
  }
  // By log(u) x / (u - 1) of u = 1 + x as it is rounded.
  int log1p_of(int x) {
    using enum NodeKind;
    const int u = make(add, {x, number(1)}), log_u = make(log, {u}), moved = make(subtract, {u, number(1)});
    const int is_small = truth(less, {make(absolute, {x}), number(0.5)}),
              is_lost = truth(equal, {moved, number(0)});
    const int divisor = make(select, {is_lost, number(1), moved});
    const int corrected = make(select, {is_lost, x, make(multiply, {log_u, make(divide, {x, divisor})})});
    return make(select, {is_small, corrected, log_u});
  }
  // Of the quotient of the smaller and the larger one: squares may overflow.
  int hypot_of(int x, int y) {
    using enum NodeKind;
    const int a = make(absolute, {x}), b = make(absolute, {y}), infinity = number(INFINITY);
    const int most = make(maximum, {a, b}), least = make(minimum, {a, b});
    const int quotient =
        make(divide, {least, make(select, {truth(equal, {most, number(0)}), number(1), most})});
    const int root = make(sqrt, {make(add, {make(multiply, {quotient, quotient}), number(1)})});
    const int is_infinite = truth(logical_or, {truth(equal, {a, infinity}), truth(equal, {b, infinity})});
    return make(select, {is_infinite, infinity, make(multiply, {most, root})});
  }
  int node(const formula::Step& step, const std::vector<int>& x) {
    using enum NodeKind;
    using formula::Operation;
    if (step.operation == Operation::absolute && dtype_name(type_)[0] == 'u') return x[0];
    if (step.operation == Operation::erf) return erf_of(x[0]);
    for (const NodeOf& one : simple_nodes)
      if (one.operation == step.operation && has_function(graph_.system, one.kind))
        return step.truth() ? truth(one.kind, x) : make(one.kind, x);
    const auto is = [&](Operation operation) { return step.operation == operation; };
    if (is(Operation::not_equal)) return opposite(truth(equal, x));
    if (is(Operation::sign_bit)) return is_negative(x[0]);
    if (is(Operation::trunc)) return make(multiply, {make(sign, x), make(floor, {make(absolute, x)})});
    if (is(Operation::copysign) || is(Operation::with_sign)) {
      const int size = make(absolute, {x[0]});
      return make(select, {is_negative(x[1]), make(negative, {size}), size});
    }
    if (is(Operation::fma)) return make(add, {make(multiply, {x[0], x[1]}), x[2]});
    if (is(Operation::fms)) return make(subtract, {make(multiply, {x[0], x[1]}), x[2]});
    if (is(Operation::fnma)) return make(subtract, {x[2], make(multiply, {x[0], x[1]})});
    if (is(Operation::keep) || is(Operation::unless_ended)) return make(select, {x[0], x[1], number(0)});
    if (is(Operation::guarded))
      return make(select, {truth(equal, {x[0], number(0)}), number(0), make(multiply, x)});
    if (is(Operation::exp2)) return make(power, {number(2), x[0]});
    if (is(Operation::expm1)) return expm1_of(x[0]);
    if (is(Operation::log1p)) return log1p_of(x[0]);
    if (is(Operation::log2)) return make(multiply, {make(log, x), number(std::numbers::log2e)});
    if (is(Operation::log10)) return make(multiply, {make(log, x), number(std::numbers::log10e)});
    if (is(Operation::erfc)) return make(subtract, {number(1), erf_of(x[0])});
    if (is(Operation::scale)) return make(multiply, {x[0], make(power, {number(2), x[1]})});
    if (is(Operation::limited)) return make(maximum, {make(minimum, {x[0], number(0.5)}), number(-0.5)});
    if (is(Operation::one_minus_square)) return make(subtract, {number(1), make(multiply, {x[0], x[0]})});
    if (is(Operation::cbrt))
      return make(multiply, {make(sign, x), make(power, {make(absolute, x), number(1. / 3)})});
    if (is(Operation::hypot)) return hypot_of(x[0], x[1]);
    if (is(Operation::remainder)) {
      const int rest = make(fmod, x), zero = number(0);
      const int differ = truth(logical_xor, {truth(less, {rest, zero}), truth(less, {x[1], zero})});
      const int moves = truth(logical_and, {differ, opposite(truth(equal, {rest, zero}))});
      return make(select, {moves, make(add, {rest, x[1]}), rest});
    }
    refuse_(std::string(is(Operation::call) ? step.function().name : formula::facts(step.operation).name) +
            " of " + std::string(dtype_name(type_)));
    return -1;
  }

  Graph& graph_;
  DType type_;
  FunctionRef<void(const std::string&)> refuse_;
};

// ---- expressions

class ExpressionNodes {
 public:
  ExpressionNodes(Graph& graph, const program::StepExpression& e, const std::vector<int>& arrays,
                  FunctionRef<void(const std::string&)> refuse)
      : graph_(graph),
        part_(e.parts),
        number_(static_cast<const char*>(e.numbers)),
        arrays_(arrays),
        refuse_(refuse) {}

  int next() {
    const nax::detail::FormulaPart& part = *part_++;
    if (dtype_kind(part.dtype) == Kind::complex && graph_.system != System::stablehlo)
      refuse_("complex numbers");
    if (part.arity == 0) return graph_.cast(arrays_[array_++], computed_in(part.dtype));
    if (part.arity < 0) {
      const int x = graph_.own_constant(number_, part.dtype, {});
      number_ += nax::detail::formula_slot;
      return graph_.cast(x, computed_in(part.dtype));
    }
    std::vector<int> x;
    for (int i = 0; i < part.arity; ++i) x.push_back(next());
    return call(part.name, std::move(x), computed_in(part.dtype));
  }

 private:
  static DType computed_in(DType dtype) {
    return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
  }
  int call(std::string_view name, std::vector<int> x, DType result) {
    using enum NodeKind;
    if (name == "astype") return converted(x[0], result);
    if (name == "where")
      return graph_.elementwise(
          select, {converted(x[0], DType::boolean), graph_.cast(x[1], result), graph_.cast(x[2], result)},
          result);
    const bool is_complex = std::any_of(
        x.begin(), x.end(), [&](int one) { return dtype_kind(graph_[one].dtype) == Kind::complex; });
    if (is_complex || dtype_kind(result) == Kind::complex) return call_complex(name, std::move(x), result);
    DType type = result;
    if (result == DType::boolean) {  // comparisons, and functions of truths
      type = graph_[x[0]].dtype;
      for (const int one : x) type = promote(type, graph_[one].dtype);
      if (name.starts_with("logical_")) type = DType::boolean;
    }
    for (int& one : x) one = converted(one, type);
    FormulaNodes nodes(graph_, type, refuse_);
    const auto is = [&](std::string_view a, std::string_view b) { return name == a || name == b; };
    const bool is_onnx = graph_.system == System::onnx;
    if (type == DType::boolean) {
      if (is("logical_and", "bitwise_and")) return nodes.truth(logical_and, x);
      if (is("logical_or", "bitwise_or")) return nodes.truth(logical_or, x);
      if (is("logical_xor", "bitwise_xor") || name == "not_equal") return nodes.truth(logical_xor, x);
      if (is("logical_not", "invert")) return nodes.opposite(x[0]);
      if (name == "equal") return nodes.opposite(nodes.truth(logical_xor, x));
    } else if (name == "arctan2" && dtype_kind(type) == Kind::floating) {
      return nodes.angle_of(x[0], x[1]);
    } else if (is("floor_divide", "remainder") && dtype_kind(type) == Kind::integer) {
      return of_integers(
          type, [&](FormulaNodes& of) { return of.floor_divided(x[0], x[1], name == "remainder"); }, x);
    } else if (name == "power" && dtype_kind(type) == Kind::integer && !is_onnx) {
      return nodes.make(power, x);
    } else if (name == "power" && dtype_kind(type) == Kind::integer && type != DType::uint64) {
      return of_integers(
          type, [&](FormulaNodes& of) { return of.integer_power(x[0], x[1]); }, x);
    } else if (is("left_shift", "right_shift") && (!is_onnx || type != DType::uint64)) {
      const bool right = name == "right_shift";
      if (!is_onnx) return nodes.make(right ? shift_right : shift_left, x);
      return of_integers(
          type, [&](FormulaNodes& of) { return of.shifted(x[0], x[1], type, right); }, x);
    } else if (!is_onnx && is_bitwise(name)) {
      const NodeKind kind = name == "bitwise_and"  ? logical_and
                            : name == "bitwise_or" ? logical_or
                            : name == "invert"     ? logical_not
                                                   : logical_xor;
      return nodes.make(kind, x);
    } else if (const WrittenRule* const rule = find_rule(name, static_cast<int>(x.size()));
               rule && (rule->of_integers || dtype_kind(type) == Kind::floating)) {
      return nodes.write(rule->formula(), x);
    }
    refuse_(std::string(name) + " of " + std::string(dtype_name(type)));
    return -1;
  }
  static bool is_bitwise(std::string_view name) { return name == "invert" || name.starts_with("bitwise_"); }
  // Integers of 32 and 64 bits are what ONNX Runtime computes with.
  template <class F>
  int of_integers(DType type, const F& f, std::vector<int>& x) {
    const bool narrow = dtype_size(type) < 4;
    const DType wide = narrow ? DType::int32 : type == DType::uint32 ? DType::int64 : type;
    for (int& one : x) one = graph_.cast(one, wide);
    FormulaNodes nodes(graph_, wide, refuse_);
    return graph_.cast(f(nodes), type);
  }
  int call_complex(std::string_view name, std::vector<int> x, DType result) {
    DType type = graph_[x[0]].dtype;
    for (const int one : x) type = promote(type, graph_[one].dtype);
    if (dtype_kind(result) == Kind::complex) type = promote(type, result);
    for (int& one : x) one = graph_.cast(one, type);
    const auto make = [&](NodeKind kind, std::vector<int> of, DType dtype) {
      return graph_.elementwise(kind, std::move(of), dtype);
    };
    const DType part = type == DType::complex128 ? DType::float64 : DType::float32;
    if (name == "real") return make(NodeKind::real, x, part);
    if (name == "imag") return make(NodeKind::imag, x, part);
    if (name == "absolute") return make(NodeKind::absolute, x, part);
    if (name == "equal") return make(NodeKind::equal, x, DType::boolean);
    if (name == "not_equal")
      return make(NodeKind::logical_not, {make(NodeKind::equal, x, DType::boolean)}, DType::boolean);
    if (name == "conjugate")
      return make(
          NodeKind::pair,
          {make(NodeKind::real, x, part), make(NodeKind::negative, {make(NodeKind::imag, x, part)}, part)},
          type);
    if (name == "square") return make(NodeKind::multiply, {x[0], x[0]}, type);
    if (name == "reciprocal") return make(NodeKind::divide, {graph_.number(1, type), x[0]}, type);
    static constexpr std::pair<std::string_view, NodeKind> simple[] = {
        {"add", NodeKind::add},       {"subtract", NodeKind::subtract}, {"multiply", NodeKind::multiply},
        {"divide", NodeKind::divide}, {"negative", NodeKind::negative}, {"exp", NodeKind::exp},
        {"log", NodeKind::log},       {"sqrt", NodeKind::sqrt},         {"sin", NodeKind::sin},
        {"cos", NodeKind::cos},       {"tanh", NodeKind::tanh}};
    for (const auto& [known, kind] : simple)
      if (known == name) return make(kind, x, type);
    refuse_(std::string(name) + " of " + std::string(dtype_name(type)));
    return -1;
  }
  // Numbers become truths by whether they are not 0.
  int converted(int x, DType to) {
    const DType from = graph_[x].dtype;
    if (to != DType::boolean || from == to) return graph_.cast(x, to);
    FormulaNodes nodes(graph_, from, refuse_);
    return nodes.opposite(nodes.truth(NodeKind::equal, {x, nodes.number(0)}));
  }

  Graph& graph_;
  const nax::detail::FormulaPart* part_;
  const char* number_;
  const std::vector<int>& arrays_;
  std::size_t array_ = 0;
  FunctionRef<void(const std::string&)> refuse_;
};

NAX_ENGINE int expression_nodes(Graph& graph, const program::StepExpression& e,
                                const std::vector<int>& arrays, DType stored,
                                FunctionRef<void(const std::string&)> refuse) {
  return graph.cast(ExpressionNodes(graph, e, arrays, refuse).next(), stored);
}

}  // namespace io::detail
NAX_END
