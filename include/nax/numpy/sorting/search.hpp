#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "nax/backend/cpu/reduce/bin_kernels.hpp"
#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/sorting/sort.hpp"

// Searching sorted data, and counting.
NAX_BEGIN

struct SearchsortedOptions {
  std::string_view side = "left";  // or "right"
};

namespace detail {

// Values only: how many elements of the 1-d array `a` come before each of `v`, both of a type with an order.
NAX_ENGINE ArrayBase places_of(const char* function, const ArrayBase& a, const ArrayBase& v, bool right);

template <class T>
Array<std::int32_t> places(const char* function, const Array<T>& a, const Array<T>& v, bool right) {
  static_assert(!is_complex_v<T>, "searchsorted: complex numbers have no order");
  cpu::provide<cpu::SearchKernel, sortable_t<T>>();
  return typed<std::int32_t>(places_of(function, a, v, right));
}

NAX_ENGINE bool is_right(const char* function, std::string_view side);

// The integer, and the side of it, before which as many integers come as before another number.
template <class T>
struct Sought {
  T value;
  bool right;
};
template <class T, class V>
Sought<T> sought_among_integers(V v_, bool right) {
  constexpr T least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
  if constexpr (std::is_integral_v<V>) {
    const auto v = +v_;
    if (std::cmp_greater(v, most)) return {most, true};
    if (std::cmp_less(v, least)) return {least, false};
    return {static_cast<T>(v), right};
  } else {
    const double v = static_cast<double>(v_), whole = right ? std::floor(v) : std::ceil(v);
    constexpr double end = 2. * static_cast<double>(most / 2 + 1);
    if (!(whole < end)) return {most, true};  // NaN comes last
    if (whole < static_cast<double>(least)) return {least, false};
    return {static_cast<T>(whole), right};
  }
}

}  // namespace detail

// Where the elements of v would be inserted into the sorted 1-d array a to keep its order: before equal
// elements, or behind them with .side = "right". Integers are compared with a number v as it is, rounded to
// no type. The result has the shape of v. Throws ValueError if `a` is not 1-d or longer than int32 counts, or
// the side is unknown.
template <detail::ArrayLike A, detail::Operand V>
Array<std::int32_t> searchsorted(const A& a, const V& v, const SearchsortedOptions& options = {}) {
  using T = typename A::value_type;
  const bool right = detail::is_right("searchsorted", options.side);
  if constexpr (Scalar<V>) {
    static_assert(!is_complex_v<V>, "searchsorted: complex numbers have no order");
    if constexpr (is_integer_v<T>) {
      const detail::Sought<T> sought = detail::sought_among_integers<T>(v, right);
      return detail::places<T>("searchsorted", detail::materialise(a), Array<T>(sought.value), sought.right);
    } else {
      using R = weak_promote_t<T, V>;
      return detail::places<R>("searchsorted", detail::as_type<R>(a), Array<R>(v), right);
    }
  } else {
    using R = promote_t<T, typename V::value_type>;
    return detail::places<R>("searchsorted", detail::as_type<R>(a), detail::as_type<R>(v), right);
  }
}

namespace detail {

// For complex numbers, in the order that sorts them. (Sorted runs of these have no binary search over
// packets.)
template <class T>
Array<bool> isin_complex(const Array<T>& x, const Array<T>& tests_) {
  need_plain("isin", "test_elements", tests_);
  std::vector<T> tests = typed<T>(constant(tests_)).to_vector();
  std::erase_if(tests, [](const T& t) { return t != t; });
  std::sort(tests.begin(), tests.end(), rules::math::precedes<T>);
  const ArrayBase values = contiguous(constant(x), transforms_handled);
  Array<bool> result = typed<bool>(allocate(DType::boolean, layout_of(values)));
  const T* from = elements<const T>(values, transforms_handled);
  bool* to = elements<bool>(result, transforms_handled);
  for (std::int64_t i = 0, n = layout_of(values).size(); i < n; ++i)
    to[i] = from[i] == from[i] &&
            std::binary_search(tests.begin(), tests.end(), from[i], rules::math::precedes<T>);
  return result;
}

// For integers that lie close together: a table of those that are there.
template <class T>
bool isin_table(const Array<T>& x, const Array<T>& tests, Array<bool>& found) {
  const ArrayBase among = contiguous(constant(tests), transforms_handled);
  const T* const first = elements<const T>(among, transforms_handled);
  const std::int64_t count = tests.size();
  const auto [low, high] = std::minmax_element(first, first + count);
  using U = std::uint64_t;
  const U least = static_cast<U>(*low), range = static_cast<U>(*high) - least;
  if (range > 6 * static_cast<U>(x.size() + count)) return false;
  std::vector<char> there(static_cast<std::size_t>(range) + 1, false);
  for (std::int64_t i = 0; i < count; ++i)
    there[static_cast<std::size_t>(static_cast<U>(first[i]) - least)] = true;
  const ArrayBase values = contiguous(constant(x), transforms_handled);
  found = typed<bool>(allocate(DType::boolean, layout_of(values)));
  const T* const from = elements<const T>(values, transforms_handled);
  bool* const to = elements<bool>(found, transforms_handled);
  for (std::int64_t i = 0, n = layout_of(values).size(); i < n; ++i) {
    const U at = static_cast<U>(from[i]) - least;
    to[i] = at <= range && there[static_cast<std::size_t>(at)];
  }
  return true;
}

}  // namespace detail

