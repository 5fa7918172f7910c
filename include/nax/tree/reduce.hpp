#pragma once

#include <utility>

#include "nax/tree/for_each.hpp"
#include "nax/tree/leaf_types.hpp"
#include "nax/tree/map.hpp"

NAX_BEGIN
namespace tree {
namespace detail {

// The result's type: that of f(initial value, leaf) over the types of leaves.
template <class F, class Result, class List>
struct Accumulator {
  using type = Result;
};
template <class F, class Result, class First, class... T>
struct Accumulator<F, Result, TypeList<First, T...>> {
  using Next =
      decltype(settle(std::declval<F&>()(std::declval<const Result&>(), std::declval<const First&>())));
  using type = typename Accumulator<F, Next, TypeList<T...>>::type;
};

}  // namespace detail

// f(f(f(init, leaf 0), leaf 1), ...); f may return an expression, and 0.f may start a sum of arrays.
template <class F, class T, class Init>
auto reduce(F&& f, const T& t, Init init) {
  using Result = typename detail::Accumulator<F, Init, leaf_types_t<T>>::type;
  Result result(std::move(init));
  for_each([&](const auto& leaf) { result = Result(detail::settle(f(std::as_const(result), leaf))); }, t);
  return result;
}

}  // namespace tree
NAX_END
