#pragma once

#include <utility>
#include <vector>

#include "nax/lax/scan.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/transform/checkpoint.hpp"

// Linear filters, by SciPy's names.
NAX_BEGIN
namespace signal {

namespace detail {

// Is it a plain array of this machine: neither recorded, nor batched, nor unknown until a replay?
inline bool can_be_read(const ArrayBase& a) {
  return !nax::detail::is_recorded(a) && nax::detail::is_known(a);
}

// The filter along the first axis of x as one loop over its elements. b, without its first, and a have one
// coefficient for each element of the state, which are divided by a[0].
template <class T>
std::pair<Array<T>, Array<T>> filter_rows(T first, const Array<T>& b, const Array<T>& a,
                                          const Array<T>& state, const Array<T>& x) {
  const std::int64_t rows = x.shape(0), order = b.size(), lanes = rows == 0 ? 0 : x.size() / rows;
  Array<T> y = empty_like(x), after = copy(state);
  const Array<T> from = nax::detail::typed<T>(nax::detail::contiguous(x));
  const std::vector<T> bs = b.to_vector(), as = a.to_vector();
  const T* const in = from.data();
  T *const out = nax::detail::elements<T>(y), *const z = nax::detail::elements<T>(after);
  for (std::int64_t n = 0; n < rows; ++n) {
    const T* const now = in + n * lanes;
    T* const to = out + n * lanes;
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      to[lane] = order > 0 ? first * now[lane] + z[lane] : first * now[lane];
    for (std::int64_t k = 0; k < order; ++k) {
      T* const own = z + k * lanes;
      const T by = bs[static_cast<std::size_t>(k)], back = as[static_cast<std::size_t>(k)];
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        own[lane] = (k + 1 < order ? own[lanes + lane] : T(0)) + by * now[lane] - back * to[lane];
    }
  }
  return {std::move(y), std::move(after)};
}

}  // namespace detail

struct LfilterOptions {
  int axis = -1;
};

// {y, the state after it}: the filter with numerator b and denominator a along an axis of x, from the state
// zi: a[0] y[n] = b[0] x[n] + b[1] x[n - 1] + ... - a[1] y[n - 1] - ..., in the transposed direct form II: a
// loop over the elements, and where it is differentiated, mapped or recorded one scan. b and a have one axis,
// zi x's shape with max(b.size(), a.size()) - 1 along the axis. y has x's shape. Differentiable in all four;
// goes under vmap and jit. Throws ValueError for b or a of no or several axes or of no elements and, where it
// can be read, for a[0] = 0; IndexError for an axis that x does not have, ShapeError for zi of another shape.
template <class B, class A, class X, nax::detail::ArrayLike Z>
auto lfilter(const B& b_, const A& a_, const X& x_, const Z& zi, const LfilterOptions& options = {}) {
  const auto given = nax::detail::as_array(x_);
  using T = typename std::remove_cvref_t<decltype(given)>::value_type;
  static_assert(is_inexact_v<T>, "lfilter: x must be an array of floating numbers");
  const Array<T> b = nax::detail::as_array(b_), a = nax::detail::as_array(a_);
  if (b.ndim() != 1 || a.ndim() != 1 || b.size() == 0 || a.size() == 0)
    raise<ValueError>({"lfilter: b and a must have one axis and at least one element, not shapes ", b.shape(),
                       " and ", a.shape()});
  if (nax::detail::is_known(a) && stop_gradient(a).to_vector()[0] == T(0))
    throw ValueError("lfilter: a[0] must not be 0");
  const int ndim = given.ndim();
  if (options.axis < -ndim || options.axis >= ndim)
    raise<IndexError>({"lfilter: axis ", options.axis, " is out of bounds for x of shape ", given.shape()});
  const Array<T> x = moveaxis(given, options.axis, 0);
  const std::int64_t order = std::max(b.size(), a.size()) - 1;
  Shape state_shape = x.shape(), column = Dims(static_cast<std::size_t>(ndim), 1);
  state_shape[0] = column[0] = order;
  const Array<T> before = nax::detail::as_array(zi);
  const Array<T> state = before.ndim() == ndim ? Array<T>(moveaxis(before, options.axis, 0)) : before;
  if (state.shape() != state_shape)
    raise<ShapeError>({"lfilter: zi must have ", order, " elements along the axis and x's shape ",
                       given.shape(), " otherwise, not shape ", before.shape()});
  // Coefficients as columns, by a's first.
  const auto later = [&](const Array<T>& c) -> Array<T> {
    const Array<T> rest = c(slice(1, none)) / a(0);
    return concatenate({rest, zeros<T>({order - rest.size()})}).reshape(column);
  };
  const Array<T> first = b(0) / a(0), bs = later(b), as = later(a);
  if constexpr (std::is_floating_point_v<T>)
    if (detail::can_be_read(x) && detail::can_be_read(b) && detail::can_be_read(a) &&
        detail::can_be_read(state)) {
      auto [y, after] = detail::filter_rows(first.item(), bs.reshape({-1}), as.reshape({-1}), state, x);
      return std::pair{Array<T>(moveaxis(y, 0, options.axis)), Array<T>(moveaxis(after, 0, options.axis))};
    }
  Shape row = x.shape();
  row[0] = 1;
  const auto step = [=](const Array<T>& z, const Array<T>& now) {
    if (order == 0) return std::pair{z, Array<T>(first * now)};
    const Array<T> y = first * now + z(0);
    const Array<T> moved = concatenate({Array<T>(z(slice(1, none))), zeros<T>(row)});
    return std::pair{Array<T>(moved + bs * now - as * y), y};
  };
  auto [after, y] = lax::scan(step, state, x);
  return std::pair{Array<T>(moveaxis(y, 0, options.axis)), Array<T>(moveaxis(after, 0, options.axis))};
}

// The filter from rest: y alone. Throws what the other form throws.
template <class B, class A, class X>
auto lfilter(const B& b, const A& a, const X& x, const LfilterOptions& options = {}) {
  const auto given = nax::detail::as_array(x);
  using T = typename std::remove_cvref_t<decltype(given)>::value_type;
  Shape shape = given.shape();
  const int ndim = given.ndim();
  if (options.axis >= -ndim && options.axis < ndim) {
    const int axis = options.axis < 0 ? options.axis + ndim : options.axis;
    shape[static_cast<std::size_t>(axis)] =
        std::max<std::int64_t>({nax::detail::as_array(b).size(), nax::detail::as_array(a).size(), 1}) - 1;
  }
  return lfilter(b, a, given, zeros<T>(shape), options).first;
}

}  // namespace signal
NAX_END