struct IsinOptions {
  bool assume_unique = false;  // of no importance here
  bool invert = false;
};
// Which elements are among those of another array, of any shape; NaN is in none. The result has the shape of
// `element`. Throws ValueError for complex test elements batched by vmap.
template <detail::ArrayLike X, detail::ArrayLike Y>
Array<bool> isin(const X& element, const Y& test_elements, const IsinOptions& options = {}) {
  using R = promote_t<typename X::value_type, typename Y::value_type>;
  const Array<R> x = detail::as_type<R>(element), tests = detail::as_type<R>(test_elements);
  detail::check_operand("isin", x);
  if constexpr (is_complex_v<R>)
    detail::need_host("isin", x, tests);
  else
    detail::device_for("isin", x, tests);  // together
  if (tests.size() == 0) return full_like(x, options.invert).template astype<bool>();
  const auto among = [&]() -> Array<bool> {
    if constexpr (is_complex_v<R>) {
      return detail::isin_complex(x, tests);
    } else {
      if constexpr (is_integer_v<R>) {
        Array<bool> found;
        if (detail::is_known(x) && detail::is_known(tests) && detail::isin_table(x, tests, found))
          return found;
      }
      const Array<R> sorted = sort(detail::reshape_to("isin", tests, Shape{tests.size()}));
      const Array<std::int32_t> at =
          minimum(searchsorted(sorted, x), static_cast<std::int32_t>(sorted.size() - 1));
      return detail::take_positions(sorted, detail::as_type<std::int64_t>(at), 0) == x;
    }
  };
  const detail::where_used_t<Array<bool>, R> found = among();
  return options.invert ? Array<bool>(!found) : found;
}

struct DigitizeOptions {
  bool right = false;  // does a bin include its right edge instead of its left one?
};
namespace detail {

// digitize for descending edges. NaN counts as the greatest in sorted data; behind numbers it is out of
// order, and then counts only for elements that reach one of these, as in NumPy.
template <class R>
Array<std::int32_t> places_descending(const Array<R>& edges, const Array<R>& values, bool right) {
  const auto size = static_cast<std::int32_t>(edges.size());
  Array<R> ascending = edges(slice(none, none, -1));
  if constexpr (is_inexact_v<R>) {
    using Bools = where_used_t<Array<bool>, R>;
    using Places = where_used_t<Array<std::int32_t>, R>;
    const Bools numbers = evaluate(make_expr<rules::equal>(edges, edges));
    const Bools behind = evaluate(make_expr<rules::logical_and>(
        make_expr<rules::logical_not>(Bools(numbers(slice(none, none, -1)))), Bools(numbers(0))));
    const bool clean = is_known(behind) && !any(behind).item();
    if (!clean) {
      const Array<R> lowest(-std::numeric_limits<lane_t<R>>::infinity());
      ascending = evaluate(make_selection<rules::where>(behind, lowest, ascending));
      const Places before = places<R>("digitize", ascending, values, !right);
      const Places skipped = sum(behind);
      return Places(size - where(before > skipped, before, 0));
    }
  }
  return Array<std::int32_t>(size - places<R>("digitize", ascending, values, !right));
}

// Whether the first two edges that differ descend, which NaN next to a number does.
template <class R>
Array<bool> descends(const Array<R>& edges) {
  const Array<R> first = edges(slice(none, -1)), second = edges(slice(1, none));
  const where_used_t<Array<bool>, R> differ = evaluate(make_expr<rules::not_equal>(first, second));
  const where_used_t<Array<bool>, R> falls =
      evaluate(make_expr<rules::logical_not>(make_expr<rules::less_equal>(first, second)));
  return take_along_axis(falls, expand_dims(argmax(differ, {.axis = 0}), 0), 0)(0);
}

}  // namespace detail

// The number of the bin that each element of x falls into; `bins` ascends or descends, as the first two that
// differ do. The result has the shape of x. Throws ValueError if the bins are not 1-d.
template <detail::ArrayLike X, detail::ArrayLike B>
Array<std::int32_t> digitize(const X& x, const B& bins, const DigitizeOptions& options = {}) {
  using R = promote_t<typename X::value_type, typename B::value_type>;
  const Array<R> edges = detail::as_type<R>(bins), values = detail::as_type<R>(x);
  const auto ascending = [&] { return detail::places<R>("digitize", edges, values, !options.right); };
  const auto descending = [&] { return detail::places_descending<R>(edges, values, options.right); };
  if (edges.ndim() != 1 || edges.size() < 2) return ascending();
  const detail::where_used_t<Array<bool>, R> falls = detail::descends(edges);
  // Each example has its own; the values on a GPU are not read.
  if (!detail::is_known(falls)) return where(falls, descending(), ascending());
  return falls.item() ? descending() : ascending();
}

