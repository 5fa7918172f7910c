#pragma once

#include <atomic>

#include "nax/backend/cpu/maps/elementwise.hpp"
#include "nax/backend/cpu/maps/elementwise_pull.hpp"
#include "nax/expr/expressions/formula.hpp"
#include "nax/formula/plan.hpp"

// Kernels of an expression that run its formula, in place of those that a compiler makes (kernels.hpp), with
// the same parameters. A file that uses them compiles a call for each. Code is made at the first call, for
// each choice of gradients that are wanted, and kept as long as the program runs.
NAX_BEGIN
namespace detail {

inline constexpr int most_numbers = 64;

// A formula of an expression, ready to run, for one choice of gradients and of leaves that are the same, and
// of the numbers that it knows.
struct FormulaVariant {
  std::uint64_t key;
  std::vector<std::uint64_t> known;  // as known_numbers gives them
  formula::Plan plan;
  bool serves;                // whether derivatives of the formula are those of the rules
  const formula::Code* code;  // for runs, by numbers that are repeated
  std::vector<std::int64_t> strides;
  const FormulaVariant* next = nullptr;

  // `sums`: the last result is summed, where there is code.
  NAX_ENGINE FormulaVariant(std::uint64_t k, std::vector<std::uint64_t> numbers, const formula::Formula& f,
                            const ExpressionSymbols& symbols, bool differentiates, bool sums);
  // Elements from these addresses on; numbers follow the leaves.
  void run(const void* const* in, void* const* out, std::int64_t n) const {
    plan.kernel().run(code, in, out, strides.data(), n);
  }
};
// The formulas that one expression type has so far, in a list that only grows.
using FormulaVariants = std::atomic<const FormulaVariant*>;
struct FormulaSlot {
  const ExpressionSymbols* symbols;
  FormulaVariants variants{nullptr};
};

NAX_ENGINE void run_forward(FormulaSlot& slot, const void* constants, const void* const* leaves, void* out,
                            std::int64_t n);
NAX_ENGINE void run_pull(FormulaSlot& slot, const void* constants, const void* const* leaves, const void* g,
                         void* const* grads, unsigned added, void* values, std::int64_t n);
// Over a frame, where leaves are repeated along axes of it: the code reads them where they lie. False, and
// nothing done, where one lies apart along lines, all are whole, or there is little to do.
NAX_ENGINE bool run_broadcast(FormulaSlot& slot, const void* constants, const ArrayBase* const* leaves,
                              const Frame& frame, const ArrayBase& result);
// As pull_one_kernel.
NAX_ENGINE void run_pull_one(FormulaSlot& slot, const void* constants, const void* const* leaves,
                             const void* g, void* const* grads, void* values, bool summed, std::int64_t n);

template <class E>
struct FormulaKernels {
  static inline constinit FormulaSlot slot{&expression_symbols<E>};

  static void forward(const void* constants, const void* const* leaves, void* out, std::int64_t n) {
    run_forward(slot, constants, leaves, out, n);
  }
  static void pull(const void* constants, const void* const* leaves, const void* g, void* const* grads,
                   unsigned added, void* values, std::int64_t n) {
    run_pull(slot, constants, leaves, g, grads, added, values, n);
  }
  template <bool summed>
  static void pull_one(const void* constants, const void* const* leaves, const void* g, void* const* grads,
                       unsigned, void* values, std::int64_t n) {
    run_pull_one(slot, constants, leaves, g, grads, values, summed, n);
  }
};

// Whether some number of E is half as wide as its kernels read it from its slot.
template <class E>
inline constexpr bool has_narrow_number = false;
template <class T>
inline constexpr bool has_narrow_number<Constant<T>> = is_floating_v<T> && sizeof(T) == 2;
template <class T, class S>
inline constexpr bool has_narrow_number<Literal<T, S>> = has_narrow_number<Constant<T>>;
template <class Rule, class... A>
inline constexpr bool has_narrow_number<Expr<Rule, A...>> = (has_narrow_number<A> || ...);
// Whether E's kernels are such, in files that run formulas.
template <class E>
inline constexpr bool runs_formula =
    has_formula<E> && !has_narrow_number<E> && Tree<E>::constants <= most_numbers;

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/evaluation/formula_kernels-inl.hpp"
#endif
