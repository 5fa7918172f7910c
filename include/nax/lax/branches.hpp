#pragma once

#include <functional>

#include "nax/lax/parts.hpp"
#include "nax/lax/recorded_loops.hpp"
#include "nax/numpy/elementwise/logic.hpp"

// cond and switch_: which function runs. Where the answer differs from example to example of a vmap all of
// them run and each example takes its own.
NAX_BEGIN
namespace detail {

// A predicate as an array of no axes. Numbers and arrays of numbers are true where they are not 0.
template <class P>
Array<bool> predicate(const char* function, const P& p) {
  if constexpr (std::is_same_v<P, Array<bool>>) {
    check_operand(function, p);
    if (p.ndim() != 0) raise<ShapeError>({function, ": the predicate must be a scalar, shape ", p.shape()});
    return p;
  } else if constexpr (Scalar<P>) {
    return Array<bool>(p != P(0));
  } else {
    const auto value = as_array(p);
    using T = typename std::remove_cvref_t<decltype(value)>::value_type;
    if constexpr (std::is_same_v<T, bool>)
      return predicate(function, value);
    else
      return predicate(function, Array<bool>(value != T(0)));
  }
}

// Is it true for any example of the vmaps that it belongs to?
NAX_ENGINE bool any_true(const Array<bool>& p);

// The arrays of one tree where p holds, of the other elsewhere.
template <class Tree>
Tree select_trees(const char* function, const Array<bool>& p, const Tree& yes, const Tree& no) {
  Tree out = yes;
  tree::detail::for_each(
      function,
      [&](auto& leaf, const auto& other) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          if (!(leaf.shape() == other.shape()))
            raise<ShapeError>(
                {function, ": the branches give different shapes: ", leaf.shape(), " and ", other.shape()});
          leaf = Leaf(where(p, leaf, other));
        }
      },
      out, no);
  return out;
}

template <class F, class... Operands>
auto call_branch(const F& f, const Operands&... operands) {
  static_assert(std::is_invocable_v<const F&, const Operands&...>,
                "lax: a branch cannot be called with the operands that are given");
  return to_arrays(std::invoke(f, operands...));
}

// The branch of that number as a step of a program that is being recorded.
template <class Result>
Result branches_recorded(const ArrayBase& index, const std::vector<std::function<Result()>>& branches) {
  std::optional<Result> like;
  std::vector<std::function<LoopArrays(LoopArrays&)>> bodies;
  for (const auto& branch : branches)
    bodies.push_back([&](LoopArrays&) {
      like.emplace(branch());
      LoopArrays outputs;
      list_arrays(*like, outputs);
      return outputs;
    });
  LoopArrays done = record_branches(index, std::vector<LoopBody>(bodies.begin(), bodies.end()));
  std::size_t at = 0;
  return with_arrays(std::move(*like), done, at);
}

template <class F, class G, class... Operands>
auto choose(const Array<bool>& p, const F& f, const G& g, const Operands&... operands) {
  using Result = decltype(call_branch(f, operands...));
  static_assert(std::is_same_v<Result, decltype(call_branch(g, operands...))>,
                "lax::cond: both functions must return the same type: a tree of the same arrays");
  if (!is_batched(p) && known_later(p))
    return branches_recorded<Result>(
        p, {[&] { return call_branch(g, operands...); }, [&] { return call_branch(f, operands...); }});
  if (!is_batched(p)) return p.item() ? call_branch(f, operands...) : call_branch(g, operands...);
  return select_trees<Result>("cond", p, call_branch(f, operands...), call_branch(g, operands...));
}

template <class Functions, std::size_t... i, class... Operands>
auto switch_among(const Functions& functions, std::index_sequence<i...>, const Array<std::int64_t>& index,
                  const Operands&... operands) {
  using Result = decltype(call_branch(std::get<0>(functions), operands...));
  static_assert((std::is_same_v<Result, decltype(call_branch(std::get<i>(functions), operands...))> && ...),
                "lax::switch_: all functions must return the same type: a tree of the same arrays");
  if (!is_batched(index) && known_later(index))
    return branches_recorded<Result>(index,
                                     {[&] { return call_branch(std::get<i>(functions), operands...); }...});
  std::optional<Result> result;
  if (!is_batched(index)) {
    const auto at = static_cast<std::size_t>(
        std::clamp<std::int64_t>(index.item(), 0, static_cast<std::int64_t>(sizeof...(i)) - 1));
    ((at == i ? (void)result.emplace(call_branch(std::get<i>(functions), operands...)) : (void)0), ...);
    return std::move(*result);
  }
  result.emplace(call_branch(std::get<0>(functions), operands...));
  const auto next = [&](std::size_t k, const auto& f) {
    const Array<bool> here = index >= static_cast<std::int64_t>(k);
    result = select_trees<Result>("switch_", here, call_branch(f, operands...), *result);
  };
  ((i > 0 ? next(i, std::get<i>(functions)) : (void)0), ...);
  return std::move(*result);
}

