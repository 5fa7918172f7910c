#pragma once

#include "nax/lax/associative_scan.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/numpy/sorting/sort.hpp"

// Running sums, products, extrema and logarithms of sums along one axis, from either end.
NAX_BEGIN
namespace lax {
struct CumulativeOptions {
  std::int64_t axis = 0;
  bool reverse = false;
};
}  // namespace lax

namespace detail {

// Values only: the places of running maxima (minima) along an axis.
NAX_ENGINE ArrayBase running_places(const char* function, const ArrayBase& x, int axis, bool greatest,
                                    bool reverse);

template <class X>
auto running_extremum(const char* function, const X& x_, bool greatest,
                      const lax::CumulativeOptions& options) {
  const auto x = as_array(x_);
  using T = typename std::remove_cvref_t<decltype(x)>::value_type;
  static_assert(!is_complex_v<T>, "cummax and cummin: complex numbers have no order");
  check_operand(function, x);
  const int axis = normalize_axis(function, options.axis, x.ndim());
  cpu::provide<cpu::RunningBestKernel, sortable_t<T>>();
  const Array<std::int64_t> places =
      typed<std::int64_t>(running_places(function, x, axis, greatest, options.reverse));
  return get(x, along_selection(layout_of(x), places, axis));
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
  return nax::detail::running_extremum("cummax", x, true, options);
}
// Running minima along an axis. Throws IndexError if `axis` is out of bounds.
template <nax::detail::ArrayLike X>
auto cummin(const X& x, const CumulativeOptions& options = {}) {
  return nax::detail::running_extremum("cummin", x, false, options);
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

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase running_places(const char* function, const ArrayBase& x, int axis, bool greatest,
                                    bool reverse) {
  const ArrayBase from = contiguous(x, transforms_handled);
  ArrayBase places = allocate(DType::int64, layout_of(from), device_for(function, from));
  backend::run(places.device(),
               ops::RunningBest{greatest, lines_of(layout_of(from), axis), reverse, from.dtype()},
               {device_data(from), device_data(places)});
  return places;
}

}  // namespace detail
NAX_END
#endif