struct BincountOptions {
  std::int64_t minlength = 0;
  std::optional<std::int64_t> length =
      {};  // of the result, whatever the elements are: larger ones do not count
};

namespace detail {

// How long the result of bincount is. Reads the least and the greatest element, where there are elements.
NAX_ENGINE std::int64_t bincount_length_on_device(const ArrayBase& x, std::optional<std::int64_t> length,
                                                  std::int64_t minlength);

// Checks what bincount counts; how long its result is.
template <class T>
std::int64_t bincount_length(const Array<T>& x, const BincountOptions& options) {
  static_assert(is_integer_v<T> || std::is_same_v<T, bool>, "bincount: the array must be of integers");
  check_operand("bincount", x);
  if (x.ndim() != 1) raise<ValueError>({"bincount: the array must be 1-d, shape ", x.shape()});
  if (options.length && *options.length < 0)
    raise<ValueError>({"bincount: the length must not be negative, got ", *options.length});
  if (is_batched(x) && !options.length)
    throw ValueError(
        "bincount: the length of the result depends on the values, which vmap cannot map; give it as "
        ".length");
  if (!is_readable(x)) return bincount_length_on_device(x, options.length, options.minlength);
  const ArrayBase flat = contiguous(x);
  const T* v = elements<const T>(flat, transforms_handled);
  const std::int64_t n = layout_of(flat).size();
  const auto [least, greatest] = cpu::extremes(v, n);
  if constexpr (std::is_signed_v<T>)
    if (n > 0 && least < 0) {
      const T first = *std::find_if(v, v + n, [](T element) { return element < 0; });
      raise<ValueError>({"bincount: the elements must not be negative, got ", first});
    }
  const std::int64_t needed = n > 0 ? static_cast<std::int64_t>(greatest) + 1 : 0;
  return options.length.value_or(std::max(options.minlength, needed));
}

// x as positions in the result; those beyond its end are dropped.
template <class T>
Selection bins_selected(const Array<T>& x, std::int64_t length) {
  const where_used_t<Array<std::int64_t>, T> bin = as_type<std::int64_t>(x), zero(std::int64_t{0}),
                                             end(length), dropped(loops::dropped_index);
  auto step = std::make_shared<GatherStep>();
  step->index = evaluate(
      make_selection<rules::where>(make_expr<rules::logical_and>(make_expr<rules::greater_equal>(bin, zero),
                                                                 make_expr<rules::less>(bin, end)),
                                   bin, dropped));
  step->axes.push_back(0), step->x_axis.push_back(-1), step->index_axis.push_back(0);
  Selection s = Selection::all(Frame{Dims(std::size_t{1}, length), {}});
  s.gather = std::move(step);
  return s;
}

// For each row, how often each bin occurs, or the sums of the weights in it, of the type that they add up in.
// Hidden axes are those of both. Values only.
NAX_ENGINE ArrayBase binned(const ArrayBase& x, const ArrayBase* weights, std::int64_t length);

// The sums of the weights (of ones where there are none) in each bin, for each example of a vmap. Linear in
// the weights, and recorded so.
template <class R, class T>
Array<R> count_bins(const Array<T>& x, const Array<R>* weights, std::int64_t length) {
  if (weights)
    cpu::provide<cpu::BinSumKernel, R>();
  else
    cpu::provide<cpu::CountKernel, T>();
  Array<R> result = from_accumulator<R>(binned(x, weights, length));
  if constexpr (is_inexact_v<R>) {
    if (weights && is_recorded(*weights)) {
      const auto pull = [s = bins_selected(x, length)](const Array<R>& g) { return get(g, s); };
      const auto push = [x, length](const Array<R>& t) { return count_bins<R>(x, &t, length); };
      return record(std::move(result), wrt(*weights, pull, push));
    }
  }
  return result;
}

}  // namespace detail

// How often each of 0, 1, 2... occurs in a 1-d array of integers that are not negative. Under vmap the result
// needs a .length. The result has shape (n,), n = max(x) + 1, but at least `minlength`; or (length,). Throws
// ValueError for negative elements.
template <detail::ArrayLike X>
Array<std::int32_t> bincount(const X& x_, const BincountOptions& options = {}) {
  const Array<typename X::value_type> x = detail::materialise(x_);
  return detail::count_bins<std::int32_t>(x, nullptr, detail::bincount_length(x, options));
}
// The sum of the weights of each; differentiable with regard to the weights.
template <detail::ArrayLike X, detail::ArrayLike W>
auto bincount(const X& x_, const W& weights_, const BincountOptions& options = {}) {
  using R = inexact_t<typename W::value_type>;
  const Array<typename X::value_type> x = detail::materialise(x_);
  const Array<R> weights = detail::as_type<R>(weights_);
  detail::check_operand("bincount", weights);
  if (!(weights.shape() == x.shape()))
    raise<ShapeError>({"bincount: the weights have shape ", weights.shape(), ", the array ", x.shape()});
  return detail::count_bins<R>(x, &weights, detail::bincount_length(x, options));
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/sorting/search-inl.hpp"
#endif
