#pragma once

#include "nax/expr/expressions/lane.hpp"
#include "nax/formula/symbol.hpp"
#include "nax/rules/arithmetic.hpp"

// The formula of an expression. Its type gives a list of operations (symbol_steps), each of which writes its
// rule down with symbols; code is made for each operation, not for each expression. Inputs are the leaves,
// then the expression's numbers, so that a number which changes from call to call changes no formula.
NAX_BEGIN
namespace detail {

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
  DType stored{};  // of a number
  short operand[most_operands]{};
  // Records the operation; the number of its step.
  int (*record)(const int* operands) = nullptr;
  // Records the shares of operands in the cotangent g of the result y.
  void (*pull)(const int* operands, int g, int y, int* shares) = nullptr;
  unsigned char through = 0;  // bit j: a gradient flows to operand j
  bool hands_on = false;      // what lies below a zero share takes no part
  bool may_multiply = false;  // by an infinite derivative, here or below
};

// Records one operation on operands of these types, or its derivative.
template <class Rule, class... A>
struct SymbolOf {
  using Result = typename Rule::template result<A...>;
  template <int j>
  using operand_t = typename Rule::template operand<j, A...>;
  template <int j>
  using own_t = std::tuple_element_t<j, std::tuple<A...>>;
  using C = packet_element_t<Expr<Rule, Array<A>...>>;
  // (Truth values alone are recorded alike for either type.)
  using Lane = SymbolLane<std::conditional_t<std::is_void_v<C>, double, C>>;
  using Indices = std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>;

  static int record(const int* x);
  static void pull(const int* x, int g, int y, int* shares);

  template <int j>
  static auto operand(const int* x) {
    return Lane::template cast<operand_t<j>, own_t<j>>(Lane::template Value<own_t<j>>::of(x[j]));
  }
  template <int... j>
  static int value(const int* x, std::integer_sequence<int, j...>) {
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
// Out of the class, so that programs need not compile them where a library has them.
template <class Rule, class... A>
[[gnu::cold]] int SymbolOf<Rule, A...>::record(const int* x) {
  return value(x, Indices{});
}
template <class Rule, class... A>
[[gnu::cold]] void SymbolOf<Rule, A...>::pull(const int* x, int g, int y, int* shares) {
  SymbolOf::shares(x, g, y, shares, Indices{});
}

template <class E>
inline constexpr int symbol_step_count = 1;
template <class Rule, class... A>
inline constexpr int symbol_step_count<Expr<Rule, A...>> = 1 + (symbol_step_count<A> + ... + 0);

struct SymbolCounters {
  short step = 0, leaf = 0, number = 0;
};
template <class T>
constexpr short list_symbols(SymbolStep* steps, SymbolCounters& next, const Array<T>*) {
  steps[next.step] = {SymbolStep::Kind::leaf, std::is_same_v<T, bool>, {}, next.leaf++};
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
  step.record = Symbols::record;
  if constexpr (Carries<E>::value) step.pull = Symbols::pull;
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
  DType type;
  bool may_know;  // whether some number may be part of the formula
};
template <class E>
inline constexpr ExpressionSymbols expression_symbols{
    symbol_steps<E>.at, symbol_step_count<E>,          Tree<E>::leaves,
    Tree<E>::constants, dtype_of<packet_element_t<E>>, symbol_steps<E>.may_know()};

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
// Whether an expression has a formula.
template <class E>
inline constexpr bool has_formula = !std::is_void_v<packet_element_t<E>> && all_symbolic<E>;

// Whether a number of the expression is part of its formula.
NAX_ENGINE bool is_known(const ExpressionSymbols& symbols, const SymbolStep& number, const void* constants);
// The numbers that are part of the formula: for each, which step it is, and its double's bits.
NAX_ENGINE std::vector<std::uint64_t> known_numbers(const ExpressionSymbols& symbols, const void* constants);
// The formula of an expression whose leaf l is input inputs[l]; its numbers follow the leaves.
NAX_ENGINE formula::Formula formula_of(const ExpressionSymbols& symbols, const void* constants,
                                       const short* inputs);
// The shares, by the rules' own derivatives, of the inputs of some leaves (bit l of `wanted`; of one input,
// its first leaf stands for all), in order. The cotangent follows the numbers. `valued`: then the value.
// `again` becomes whether derivatives of the formula are those that rules give one after the other.
NAX_ENGINE formula::Formula pull_formula_of(const ExpressionSymbols& symbols, const void* constants,
                                            const short* inputs, unsigned wanted, bool valued = false,
                                            bool* again = nullptr);
// The tangent of the result, for tangents of those inputs, which follow the numbers.
NAX_ENGINE formula::Formula push_formula_of(const ExpressionSymbols& symbols, const void* constants,
                                            const short* inputs, unsigned moving, bool* again = nullptr);
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
