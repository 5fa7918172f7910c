#pragma once

#include "nax/lax/branches.hpp"
#include "nax/lax/scan.hpp"
#include "nax/numpy/creation/creation.hpp"

// fori_loop and while_loop. They are ordinary loops: values are there while a function is differentiated, so
// that reverse mode passes through both.
NAX_BEGIN
namespace detail {

template <class Carry, class F, class... X>
Carry call_body(const char* function, const F& body, const CarryShapes& shapes, const X&... x) {
  static_assert(std::is_invocable_v<const F&, const X&...>,
                "lax: the loop's body cannot be called with its carry");
  auto next = to_arrays(body(x...));
  static_assert(
      std::is_same_v<decltype(next), Carry>,
      "lax: the carry that the loop's body returns must have the type of init: a tree of the same arrays");
  shapes.check(function, next);
  return next;
}

// The loop as one step of a program that is being recorded: its functions are called once.
template <class Carry, class Condition, class Body>
Carry while_recorded(const char* function, const Condition& condition, const Body& body, const Carry& carry) {
  const CarryShapes shapes(carry);
  const auto carry_of = [&](LoopArrays& inputs) {
    std::size_t at = 0;
    return with_arrays(carry, inputs, at);
  };
  LoopArrays own;
  list_arrays(carry, own);
  LoopArrays done = record_while(
      [&](LoopArrays& inputs) {
        const Carry now = carry_of(inputs);
        return LoopArrays{predicate(function, condition(now))};
      },
      [&](LoopArrays& inputs) {
        const Carry now = carry_of(inputs);
        Carry next = call_body<Carry>(function, body, shapes, now);
        const Array<bool> more = predicate(function, condition(now));
        if (is_batched(more)) next = select_trees(function, more, next, now);
        LoopArrays outputs;
        list_arrays(next, outputs);
        return outputs;
      },
      std::move(own));
  return carry_of(done);
}

template <class Carry, class Condition, class Body>
Carry run_while(const char* function, const Condition& condition, const Body& body, Carry carry) {
  const CarryShapes shapes(carry);
  for (;;) {
    const Array<bool> more = predicate(function, condition(std::as_const(carry)));
    if (known_later(more)) return while_recorded(function, condition, body, carry);
    if (!any_true(more)) return carry;
    Carry next = call_body<Carry>(function, body, shapes, std::as_const(carry));
    carry = is_batched(more) ? select_trees(function, more, next, carry) : std::move(next);
  }
}

template <class F, class I, class Init>
auto loop_carry(const Init& init) {
  auto carry = to_arrays(init);
  using Carry = decltype(carry);
  if constexpr (Scalar<Init> && std::is_invocable_v<const F&, const I&, const Carry&>) {
    using After = arrays_t<std::invoke_result_t<const F&, const I&, const Carry&>>;
    if constexpr (is_array_v<After>)
      return After(static_cast<typename After::value_type>(init));
    else
      return carry;
  } else {
    return carry;
  }
}

}  // namespace detail

namespace lax {

// body(carry) while condition(carry), a scalar, holds. Under vmap with a condition that differs from example
// to example the loop runs until none holds, and an example that is done keeps its carry. The body keeps the
// carry's types (checked when compiled) and shapes (ShapeError).
template <class Condition, class Body, class Init>
auto while_loop(const Condition& condition, const Body& body, const Init& init) {
  auto carry = detail::to_arrays(detail::lift_as<detail::parameter_t<Body, 0>>(init));
  return detail::run_while("while_loop", condition, body, std::move(carry));
}

// carry = body(i, carry) for i from lower up to but without upper. i is an integer, or an Array where body
// says so or a bound is one; bounds that a vmap batches make it a while_loop. Throws ShapeError if a bound is
// no scalar or the body changes a shape of the carry.
template <class L, class U, class Body, class Init>
auto fori_loop(const L& lower, const U& upper, const Body& body, const Init& init) {
  using namespace detail;
  if constexpr (std::integral<L> && std::integral<U>) {
    using Index = std::conditional_t<(sizeof(L) > 4 || sizeof(U) > 4), std::int64_t, std::int32_t>;
    using P = parameter_t<Body, 0>;
    constexpr bool as_array = is_array_v<P>;
    using Passed = std::conditional_t<as_array, P, std::conditional_t<std::integral<P>, P, Index>>;
    auto carry = loop_carry<Body, Passed>(lift_as<parameter_t<Body, 1>>(init));
    using Carry = decltype(carry);
    const CarryShapes shapes(carry);
    if constexpr (as_array) {
      using T = typename P::value_type;
      const std::int64_t first = static_cast<std::int64_t>(lower), end = static_cast<std::int64_t>(upper);
      if (const std::int64_t turns = end - first; records_loop(turns)) {
        const auto turn = [&](const Carry& now, const P& i) {
          return call_body<Carry>("fori_loop", body, shapes, i, now);
        };
        // The index comes from an array of all, or, where that would be large, is counted.
        if (turns <= std::int64_t{1} << 16)
          return scan_recorded<None>(
                     [&](const Carry& now, const P& i) {
                       return std::pair{turn(now, i), none};
                     },
                     carry, P(arange<std::int64_t>(first, end).template astype<T>()), turns, false)
              .first;
        using Counted = std::pair<Array<std::int64_t>, Carry>;
        return scan_recorded<None>(
                   [&](const Counted& now, None) {
                     return std::pair{Counted{now.first + std::int64_t{1},
                                              turn(now.second, P(now.first.template astype<T>()))},
                                      none};
                   },
                   Counted{first, carry}, none, turns, false)
            .first.second;
      }
    }
    for (auto i = static_cast<std::int64_t>(lower), end = static_cast<std::int64_t>(upper); i < end; ++i) {
      if constexpr (as_array)
        carry = call_body<Carry>("fori_loop", body, shapes, Passed(static_cast<typename P::value_type>(i)),
                                 std::as_const(carry));
      else
        carry = call_body<Carry>("fori_loop", body, shapes, static_cast<Passed>(i), std::as_const(carry));
    }
    return carry;
  } else {
    const Array<std::int64_t> low = scalar_index("fori_loop", lower), high = scalar_index("fori_loop", upper);
    using P = parameter_t<Body, 0>;
    using Index = std::conditional_t<is_array_v<P>, P, Array<std::int32_t>>;
    auto carry = loop_carry<Body, Index>(lift_as<parameter_t<Body, 1>>(init));
    using Carry = decltype(carry);
    using State = std::pair<Array<std::int64_t>, Carry>;
    const auto more = [&](const State& s) { return Array<bool>(s.first < high); };
    const CarryShapes shapes(carry);
    const auto next = [&](const State& s) {
      return State{s.first + std::int64_t{1},
                   call_body<Carry>("fori_loop", body, shapes,
                                    s.first.template astype<typename Index::value_type>(), s.second)};
    };
    return run_while("fori_loop", more, next, State{low, std::move(carry)}).second;
  }
}

}  // namespace lax
NAX_END
