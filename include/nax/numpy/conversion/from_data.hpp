#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "nax/core/bools.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/manipulation/join.hpp"

// Arrays from data that lies elsewhere; all copy.
NAX_BEGIN
namespace detail {
// Numbers from outside as elements. Bools are not read as such: theirs may be any bytes.
template <class T, class S>
void copy_numbers(const S* data, std::size_t n, T* out) {
  if constexpr (std::is_same_v<S, bool>) {
    if (n > 0) std::memcpy(out, data, n);
    normalize_bools(out, n);
  } else {
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<T>(data[i]);
  }
}
}  // namespace detail

// Numbers at `data` that fill the shape, row-major.
template <Scalar S>
Array<element_t<S>> asarray(const S* data, const Shape& shape) {
  using T = element_t<S>;
  Array<T> a = detail::typed<T>(detail::allocate_on_host(dtype_of<T>, detail::new_frame("asarray", shape)));
  detail::copy_numbers(data, static_cast<std::size_t>(a.size()), detail::elements<T>(a));
  return detail::typed<T>(detail::placed(std::move(a)));
}
namespace detail {
[[noreturn, gnu::cold]] inline void throw_count(const char* function, std::size_t have, const Shape& shape) {
  raise<ShapeError>({function, ": cannot make an array of shape ", shape, " from ", have, " numbers"});
}
template <class Range>
auto from_range(const char* function, const Range& range, const Shape& shape) {
  using T = element_t<std::remove_cv_t<typename Range::value_type>>;
  if (count_elements(function, shape) != static_cast<std::int64_t>(range.size()))
    throw_count(function, range.size(), shape);
  Array<T> a = typed<T>(allocate_on_host(dtype_of<T>, new_frame(function, shape)));
  T* out = elements<T>(a);
  if constexpr (requires { range.data(); })
    copy_numbers(range.data(), range.size(), out);
  else  // std::vector<bool>
    for (const bool x : range) *out++ = x;
  return typed<T>(placed(std::move(a)));
}
}  // namespace detail

// Throws ShapeError where the numbers do not fill the shape.
template <Scalar S, std::size_t extent>
auto asarray(std::span<S, extent> data, const Shape& shape) {
  return detail::from_range("asarray", data, shape);
}
template <Scalar S, std::size_t extent>
auto asarray(std::span<S, extent> data) {
  return detail::from_range("asarray", data, Shape{data.size()});
}
template <Scalar S>
auto asarray(const std::vector<S>& data, const Shape& shape) {
  return detail::from_range("asarray", data, shape);
}
template <Scalar S>
auto asarray(const std::vector<S>& data) {
  return detail::from_range("asarray", data, Shape{data.size()});
}
// An array as it is; a number as 0-d.
template <detail::Operand X>
auto asarray(const X& x) {
  return detail::as_array(x);
}

// 1-d; the element type is that of the numbers.
template <Scalar S>
auto array(const std::vector<S>& data) {
  return detail::from_range("array", data, Shape{data.size()});
}
template <Scalar S>
auto array(const std::vector<S>& data, const Shape& shape) {
  return detail::from_range("array", data, shape);
}
// 2-d, 3-d...: vectors of vectors. Ragged ones throw.
template <class Inner>
auto array(const std::vector<std::vector<Inner>>& data) {
  std::vector<decltype(array(data[0]))> rows;
  for (const auto& row : data) rows.push_back(array(row));
  return detail::stack_on("array", rows, 0);
}
template <Scalar S>
auto array(std::initializer_list<S> data) {
  return detail::from_range("array", std::vector<S>(data), Shape{data.size()});
}
// Stacks arrays of one shape, as jnp.array([a, b]) does.
template <class T>
Array<T> array(const std::vector<Array<T>>& list) {
  return detail::stack_on("array", list, 0);
}
template <Expression E>
auto array(const std::vector<E>& list) {
  return stack(list);
}
template <detail::ArrayLike X>
auto array(std::initializer_list<X> list) {
  return detail::stack_on("array", std::vector<Array<typename X::value_type>>(list.begin(), list.end()), 0);
}
// A copy; a number as 0-d.
template <detail::Operand X>
auto array(const X& x) {
  if constexpr (Scalar<X>)
    return detail::as_array(x);
  else
    return copy(x);
}

NAX_END
