#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"

// Where elements are not zero, and selection by conditions. How many there are depends on the values, so that
// none of these works on an array batched by vmap: there, `where` with three arguments says the same.
NAX_BEGIN
namespace detail {

// The types of a condition: an array, or numbers in a vector.
template <class X>
concept Condition = ArrayLike<X> || IsVectorOfNumbers<X>::value;

template <class X>
Array<bool> truth(const char*, const std::vector<X>& x) {
  return host_numbers<bool>(x);
}
template <class X>
Array<bool> truth(const char* function, const X& x) {
  const auto a = as_array(x);
  using T = typename decltype(a)::value_type;
  check_operand(function, a);
  if (is_batched(a))
    throw_batched(
        function,
        "the number of elements found would differ between examples: use where with three arguments");
  if constexpr (std::is_same_v<T, bool>)
    return a;
  else
    return evaluate(make_expr<rules::not_equal>(a, T(0)));
}

// Row-major positions as one index an axis, where they lie.
[[gnu::cold]] NAX_ENGINE std::vector<Array<std::int32_t>> unravelled(const Array<std::int64_t>& positions,
                                                                     const Shape& shape);

}  // namespace detail

namespace detail {

NAX_ENGINE std::vector<Array<std::int32_t>> indices_of_true(const char* function, const Array<bool>& mask);

// No list of axes could say whether a 0-d array holds.
NAX_ENGINE std::vector<Array<std::int32_t>> indices_by_axis(const char* function, const Array<bool>& mask);
// For structured bindings: as many arrays as the caller names.
template <std::size_t n>
std::array<Array<std::int32_t>, n> bound_indices(const char* function, const Array<bool>& mask) {
  if (mask.ndim() != static_cast<int>(n))
    raise<ShapeError>({function, ": ", n, " axes are asked for, the array has shape ", mask.shape()});
  std::vector<Array<std::int32_t>> list = indices_by_axis(function, mask);
  std::array<Array<std::int32_t>, n> all;
  for (std::size_t i = 0; i < n; ++i) all[i] = std::move(list[i]);
  return all;
}

}  // namespace detail

// The indices of the elements that are not zero: one int32 array an axis. Each has shape (count,). Throws
// ValueError for a 0-d array, and for an axis longer than int32 counts.
template <detail::ArrayLike X>
std::vector<Array<std::int32_t>> nonzero(const X& x) {
  return detail::indices_by_axis("nonzero", detail::truth("nonzero", x));
}
// where with one argument, as NumPy has it: nonzero. Each has shape (count,). Throws ValueError for a 0-d
// condition or one batched by vmap.
template <detail::ArrayLike X>
std::vector<Array<std::int32_t>> where(const X& condition) {
  return detail::indices_by_axis("where", detail::truth("where", condition));
}
// The indices as a std::array of n, which structured bindings take: auto [i, j] = where<2>(mask). Throws
// ShapeError where the array has not n axes.
template <std::size_t n, detail::ArrayLike X>
std::array<Array<std::int32_t>, n> nonzero(const X& x) {
  return detail::bound_indices<n>("nonzero", detail::truth("nonzero", x));
}
template <std::size_t n, detail::ArrayLike X>
std::array<Array<std::int32_t>, n> where(const X& condition) {
  return detail::bound_indices<n>("where", detail::truth("where", condition));
}
// Indices of the elements that are not zero, as rows of one array of shape (count, ndim). Throws ValueError
// for an array batched by vmap.
template <detail::ArrayLike X>
Array<std::int32_t> argwhere(const X& x) {
  const Array<bool> mask = detail::truth("argwhere", x);
  const auto indices = detail::indices_of_true("argwhere", mask);
  if (indices.empty()) return zeros<std::int32_t>({mask.item() ? 1 : 0, 0});
  return detail::stack_on("argwhere", indices, 1);
}
// Positions in the flattened array. The result has shape (count,). Throws ValueError for an array batched by
// vmap, and for more elements than int32 counts.
template <detail::ArrayLike X>
Array<std::int32_t> flatnonzero(const X& x) {
  const Array<bool> mask = detail::truth("flatnonzero", x);
  detail::check_places("flatnonzero", mask.size() - 1);
  const Array<std::int64_t> positions = detail::true_positions("flatnonzero", mask);
  return detail::typed<std::int32_t>(detail::placed(detail::as_dtype(positions, DType::int32)));
}

// The elements of the flattened array where the flattened condition is not zero. The result has shape
// (count,). Throws ShapeError if condition and array differ in size, and ValueError for a condition batched
// by vmap.
template <detail::Condition C, detail::ArrayLike X>
auto extract(const C& condition, const X& x_) {
  const auto x = detail::as_array(x_);
  const Array<bool> mask = detail::truth("extract", condition);
  if (mask.size() != x.size())
    raise<ShapeError>({"extract: the condition must have as many elements as the array: ", mask.shape(),
                       " and ", x.shape()});
  return detail::take_positions(detail::reshape_to("extract", x, Shape{x.size()}),
                                detail::true_positions("extract", mask), 0);
}

