#pragma once

#include "nax/expr/expressions/engine_rules.hpp"
#include "nax/expr/expressions/lane.hpp"
#include "nax/formula/symbol.hpp"
#include "nax/rules/arithmetic.hpp"
#include "nax/rules/bitwise.hpp"
#include "nax/rules/cast.hpp"
#include "nax/rules/comparison.hpp"
#include "nax/rules/extrema.hpp"

// The formula of an expression. Its type gives a list of operations (symbol_steps), each of which writes its
// rule down with symbols; code is made for each operation, not for each expression. Inputs are the leaves,
// then the expression's numbers, so that a number which changes from call to call changes no formula.
NAX_BEGIN
namespace detail {

template <class Rule, class... Rules>
inline constexpr bool is_any_of = (std::is_same_v<Rule, Rules> || ...);

// Values of expressions that fit packets of C, as symbols.
template <class C>
struct SymbolLane {
  using Packet = formula::Symbol<C>;
  using Mask = formula::Truth<C>;
  static constexpr int width = 1;
  template <class T>
  using Value = std::conditional_t<std::is_same_v<T, bool>, Mask, Packet>;

  template <class To, class From>
  static Value<To> cast(const Value<From>& x) {
    if constexpr (std::is_same_v<To, bool> == std::is_same_v<From, bool>)
      return x;
    else if constexpr (std::is_same_v<To, bool>)
      return x != Packet(0);
    else
      return select(x, Packet(1), Packet(0));
  }
};

// Values of any types, each in the numbers that C++ computes them in.
template <>
struct SymbolLane<void> {
  using Mask = formula::Truth<double>;
  static constexpr int width = 1;
  template <class T>
  using Value = std::conditional_t<std::is_same_v<T, bool>, Mask, formula::Symbol<lane_t<T>>>;

  template <class To, class From>
  static Value<To> cast(const Value<From>& x) {
    using formula::Recorder;
    if constexpr (std::is_same_v<lane_t<To>, lane_t<From>>)
      return x;
    else if constexpr (std::is_same_v<To, bool>)
      return Mask::of((x != Value<From>(0)).at);
    else
      return Value<To>::of(Recorder::current().convert(x.at, dtype_of<lane_t<To>>));
  }
};

// How an operation meets a number of the expression.
enum class NumberUse : unsigned char {
  input,
  known,     // its rule computes with it
  if_exact,  // known where its reciprocal is exact, since products are faster than quotients
};
template <class Rule, int j>
inline constexpr NumberUse number_use = rules::is_number<Rule, j> ? NumberUse::known : NumberUse::input;
template <>
inline constexpr NumberUse number_use<rules::divide, 1> = NumberUse::if_exact;

struct SymbolStep {
  enum class Kind : unsigned char { leaf, number, operation };
  static constexpr int most_operands = 4;

  Kind kind{};
  bool truth = false;
  NumberUse use{};
  short slot = 0;  // of a leaf or a number
  DType stored{};  // of a leaf or a number
  short operand[most_operands]{};
  // Records the operation; the number of its step.
  int (*record)(const int* operands) = nullptr;
  // Records the shares of operands in the cotangent g of the result y.
  void (*pull)(const int* operands, int g, int y, int* shares) = nullptr;
  unsigned char through = 0;  // bit j: a gradient flows to operand j
  bool hands_on = false;      // what lies below a zero share takes no part
  bool may_multiply = false;  // by an infinite derivative, here or below
};

// Rules whose value of integers is a function of lanes.
template <class Rule>
inline constexpr bool is_called =
    is_any_of<Rule, rules::mod, rules::floor_divide, rules::fmod, rules::left_shift, rules::right_shift>;
template <class Rule>
struct CalledRule {
  static constexpr const char* name = Rule::name;
  template <class... V>
  auto operator()(V... x) const {
    return Rule::value(x...);
  }
};

// Records one operation on operands of these types, or its derivative.
template <class Rule, class... A>
struct SymbolOf {
  using Result = typename Rule::template result<A...>;
  template <int j>
  using operand_t = typename Rule::template operand<j, A...>;
  template <int j>
  using own_t = std::tuple_element_t<j, std::tuple<A...>>;
  using Lane = SymbolLane<packet_element_t<Expr<Rule, Array<A>...>>>;
  using Indices = std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>;

