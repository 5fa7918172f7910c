#pragma once

#include <tuple>
#include <utility>

#include "nax/backend/cpu/packets/convert.hpp"
#include "nax/backend/cpu/packets/holds_nan.hpp"
#include "nax/expr/differentiation/sum_axes.hpp"
#include "nax/expr/evaluation/zeros.hpp"
#include "nax/expr/expressions/engine_rules.hpp"
#include "nax/rules/cast.hpp"
#include "nax/rules/comparison.hpp"
#include "nax/tape/packed_array.hpp"

// Runs the operations of an expression one by one, where an outer sweep watches its fused kernel, on recorded
// arrays. An expression type is described by data, its steps: leaves, constants and operations, operands
// before what is made of them, the root last. So the sweep itself is compiled once, and code is made for each
// operation on each choice of element types, not for each expression.
NAX_BEGIN
namespace detail {

struct RecordedOp {
  // Operands and shares are of the types that the operands have by themselves; conversions are inside.
  ArrayBase (*value)(const ArrayBase* operands);
  void (*vjp)(const ArrayBase& g, const ArrayBase* operands, const ArrayBase& y, ArrayBase* shares);
  // The share of operand j's tangent in the result's. None where vjp serves: all are of one real or one
  // complex type.
  ArrayBase (*push)(int j, const ArrayBase& tangent, const ArrayBase* operands, const ArrayBase& y);
  void (*add)(ArrayBase& sum, const ArrayBase& term);
  // Drops what a factor of zero made of infinities in a share; all of one type. For where vjp serves as push.
  void (*drop)(const ArrayBase& factor, ArrayBase& share);
  bool (*may_hold_nan)(const ArrayBase& share);
  ArrayBase (*one)();
};

template <class To, class From>
Recorded<To> cast_recorded(const Recorded<From>& x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else
    return apply<rules::cast<To>>(x);
}

// Whether an array holds a NaN; true also where looking costs more than it is worth.
template <class T>
bool may_hold_nan(const ArrayBase& a) {
  const Layout& layout = layout_of(a);
  if (on_accelerator(a) || !layout.is_contiguous()) return true;
  if constexpr (is_complex_v<T>)
    return cpu::holds_nan(reinterpret_cast<const real_t<T>*>(raw_data(a)), 2 * layout.size());
  else
    return cpu::holds_nan(reinterpret_cast<const T*>(raw_data(a)), layout.size());
}
// The share of a recorded cotangent g, 0 where g is 0 and the derivative was not finite: unless_zero for
// recorded arrays. Where g is 0 and the share is finite, that is a value like any other, whose derivatives
// count.
template <class G, class T>
void drop_dead(const ArrayBase& g, ArrayBase& share) {
  if (!may_hold_nan<T>(share)) return;
  const Array<T> s = typed<T>(share);
  const Array<G> cotangent = typed<G>(constant(g));
  const Array<T> values = typed<T>(constant(share));
  const auto dead = make_expr<rules::logical_and>(make_expr<rules::equal>(cotangent, Array<G>(G(0))),
                                                  make_expr<rules::not_equal>(values, values));
  share = evaluate(make_selection<rules::where>(dead, Array<T>(T(0)), s));
}

template <class T>
ArrayBase number_one() {
  return Array<T>(T(1));
}

template <class Rule, class Indices, class... A>
struct RecordedOpOf;
template <class Rule, int... j, class... A>
struct RecordedOpOf<Rule, std::integer_sequence<int, j...>, A...> {
  using Result = typename Rule::template result<A...>;
  template <int i>
  using own_t = std::tuple_element_t<i, std::tuple<A...>>;
  template <int i>
  using operand_t = typename Rule::template operand<i, A...>;

  // A C++ number stays one: read of an array, it would be no constant of later formulas.
  template <int i>
  static auto operand(const ArrayBase* x) {
    if constexpr (rules::is_number<Rule, i>) {
      return cpu::convert_element<own_t<i>, std::int64_t>(*reinterpret_cast<const own_t<i>*>(raw_data(x[i])));
    } else {
      return cast_recorded<operand_t<i>>(Recorded<own_t<i>>(typed<own_t<i>>(x[i])));
    }
  }
  static ArrayBase value(const ArrayBase* x);
  static auto shares_of(const Recorded<Result>& g, const ArrayBase* x, const ArrayBase& y) {
    return Rule::vjp(g, operand<j>(x)..., Recorded<Result>(typed<Result>(y)));
  }
  template <int i, class Share>
  static void convert(const ArrayBase& g, const Share& share, ArrayBase& out) {
    if constexpr (is_inexact_v<operand_t<i>> && is_inexact_v<own_t<i>>) {
      out = std::move(cast_recorded<own_t<i>>(share).array);
      if constexpr (multiplies<Rule>) drop_dead<Result, own_t<i>>(g, out);
    }
  }
  static void vjp(const ArrayBase& g, const ArrayBase* x, const ArrayBase& y, ArrayBase* out);