struct CompressOptions {
  Axis axis = {};  // of the flattened array when not given
};
// The slices of an axis where the 1-d condition holds; a shorter condition is false beyond its end. The
// result has the shape of x with extent count along `axis`; without `axis` x is flattened and the result 1-d.
// Throws ValueError for a condition that is not 1-d or is batched by vmap, and IndexError if it is true
// beyond the axis.
template <detail::Condition C, detail::ArrayLike X>
auto compress(const C& condition, const X& x_, const CompressOptions& options = {}) {
  auto x = detail::as_array(x_);
  const Array<bool> mask = detail::truth("compress", condition);
  if (mask.ndim() != 1) raise<ValueError>({"compress: condition must be a 1-d array, shape ", mask.shape()});
  if (!options.axis.given()) x = detail::reshape_to("compress", x, Shape{x.size()});
  const int axis =
      detail::normalize_axis("compress", options.axis.given() ? options.axis.list()[0] : 0, x.ndim());
  return detail::take_positions(
      x, detail::checked_index("compress", detail::true_positions("compress", mask), axis, x.shape(axis)),
      axis);
}

template <class T>
struct SelectOptions {
  T default_ = T(0);  // `default` is a keyword
};
// Elements of the first choice whose condition holds; the default where none does. The result has the shape
// to which conditions and choices broadcast. Throws ValueError unless there are as many choices as
// conditions, and at least one.
template <class T>
Array<T> select(const std::vector<Array<bool>>& conditions, const std::vector<Array<T>>& choices,
                const SelectOptions<std::type_identity_t<T>>& options = {}) {
  if (conditions.size() != choices.size() || choices.empty())
    raise<ValueError>({"select: list of cases must be the same length as list of conditions, and not empty: ",
                       choices.size(), " and ", conditions.size()});
  Array<T> out(options.default_);
  for (std::size_t i = choices.size(); i-- > 0;)
    out = detail::evaluate(detail::make_selection<rules::where>(conditions[i], choices[i], out));
  return out;
}

// Select with braces: select({x < 0, x > 1}, {a, b}). The choices are arrays or expressions of one type, or
// numbers.
template <detail::Operand X>
auto select(const std::vector<Array<bool>>& conditions, std::initializer_list<X> choices,
            const SelectOptions<typename decltype(detail::as_array(std::declval<const X&>()))::value_type>&
                options = {}) {
  using T = typename decltype(detail::as_array(std::declval<const X&>()))::value_type;
  std::vector<Array<T>> all;
  for (const X& x : choices) all.push_back(detail::as_array(x));
  return nax::select(conditions, all, options);
}

namespace detail {
// Select with a list; calls name `n`, so its vectors are made where it is called.
template <int n, class T>
Array<T> select_listed(const std::vector<Array<bool>>& conditions, std::initializer_list<Array<T>> choices,
                       const SelectOptions<T>& options) {
  return nax::select(conditions, std::vector<Array<T>>(choices), options);
}
}  // namespace detail

// Braces of arrays and expressions mixed have no type to deduce. (Templates, so unused overloads cost no
// compile time.)
#define NAX_SELECT(T)                                                                                  \
  template <int n = 0>                                                                                 \
  Array<T> select(const std::vector<Array<bool>>& conditions, std::initializer_list<Array<T>> choices, \
                  const SelectOptions<T>& options = {}) {                                              \
    return detail::select_listed<n>(conditions, choices, options);                                     \
  }
NAX_SELECT(float)
NAX_SELECT(double)
NAX_SELECT(std::int32_t)
NAX_SELECT(std::int64_t)
NAX_SELECT(std::complex<float>)
NAX_SELECT(std::complex<double>)
#undef NAX_SELECT

struct ChooseOptions {
  const char* mode = "raise";  // or "wrap", "clip"
};
// out[i] = choices[index[i]][i], all broadcast together. The result has the shape to which they broadcast.
// Throws ValueError for an empty list or an unknown mode, IndexError for an index out of bounds, and
// ShapeError if shapes do not broadcast.
template <detail::ArrayLike I, class T>
auto choose(const I& index_, const std::vector<Array<T>>& choices, const ChooseOptions& options = {}) {
  if (choices.empty()) throw ValueError("choose: need at least one array to choose from");
  const auto index = detail::as_array(index_);
  Frame frame{index.shape(), {}};
  for (const Array<T>& x : choices) frame = detail::broadcast("choose", frame, Frame{x.shape(), {}});
  std::vector<Array<T>> all;
  for (const Array<T>& x : choices) all.push_back(detail::broadcast_visible("choose", x, frame.shape));
  const Array<T> stacked = detail::stack_on("choose", all, 0);
  const Array<std::int64_t> positions =
      detail::positions_of("choose", index, 0, static_cast<std::int64_t>(choices.size()), options.mode);
  Dims one = frame.shape;
  one.insert(0, 1);
  const auto spread =
      detail::reshape_to("choose", detail::broadcast_visible("choose", positions, frame.shape), one);
  return detail::reshape_to(
      "choose", detail::get(stacked, detail::along_selection(detail::layout_of(stacked), spread, 0)),
      frame.shape);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/sorting/nonzero-inl.hpp"
#endif
