#pragma once

#include <concepts>
#include <ostream>
#include <utility>

#include "nax/expr/expressions/expr.hpp"
#include "nax/tree/traits.hpp"

// Calls that NumPy's users write and that nax spells otherwise: refused in a sentence.
NAX_BEGIN

namespace detail {

template <class I>
constexpr void refuse_axis() {
  static_assert(sizeof(I) == 0, "the axis is an option: write f(x, {.axis = 0})");
}
template <class X>
constexpr void refuse_arrays() {
  static_assert(sizeof(X) == 0, "the arrays stand in braces: write f({a, b})");
}

}  // namespace detail

#define NAX_REFUSE_AXIS(name)                     \
  template <detail::ArrayLike X, std::integral I> \
  X name(const X& x, I) {                         \
    detail::refuse_axis<I>();                     \
    return x;                                     \
  }
NAX_REFUSE_AXIS(sum)
NAX_REFUSE_AXIS(prod)
NAX_REFUSE_AXIS(mean)
NAX_REFUSE_AXIS(max)
NAX_REFUSE_AXIS(min)
NAX_REFUSE_AXIS(amax)
NAX_REFUSE_AXIS(amin)
NAX_REFUSE_AXIS(ptp)
NAX_REFUSE_AXIS(var)
NAX_REFUSE_AXIS(std)
NAX_REFUSE_AXIS(median)
NAX_REFUSE_AXIS(any)
NAX_REFUSE_AXIS(all)
NAX_REFUSE_AXIS(argmax)
NAX_REFUSE_AXIS(argmin)
NAX_REFUSE_AXIS(count_nonzero)
NAX_REFUSE_AXIS(nansum)
NAX_REFUSE_AXIS(nanmean)
NAX_REFUSE_AXIS(nanmax)
NAX_REFUSE_AXIS(nanmin)
NAX_REFUSE_AXIS(cumsum)
NAX_REFUSE_AXIS(cumprod)
NAX_REFUSE_AXIS(sort)
NAX_REFUSE_AXIS(argsort)
NAX_REFUSE_AXIS(squeeze)
NAX_REFUSE_AXIS(logsumexp)
#undef NAX_REFUSE_AXIS

namespace detail {

// Whether a type has arrays among its fields, or theirs.
template <class T, int depth = 4>
consteval bool has_arrays() {
  using tree::NodeKind;
  constexpr NodeKind kind = tree::detail::node_kind<T>();
  if constexpr (is_array_v<T>) {
    return true;
  } else if constexpr (depth == 0) {
    return false;
  } else if constexpr (kind == NodeKind::sequence || kind == NodeKind::optional) {
    return has_arrays<typename T::value_type, depth - 1>();
  } else if constexpr (kind == NodeKind::product) {
    return []<std::size_t... i>(std::index_sequence<i...>) {
      return (has_arrays<tree::detail::Child<T, i>, depth - 1>() || ...);
    }
    (std::make_index_sequence<tree::detail::child_count_v<T>>());
  } else {
    return false;
  }
}

template <class S>
concept StructOfArrays = tree::detail::PlainStruct<S> && has_arrays<S>();

}  // namespace detail

template <detail::StructOfArrays S>
std::ostream& operator<<(std::ostream&, const S&) = delete;  // a struct has no text: print its fields

NAX_END