  template <int i>
  static void push_one(int which, const ArrayBase& t, const ArrayBase* x, const ArrayBase& y,
                       ArrayBase& out) {
    using Operand = operand_t<i>;
    if constexpr (is_inexact_v<Operand> && is_inexact_v<own_t<i>>) {
      if (which != i) return;
      const Recorded<Operand> in = cast_recorded<Operand>(Recorded<own_t<i>>(typed<own_t<i>>(t)));
      if constexpr (is_complex_v<Operand> &&
                    !is_complex_v<Result>)  // the real part of t times the derivative
        out = cast_recorded<Result>(in * std::get<i>(shares_of(Recorded<Result>(1), x, y))).array;
      else
        out = cast_recorded<Result>(std::get<i>(shares_of(cast_recorded<Result>(in), x, y))).array;
      if constexpr (multiplies<Rule>) {
        if (!may_hold_nan<Result>(out)) return;
        drop_dead<own_t<i>, Result>(t, out);
        drop_dead<operand_t<i>, Result>(std::get<i>(shares_of(Recorded<Result>(1), x, y)).array, out);
      }
    }
  }
  static ArrayBase push(int which, const ArrayBase& t, const ArrayBase* x, const ArrayBase& y);
  static constexpr bool plain =
      ((std::is_same_v<operand_t<j>, Result> || !is_inexact_v<operand_t<j>>)&&...) &&
      ((std::is_same_v<own_t<j>, Result> || !is_inexact_v<own_t<j>>)&&...);
  static constexpr decltype(RecordedOp::push) push_if_needed() {
    if constexpr (plain)
      return nullptr;
    else
      return push;
  }
};

template <class Rule, int... j, class... A>
[[gnu::cold]] ArrayBase RecordedOpOf<Rule, std::integer_sequence<int, j...>, A...>::value(
    const ArrayBase* x) {
  if constexpr (requires { typename Rule::identity; })
    return (std::move(operand<j>(x).array), ...);
  else
    return std::move(apply<Rule>(operand<j>(x)...).array);
}
template <class Rule, int... j, class... A>
[[gnu::cold]] void RecordedOpOf<Rule, std::integer_sequence<int, j...>, A...>::vjp(const ArrayBase& g,
                                                                                   const ArrayBase* x,
                                                                                   const ArrayBase& y,
                                                                                   ArrayBase* out) {
  const auto shares = shares_of(Recorded<Result>(typed<Result>(g)), x, y);
  (convert<j>(g, std::get<j>(shares), out[j]), ...);
}
template <class Rule, int... j, class... A>
[[gnu::cold]] ArrayBase RecordedOpOf<Rule, std::integer_sequence<int, j...>, A...>::push(int which,
                                                                                         const ArrayBase& t,
                                                                                         const ArrayBase* x,
                                                                                         const ArrayBase& y) {
  ArrayBase out;
  (push_one<j>(which, t, x, y, out), ...);
  return out;
}

// The value and the derivative that the engine has of a rule.
template <class Rule, class... A>
ArrayBase value_of_engine(const ArrayBase* operands);
template <class Rule, class... A>
void vjp_of_engine(const ArrayBase& g, const ArrayBase* operands, const ArrayBase& y, ArrayBase* shares);

template <class Rule, class... A>
using RecordedOpFor =
    RecordedOpOf<Rule, std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>, A...>;
template <class Rule, class... A>
constexpr auto recorded_value_of() {
  if constexpr (calls_rule<Rule, A...>)
    return value_of_engine<Rule, A...>;
  else
    return RecordedOpFor<Rule, A...>::value;
}
template <class Rule, class... A>
constexpr auto recorded_vjp_of() {
  if constexpr (calls_rule<Rule, A...>)
    return vjp_of_engine<Rule, A...>;
  else
    return RecordedOpFor<Rule, A...>::vjp;
}

template <class Rule, class... A>
inline constexpr RecordedOp recorded_op = [] {
  using Op = RecordedOpFor<Rule, A...>;
  using T = typename Op::Result;
  return RecordedOp{recorded_value_of<Rule, A...>(),
                    recorded_vjp_of<Rule, A...>(),
                    Op::push_if_needed(),
                    add_to,
                    multiplies<Rule> && Op::plain ? drop_dead<T, T> : nullptr,
                    may_hold_nan<T>,
                    number_one<T>};
}();

// An operation through which no gradient flows, such as the condition of a where.
template <class Rule, class... A>
inline constexpr RecordedOp recorded_value = {
    recorded_value_of<Rule, A...>(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};

// A leaf's gradient from the share that reached it: spread where it is one number for all, then summed over
// the axes that the leaf lacks.
template <class T>
ArrayBase share_of_leaf(const ArrayBase& share, const Frame& leaf, const Frame& frame) {
  const Array<T> g = typed<T>(share);
  const bool whole = layout_of(g).ndim() == frame.ndim();
  return sum_to(whole ? g : broadcast_frame(g, broadcast("vjp", layout_of(g), frame)), leaf, frame);
}
template <class T>
ArrayBase spread_over(const ArrayBase& x, const Frame& to) {
  return broadcast_frame(typed<T>(x), to);
}

struct Step {
  enum class Kind : unsigned char { leaf, constant, operation };
  static constexpr int most_operands = 4;

  Kind kind{};
  DType dtype{};
  unsigned char arity = 0;
  unsigned char through = 0;       // bit j: a gradient flows to operand j
  short slot = 0;                  // of a leaf or a constant: its number
  short operand[most_operands]{};  // the steps that make the operands
  const RecordedOp* op = nullptr;
  ArrayBase (*share_of_leaf)(const ArrayBase&, const Frame&, const Frame&) = nullptr;
};

template <class E>
struct StepCount {
  static constexpr int value = 1;
};
template <class Rule, class... A>
struct StepCount<Expr<Rule, A...>> {
  static constexpr int value = 1 + (StepCount<A>::value + ... + 0);
};

struct StepCounters {
  short step = 0, leaf = 0, constant = 0;
};
template <class E>
struct ListSteps;
template <class T>
struct ListSteps<Array<T>> {
  static constexpr short list(Step* steps, StepCounters& next) {
    Step& step = steps[next.step];
    step.kind = Step::Kind::leaf;
    step.dtype = dtype_of<T>;
    step.slot = next.leaf++;
    if constexpr (is_inexact_v<T>) step.share_of_leaf = share_of_leaf<T>;
    return next.step++;
  }
};
template <class T>
struct ListSteps<Constant<T>> {
  static constexpr short list(Step* steps, StepCounters& next) {
    steps[next.step].kind = Step::Kind::constant;
    steps[next.step].dtype = dtype_of<T>;
    steps[next.step].slot = next.constant++;
    return next.step++;
  }
};
template <class T, class S>
struct ListSteps<Literal<T, S>> : ListSteps<Constant<T>> {};
template <class Rule, class... A>
struct ListSteps<Expr<Rule, A...>> {
  static_assert(sizeof...(A) <= Step::most_operands);
  template <int... j>
  static constexpr unsigned char through(std::integer_sequence<int, j...>) {
    return static_cast<unsigned char>(
        ((Carries<Expr<Rule, A...>>::template through<j, A> ? 1u << j : 0u) | ... | 0u));
  }
  static constexpr short list(Step* steps, StepCounters& next) {
    const short operands[] = {ListSteps<A>::list(steps, next)...};
    Step& step = steps[next.step];
    step.kind = Step::Kind::operation;
    step.dtype = dtype_of<typename Expr<Rule, A...>::value_type>;
    step.arity = sizeof...(A);
    for (std::size_t j = 0; j < sizeof...(A); ++j) step.operand[j] = operands[j];
    if constexpr (Carries<Expr<Rule, A...>>::value) {
      step.through = through(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
      step.op = &recorded_op<Rule, typename A::value_type...>;
    } else {
      step.op = &recorded_value<Rule, typename A::value_type...>;
    }
    return next.step++;
  }
};

}  // namespace detail
NAX_END
