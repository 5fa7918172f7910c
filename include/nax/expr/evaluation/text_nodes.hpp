#pragma once

#include "nax/expr/expressions/formula.hpp"
#include "nax/formula/text.hpp"
#include "nax/rules/cast.hpp"
#include "nax/rules/comparison.hpp"
#include "nax/rules/extrema.hpp"

// Expressions that have no formula, as texts of kernels: those with integers, of a few plain operations. Each
// operation is a pattern of C++ on operands of the types that its rule takes.
NAX_BEGIN
namespace detail {

// The pattern of a rule on operands of these types; $0, $1 and $2 stand for them. Null: it has no text.
template <class Rule, class V>
inline constexpr const char* text_pattern = nullptr;
#define NAX_PATTERN(rule, pattern) \
  template <class V>               \
  inline constexpr const char* text_pattern<rules::rule, V> = pattern;
NAX_PATTERN(add, "nax_add($0, $1)")
NAX_PATTERN(subtract, "nax_subtract($0, $1)")
NAX_PATTERN(multiply, "nax_multiply($0, $1)")
NAX_PATTERN(square, "nax_multiply($0, $0)")
NAX_PATTERN(divide, "$0 / $1")
NAX_PATTERN(equal, "$0 == $1")
NAX_PATTERN(not_equal, "$0 != $1")
NAX_PATTERN(less, "$0 < $1")
NAX_PATTERN(less_equal, "$0 <= $1")
NAX_PATTERN(greater, "$0 > $1")
NAX_PATTERN(greater_equal, "$0 >= $1")
NAX_PATTERN(logical_and, "$0 && $1")
NAX_PATTERN(logical_or, "$0 || $1")
NAX_PATTERN(logical_xor, "$0 != $1")
NAX_PATTERN(logical_not, "!$0")
NAX_PATTERN(where, "$0 ? $1 : $2")
NAX_PATTERN(maximum, "nax_maximum($0, $1)")
NAX_PATTERN(minimum, "nax_minimum($0, $1)")
NAX_PATTERN(negative, (is_integer_v<V> ? "nax_negative($0)" : "-$0"))
NAX_PATTERN(absolute, (is_integer_v<V> ? "nax_absolute($0)" : nullptr))
NAX_PATTERN(mod, (is_integer_v<V> ? "nax_mod($0, $1)" : nullptr))
NAX_PATTERN(floor_divide, (is_integer_v<V> ? "nax_floor_divide($0, $1)" : nullptr))
#undef NAX_PATTERN
template <class To, class V>
inline constexpr const char* text_pattern<rules::cast<To>, V> = "$0";

struct TextNode {
  enum class Kind : unsigned char { leaf, number, operation };
  Kind kind{};
  DType type{};    // of the value
  short slot = 0;  // of a leaf or a number
  short operand[SymbolStep::most_operands]{};
  DType taken[SymbolStep::most_operands]{};  // as the rule takes it
  const char* pattern = nullptr;
};
struct TextNodeList {
  const TextNode* at;
  int count, leaves, numbers;
};

template <class T>
constexpr short list_text_nodes(TextNode* nodes, SymbolCounters& next, const Array<T>*) {
  nodes[next.step] = {TextNode::Kind::leaf, dtype_of<T>, next.leaf++};
  return next.step++;
}
template <class T>
constexpr short list_text_nodes(TextNode* nodes, SymbolCounters& next, const Constant<T>*) {
  nodes[next.step] = {TextNode::Kind::number, dtype_of<T>, next.number++};
  return next.step++;
}
template <class Rule, class... A>
constexpr short list_text_nodes(TextNode* nodes, SymbolCounters& next, const Expr<Rule, A...>*) {
  const short operands[] = {list_text_nodes(nodes, next, static_cast<const A*>(nullptr))...};
  TextNode& node = nodes[next.step];
  node.kind = TextNode::Kind::operation;
  node.type = dtype_of<typename Expr<Rule, A...>::value_type>;
  [&]<int... j>(std::integer_sequence<int, j...>) {
    using First = typename Rule::template operand<0, typename A::value_type...>;
    node.pattern = text_pattern<Rule, First>;
    ((node.operand[j] = operands[j]), ...);
    ((node.taken[j] = dtype_of<typename Rule::template operand<j, typename A::value_type...>>), ...);
  }
  (std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
  return next.step++;
}
template <class E>
struct TextNodes {
  TextNode at[symbol_step_count<E>]{};
  constexpr TextNodes() {
    SymbolCounters next;
    list_text_nodes(at, next, static_cast<const E*>(nullptr));
  }
  constexpr bool complete() const {
    for (const TextNode& node : at)
      if (node.type == DType::complex64 || node.type == DType::complex128 ||
          (node.kind == TextNode::Kind::operation && node.pattern == nullptr))
        return false;
    return true;
  }
};
template <class E>
inline constexpr TextNodes<E> text_node_table{};
template <class E>
inline constexpr TextNodeList text_nodes{text_node_table<E>.at, symbol_step_count<E>, Tree<E>::leaves,
                                         Tree<E>::constants};
// Whether an expression can be written down so.
template <class E>
constexpr bool all_patterned() {
  if constexpr (Tree<E>::leaves > 0 && E::arity <= SymbolStep::most_operands)
    return text_node_table<E>.complete();
  else
    return false;
}
template <class E>
inline constexpr bool has_text_nodes = all_patterned<E>();

// Throws nothing for a list of an expression that has_text_nodes.
NAX_ENGINE formula::TextBody text_body(const TextNodeList& nodes);

}  // namespace detail
NAX_END
