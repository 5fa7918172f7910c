// The part of the engine for rules on arrays and on symbols of float and of double, which files that call it
// name (expr/expressions/engine_rules.hpp), and for what gradients of these types are made of.
#define NAX_COMPILED
#define NAX_EXTERN
#include "nax/compiled/provide.hpp"
#include "nax/core.hpp"
#include "nax/rules/activations.hpp"

NAX_BEGIN
namespace detail {

template <class Rule, class... A>
ArrayBase value_of_engine(const ArrayBase* operands) {
  return RecordedOpFor<Rule, A...>::value(operands);
}
template <class Rule, class... A>
void vjp_of_engine(const ArrayBase& g, const ArrayBase* operands, const ArrayBase& y, ArrayBase* shares) {
  RecordedOpFor<Rule, A...>::vjp(g, operands, y, shares);
}
template <class Rule, class... A>
int symbol_of_engine(const int* operands) {
  return SymbolOf<Rule, A...>::record(operands);
}
template <class Rule, class... A>
void symbol_shares_of_engine(const int* operands, int g, int y, int* shares) {
  SymbolOf<Rule, A...>::pull(operands, g, y, shares);
}

template <class Rule, class... A>
void emit_rule() {
  cpu::emit(&value_of_engine<Rule, A...>);
  cpu::emit(&symbol_of_engine<Rule, A...>);
  if constexpr (Carries<Expr<Rule, Array<A>...>>::value) {
    cpu::emit(&vjp_of_engine<Rule, A...>);
    cpu::emit(&symbol_shares_of_engine<Rule, A...>);
  }
}
template <class T>
void emit_rules() {
  EngineUnary::visit([]<class Rule>() { emit_rule<Rule, T>(); });
  EngineBinary::visit([]<class Rule>() { emit_rule<Rule, T, T>(); });
  emit_rule<rules::where, bool, T, T>();
}
void emit_rules() {
  emit_rules<float>();
  emit_rules<double>();
}

}  // namespace detail
NAX_END

#define NAX_T float
#include "nax/compiled/fixed_functions.inc"
#undef NAX_T
#define NAX_T double
#include "nax/compiled/fixed_functions.inc"
