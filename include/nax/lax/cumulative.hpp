#pragma once

#include "nax/lax/associative_scan.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/sorting/search.hpp"

// Running sums, products, extrema and logarithms of sums along one axis, from either end.
NAX_BEGIN
namespace lax {
struct CumulativeOptions {
  std::int64_t axis = 0;
  bool reverse = false;
};
}  // namespace lax

namespace detail {

// Where the running maximum (minimum) is found: the first of equal ones as the scan goes; a NaN stays.
template <class T, class Better>
Array<std::int64_t> running_positions(const char* function, const Array<T>& x, int axis, bool reverse,
                                      const Better& better) {
  need_host(function, x);
  const Array<T> from = typed<T>(contiguous(x, transforms_handled));
  Array<std::int64_t> result = typed<std::int64_t>(allocate_on_host(DType::int64, layout_of(from)));
  const loops::Lines lines = lines_of(layout_of(from), axis);
  const T* const a = elements<const T>(from, transforms_handled);
  std::int64_t* const to = elements<std::int64_t>(result);
  parallel_for(lines.outer * lines.inner, 1 + (std::int64_t{1} << 14) / (lines.n + 1),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t line = begin; line < end; ++line) {
                   const std::int64_t first = line / lines.inner * lines.n * lines.inner + line % lines.inner;
                   std::int64_t best = -1;
                   for (std::int64_t k = 0; k < lines.n; ++k) {
                     const std::int64_t i = reverse ? lines.n - 1 - k : k;
                     const T value = a[first + i * lines.inner];
                     if (best < 0 || better(value, a[first + best * lines.inner])) best = i;
                     to[first + i * lines.inner] = best;
                   }
                 }
               });
  return result;
}
template <class T>
bool is_nan_element(T x) {
  if constexpr (is_inexact_v<T>)
    return x != x;
  else
    return false;
}

template <class X, class Better>
auto running_extremum(const char* function, const X& x_, const lax::CumulativeOptions& options,
                      const Better& better) {
  const auto x = as_array(x_);
  static_assert(!is_complex_v<typename std::remove_cvref_t<decltype(x)>::value_type>,
                "cummax and cummin: complex numbers have no order");
  check_operand(function, x);
  const int axis = normalize_axis(function, options.axis, x.ndim());
  return take_along_axis(x, running_positions(function, x, axis, options.reverse, better), axis);
}

}  // namespace detail

namespace lax {

// Running sums of x along `axis`, `reverse` from its end; bool counts as int32. Throws IndexError if `axis`
// is out of bounds.
template <nax::detail::ArrayLike X>
auto cumsum(const X& x_, const CumulativeOptions& options = {}) {
  using R = nax::detail::cumulative_t<typename X::value_type>;
  const Array<typename X::value_type> x = nax::detail::as_array(x_);
  nax::detail::check_reducible("cumsum", x);
  return nax::detail::cumsum_axis<R>(x, nax::detail::normalize_axis("cumsum", options.axis, x.ndim()),
                                     options.reverse);
}
// Running products along an axis. Throws IndexError if `axis` is out of bounds.
template <nax::detail::ArrayLike X>
auto cumprod(const X& x_, const CumulativeOptions& options = {}) {
  using R = nax::detail::cumulative_t<typename X::value_type>;
  const Array<typename X::value_type> x = nax::detail::as_array(x_);
  nax::detail::check_reducible("cumprod", x);
  return nax::detail::cumprod_axis<R>(x, nax::detail::normalize_axis("cumprod", options.axis, x.ndim()),
                                      options.reverse);
}
// Running maxima and minima along `axis`, of real types. A gradient goes to the element that was taken, the
// first of equal ones. Throws IndexError if `axis` is out of bounds.
template <nax::detail::ArrayLike X>
auto cummax(const X& x, const CumulativeOptions& options = {}) {
  return nax::detail::running_extremum("cummax", x, options, [](auto value, auto best) {
    return value > best || (nax::detail::is_nan_element(value) && !nax::detail::is_nan_element(best));
  });
}
// Running minima along an axis. Throws IndexError if `axis` is out of bounds.
template <nax::detail::ArrayLike X>
auto cummin(const X& x, const CumulativeOptions& options = {}) {
  return nax::detail::running_extremum("cummin", x, options, [](auto value, auto best) {
    return value < best || (nax::detail::is_nan_element(value) && !nax::detail::is_nan_element(best));
  });
}
// log(cumsum(exp(x))) along `axis`, without overflow. Floating types. Throws IndexError if `axis` is out of
// bounds.
template <nax::detail::ArrayLike X>
auto cumlogsumexp(const X& x_, const CumulativeOptions& options = {}) {
  const auto x = nax::detail::as_array(x_);
  static_assert(is_floating_v<typename std::remove_cvref_t<decltype(x)>::value_type>,
                "cumlogsumexp: the type must be floating");
  nax::detail::normalize_axis("cumlogsumexp", options.axis, x.ndim());
  return associative_scan([](const auto& a, const auto& b) { return logaddexp(a, b); }, x,
                          {.reverse = options.reverse, .axis = options.axis});
}

}  // namespace lax
NAX_END