  static int record(const int* x);
  static void pull(const int* x, int g, int y, int* shares);

  template <int j>
  static auto operand(const int* x) {
    return Lane::template cast<operand_t<j>, own_t<j>>(Lane::template Value<own_t<j>>::of(x[j]));
  }
  template <int... j>
  static int value(const int* x, std::integer_sequence<int, j...>) {
    if constexpr (is_called<Rule> && is_integer_v<Result>)
      return formula::by_lanes(CalledRule<Rule>(), operand<j>(x)...).at;
    else
      return Rule::value(operand<j>(x)...).at;
  }
  template <int j, class Share>
  static void take(const Share& share, int& to) {
    if constexpr (is_inexact_v<operand_t<j>> && is_inexact_v<own_t<j>>)
      to = Lane::template cast<own_t<j>, operand_t<j>>(share).at;
  }
  template <int... j>
  static void shares(const int* x, int g, int y, int* to, std::integer_sequence<int, j...>) {
    using Value = typename Lane::template Value<Result>;
    const auto shares = Rule::vjp(Value::of(g), operand<j>(x)..., Value::of(y));
    (take<j>(std::get<j>(shares), to[j]), ...);
  }
};
template <class Rule, class... A>
[[gnu::cold]] int SymbolOf<Rule, A...>::record(const int* x) {
  return value(x, Indices{});
}
template <class Rule, class... A>
[[gnu::cold]] void SymbolOf<Rule, A...>::pull(const int* x, int g, int y, int* shares) {
  SymbolOf::shares(x, g, y, shares, Indices{});
}

// A rule on symbols, value and shares, as the engine has it.
template <class Rule, class... A>
int symbol_of_engine(const int* operands);
template <class Rule, class... A>
void symbol_shares_of_engine(const int* operands, int g, int y, int* shares);

template <class E>
inline constexpr int symbol_step_count = 1;
template <class Rule, class... A>
inline constexpr int symbol_step_count<Expr<Rule, A...>> = 1 + (symbol_step_count<A> + ... + 0);

struct SymbolCounters {
  short step = 0, leaf = 0, number = 0;
};
template <class T>
constexpr short list_symbols(SymbolStep* steps, SymbolCounters& next, const Array<T>*) {
  steps[next.step] = {SymbolStep::Kind::leaf, std::is_same_v<T, bool>, {}, next.leaf++, dtype_of<T>};
  return next.step++;
}
template <class T>
constexpr short list_symbols(SymbolStep* steps, SymbolCounters& next, const Constant<T>*) {
  steps[next.step] = {SymbolStep::Kind::number, std::is_same_v<T, bool>, {}, next.number++, dtype_of<T>};
  return next.step++;
}
template <class Rule, class... A>
constexpr short list_symbols(SymbolStep* steps, SymbolCounters& next, const Expr<Rule, A...>*) {
  static_assert(sizeof...(A) <= SymbolStep::most_operands);
  using E = Expr<Rule, A...>;
  using Symbols = SymbolOf<Rule, typename A::value_type...>;
  const short operands[] = {list_symbols(steps, next, static_cast<const A*>(nullptr))...};
  SymbolStep& step = steps[next.step];
  [&]<int... j>(std::integer_sequence<int, j...>) {
    ((steps[operands[j]].use = number_use<Rule, j>), ...);
    ((step.operand[j] = operands[j]), ...);
    if constexpr (Carries<E>::value)
      step.through = static_cast<unsigned char>(((Carries<E>::template through<j, A> ? 1u << j : 0u) | ...));
  }
  (std::make_integer_sequence<int, E::arity>{});
  step.kind = SymbolStep::Kind::operation;
  step.truth = std::is_same_v<typename E::value_type, bool>;
  if constexpr (calls_rule<Rule, typename A::value_type...>) {
    step.record = symbol_of_engine<Rule, typename A::value_type...>;
    if constexpr (Carries<E>::value) step.pull = symbol_shares_of_engine<Rule, typename A::value_type...>;
  } else {
    step.record = Symbols::record;
    if constexpr (Carries<E>::value) step.pull = Symbols::pull;
  }
  step.hands_on = Rule::hands_on;
  step.may_multiply = multiplies_within<E>;
  return next.step++;
}
template <class E>
struct SymbolSteps {
  SymbolStep at[symbol_step_count<E>]{};
  constexpr SymbolSteps() {
    SymbolCounters next;
    list_symbols(at, next, static_cast<const E*>(nullptr));
  }
  constexpr bool may_know() const {
    for (const SymbolStep& step : at)
      if (step.kind == SymbolStep::Kind::number && (step.truth || step.use != NumberUse::input)) return true;
    return false;
  }
};
template <class E>
inline constexpr SymbolSteps<E> symbol_steps{};

// The operations of an expression, operands before what is made of them.
struct ExpressionSymbols {
  const SymbolStep* steps;
  int count, leaves, numbers;
  DType type;     // of the packets in which it is computed, or of the result
  DType result;   // as which the result is stored
  bool may_know;  // whether some number may be part of the formula
  bool one_type;  // whether packets hold the whole expression
};
template <class E>
inline constexpr DType symbol_type =
    dtype_of<std::conditional_t<std::is_void_v<packet_element_t<E>>, lane_t<typename E::value_type>,
                                packet_element_t<E>>>;
template <class E>
inline constexpr ExpressionSymbols expression_symbols{symbol_steps<E>.at,
                                                      symbol_step_count<E>,
                                                      Tree<E>::leaves,
                                                      Tree<E>::constants,
                                                      symbol_type<E>,
                                                      dtype_of<typename E::value_type>,
                                                      symbol_steps<E>.may_know(),
                                                      !std::is_void_v<packet_element_t<E>>};

// Whether a rule can be written down: unless it says `static constexpr bool symbolic = false`, as one must
// whose `value` calls what symbols do not have.
template <class Rule>
constexpr bool is_symbolic() {
  if constexpr (requires { Rule::symbolic; })
    return Rule::symbolic;
  else
    return true;
}
template <class E>
inline constexpr bool all_symbolic = true;
template <class Rule, class... A>
inline constexpr bool all_symbolic<Expr<Rule, A...>> = is_symbolic<Rule>() && (all_symbolic<A> && ...);
// Whether an expression has a formula for its kernels.
template <class E>
inline constexpr bool has_formula = !std::is_void_v<packet_element_t<E>> && all_symbolic<E>;

// Whether an operation that no packets hold has a formula of several types: one that rounds as its kernel
// does.
template <class Rule>
inline constexpr bool is_exact =
    is_called<Rule> ||
    is_any_of<Rule, rules::add, rules::subtract, rules::multiply, rules::divide, rules::negative,
              rules::square, rules::absolute, rules::sign, rules::maximum, rules::minimum, rules::clip,
              rules::equal, rules::not_equal, rules::less, rules::less_equal, rules::greater,
              rules::greater_equal, rules::logical_and, rules::logical_or, rules::logical_xor,
              rules::logical_not, rules::bitwise_and, rules::bitwise_or, rules::bitwise_xor, rules::invert,
              rules::where>;
template <class To>
inline constexpr bool is_exact<rules::cast<To>> = true;
// From a type to that of an operand: double is rounded once to 16 bits.
template <class From, class To>
inline constexpr bool has_conversion =
    !is_complex_v<From> && !is_complex_v<To> &&
    !(std::is_same_v<From, double> && is_floating_v<To> && sizeof(To) == 2);
template <class E>
inline constexpr bool has_mixed_steps = !is_complex_v<typename E::value_type>;
template <class Rule, class... A>
inline constexpr bool has_mixed_steps<Expr<Rule, A...>> = []<int... j>(std::integer_sequence<int, j...>) {
  using Result = typename Expr<Rule, A...>::value_type;
  // (Arithmetic of truth values has rules of its own; functions of lanes take lanes of their type.)
  return is_exact<Rule> && (!is_called<Rule> || is_integer_v<Result>)&&!is_complex_v<Result> &&
         ((has_conversion<typename A::value_type,
                          typename Rule::template operand<j, typename A::value_type...>> &&
           (Rule::masks ||
            !std::is_same_v<typename Rule::template operand<j, typename A::value_type...>, bool>)) &&
          ...) &&
         (has_mixed_steps<A> && ...);
}
(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>());
// Whether an expression has a formula for programs.
template <class E>
inline constexpr bool has_program_formula = has_formula<E> ||
                                            (std::is_void_v<packet_element_t<E>> && has_mixed_steps<E>);

// Whether a number of the expression is part of its formula.
NAX_ENGINE bool is_known(const SymbolStep& number, const void* constants);
// The numbers that are part of the formula: for each, which step it is, and its double's bits.
NAX_ENGINE std::vector<std::uint64_t> known_numbers(const ExpressionSymbols& symbols, const void* constants);
// Whether these are they.
NAX_ENGINE bool are_known(const ExpressionSymbols& symbols, const void* constants,
                          const std::vector<std::uint64_t>& numbers);
// How a formula reads and writes: as kernels do, in whose tiles all is of the packets' type, or as arrays are
// stored.
enum class FormulaOperands : unsigned char { lanes, stored };
// The formula of an expression whose leaf l is input inputs[l]; its numbers follow the leaves.
NAX_ENGINE formula::Formula formula_of(const ExpressionSymbols& symbols, const void* constants,
                                       const short* inputs,
                                       FormulaOperands operands = FormulaOperands::lanes);
// The shares, by the rules' own derivatives, of the inputs of some leaves (bit l of `wanted`; of one input,
// its first leaf stands for all), in order. The cotangent follows the numbers. `valued`: then the value.
// `again` becomes whether derivatives of the formula are those that rules give one after the other.
NAX_ENGINE formula::Formula pull_formula_of(const ExpressionSymbols& symbols, const void* constants,
                                            const short* inputs, unsigned wanted, bool valued = false,
                                            bool* again = nullptr);
// The tangent of the result, for tangents of those inputs, which follow the numbers.
NAX_ENGINE formula::Formula push_formula_of(const ExpressionSymbols& symbols, const void* constants,
                                            const short* inputs, unsigned moving, bool* again = nullptr,
                                            FormulaOperands operands = FormulaOperands::lanes);
// Of each leaf the first that is the same array.
NAX_ENGINE void find_inputs(const ArrayBase* const* leaves, int count, short* inputs);

template <class E>
requires has_formula<E> formula::Formula formula_of(const E& e) {
  const Parts<E> parts(e);
  short inputs[max_leaves];
  find_inputs(parts.leaves, Tree<E>::leaves, inputs);
  return formula_of(expression_symbols<E>, parts.constants.slots, inputs);
}
template <class E>
requires(has_formula<E>&& Carries<E>::value) formula::Formula
    pull_formula_of(const E& e, unsigned wanted = ~0u) {
  const Parts<E> parts(e);
  short inputs[max_leaves];
  find_inputs(parts.leaves, Tree<E>::leaves, inputs);
  unsigned carries = 0;
  for (int l = 0; l < Tree<E>::leaves; ++l) carries |= static_cast<unsigned>(carries_leaf<E>(l)) << l;
  return pull_formula_of(expression_symbols<E>, parts.constants.slots, inputs, carries & wanted);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/expressions/formula-inl.hpp"
#endif