template <class I>
Array<std::int64_t> scalar_index(const char* function, const I& index) {
  if constexpr (std::integral<I>) {
    return host_number(static_cast<std::int64_t>(index));
  } else {
    const auto value = as_array(index);
    using T = typename std::remove_cvref_t<decltype(value)>::value_type;
    static_assert(is_integer_v<T> || std::is_same_v<T, bool>, "lax: the index must be of an integer type");
    check_operand(function, value);
    if (value.ndim() != 0)
      raise<ShapeError>({function, ": the index must be a scalar, shape ", value.shape()});
    return value.template astype<std::int64_t>();
  }
}

}  // namespace detail

namespace lax {

// f(operands...) where the predicate holds, else g(operands...): only that one runs. Where a vmap batches the
// predicate both run and each example takes its own (collectives and costs of both count); what was not taken
// adds nothing to gradients, NaN included. Both return trees of the same arrays. The predicate is a scalar.
// Throws ShapeError if the predicate is no scalar, or under vmap if the branches give different shapes.
template <class P, class F, class G, class... Operands>
auto cond(const P& predicate, const F& f, const G& g, const Operands&... operands) {
  const Array<bool> p = detail::predicate("cond", predicate);
  return detail::choose(p, f, g, detail::to_arrays(operands)...);
}

// The function of that number, of a tuple of them, on the operands; a number that is out of range counts as
// the nearest, as in JAX. Batched as cond is. Throws ValueError without functions, and ShapeError if the
// index is no scalar.
template <class I, class... F, class... Operands>
auto switch_(const I& index, const std::tuple<F...>& functions, const Operands&... operands) {
  static_assert(sizeof...(F) > 0, "lax::switch_: needs at least one function");
  return detail::switch_among(functions, std::index_sequence_for<F...>(),
                              detail::scalar_index("switch_", index), detail::to_arrays(operands)...);
}
// Takes functions of one type as a vector.
template <class I, class F, class... Operands>
auto switch_(const I& index_, const std::vector<F>& functions, const Operands&... operands_) {
  using namespace detail;
  if (functions.empty()) throw ValueError("switch_: needs at least one function");
  const Array<std::int64_t> index = scalar_index("switch_", index_);
  const auto run = [&](const auto&... operands) {
    const auto last = static_cast<std::int64_t>(functions.size()) - 1;
    if (!is_batched(index) && known_later(index)) {
      std::vector<std::function<decltype(call_branch(functions[0], operands...))()>> branches;
      for (const F& f : functions) branches.push_back([&] { return call_branch(f, operands...); });
      return branches_recorded(ArrayBase(index), branches);
    }
    if (!is_batched(index))
      return call_branch(functions[static_cast<std::size_t>(std::clamp<std::int64_t>(index.item(), 0, last))],
                         operands...);
    auto result = call_branch(functions[0], operands...);
    for (std::int64_t k = 1; k <= last; ++k)
      result = select_trees("switch_", Array<bool>(index >= k),
                            call_branch(functions[static_cast<std::size_t>(k)], operands...), result);
    return result;
  };
  return run(to_arrays(operands_)...);
}

// Elements of the second where `predicate` holds, of the third elsewhere: JAX's select, in its order. The
// result has the shape to which all three broadcast.
template <class P, class X, class Y>
auto select(const P& predicate, const X& on_true, const Y& on_false) {
  return where(predicate, on_true, on_false);
}

}  // namespace lax
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE bool any_true(const Array<bool>& p) {
  if (!is_batched(p)) return p.item();
  const ArrayBase flat = on_host(contiguous(p, transforms_handled));
  const bool* values = elements<const bool>(flat, transforms_handled);
  return std::find(values, values + layout_of(flat).size(), true) != values + layout_of(flat).size();
}

}  // namespace detail
NAX_END
#endif
