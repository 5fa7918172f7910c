#pragma once

#include <functional>
#include <string_view>

#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/sorting/nonzero.hpp"

// Elements replaced, by masks, places and diagonals. Where NumPy changes its argument, these return the
// changed array.
NAX_BEGIN
namespace detail {

// The values that replace elements, 1-d, where x lies.
template <class T, class V>
Array<T> flat_values(const char* function, const Array<T>& x, const V& values) {
  const Array<T> v = typename AtProxy<T>::Value(values).get();
  device_for(function, x, v);  // together
  return reshape_to(function, brought_to(x.device(), v), Shape{v.size()});
}

// x with its flattened elements at `places` set to the values, which are repeated, or not all used.
template <class T>
Array<T> set_flat(const char* function, const Array<T>& x, const Array<std::int64_t>& places,
                  const Array<T>& values) {
  const std::int64_t n = places.size(), m = values.size();
  if (n == 0 || m == 0) return x;
  Array<T> v = values;
  if (m != 1 && m != n)
    v = take_positions(v, generated_on_host<std::int64_t>(function, n, [m](std::int64_t i) { return i % m; }),
                       0);
  const Array<T> flat = reshape_to(function, x, Shape{x.size()});
  Selection s = Selection::all(layout_of(flat));
  auto step = std::make_shared<GatherStep>();
  step->index = typed<std::int64_t>(beside(x, places));
  step->axes.push_back(0);
  step->x_axis.push_back(-1), step->index_axis.push_back(0);
  s.gather = std::move(step);
  return reshape_to(function, update(flat, s, v, Update::set), x.shape());
}

}  // namespace detail

// x with the values, one after the other and over again, where the mask is true. The result has the shape of
// x. Throws ShapeError where the mask has not as many elements as x, ValueError where there are places but no
// values.
template <detail::ArrayLike X, detail::ArrayLike M, detail::Operand V>
auto place(const X& x_, const M& mask_, const V& vals) {
  using T = typename X::value_type;
  const Array<T> x = detail::as_array(x_);
  detail::check_operand("place", x);
  const Array<bool> mask = detail::evaluate(detail::make_expr<rules::logical_or>(
      detail::materialise(mask_), detail::typed<bool>(detail::beside(x, detail::host_number(false)))));
  if (mask.size() != x.size())
    raise<ShapeError>({"place: mask and data must be the same size: ", mask.shape(), " and ", x.shape()});
  const Array<T> values = detail::flat_values("place", x, vals);
  if (x.size() == 0) return x;
  if (values.size() == 0) {
    if (!detail::is_batched(mask) && !any(mask).item()) return x;
    throw ValueError("place: cannot insert from an empty array");
  }
  const detail::where_used_t<Array<bool>, T> flat = detail::reshape_to("place", mask, Shape{x.size()});
  if (values.size() == 1) return Array<T>(where(detail::reshape_to("place", mask, x.shape()), values(0), x));
  // The how-many-th true element is each?
  const detail::where_used_t<Array<std::int64_t>, T> count = cumsum(detail::as_type<std::int64_t>(flat));
  const Array<T> next = take(values, remainder(maximum(count - 1, std::int64_t{0}), values.size()));
  return detail::reshape_to(
      "place", Array<T>(where(flat, next, detail::reshape_to("place", x, flat.shape()))), x.shape());
}
// The values as a vector.
template <detail::ArrayLike X, detail::ArrayLike M, Scalar S>
auto place(const X& x, const M& mask, const std::vector<S>& vals) {
  return nax::place(x, mask,
                    detail::typed<element_t<S>>(
                        detail::beside(detail::as_array(x), detail::host_numbers<element_t<S>>(vals))));
}

struct PutOptions {
  std::string_view mode = "raise";  // or "wrap", "clip"
};
// x with the values, over again where there are too few, at places of the flattened array. The last of
// several for one place stays. The result has the shape of x. Throws IndexError for a place outside, which
// .mode may bring inside.
template <detail::ArrayLike X, class I, class V>
auto put(const X& x_, const I& ind, const V& v, const PutOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::as_array(x_);
  detail::check_operand("put", x);
  const auto index = detail::index_array(ind);
  if constexpr (detail::ArrayLike<I>) detail::device_for("put", x, index);  // together
  detail::need_plain("put", "ind", index);
  const Array<std::int64_t> places = detail::reshape_to(
      "put", detail::positions_of("put", index, 0, x.size(), options.mode), Shape{index.size()});
  if constexpr (detail::Operand<V>)
    return detail::set_flat("put", x, places, detail::flat_values("put", x, v));
  else
    return detail::set_flat(
        "put", x, places,
        detail::flat_values("put", x, detail::typed<T>(detail::beside(x, detail::host_numbers<T>(v)))));
}

struct FillDiagonalOptions {
  bool wrap = false;  // does the diagonal of a tall matrix begin again below the last column?
};
// x with a number, or the elements of an array one after the other and over again, on its main diagonal. Of
// more than two axes all must be equally long. The result has the shape of x. Throws ValueError unless the
// array is at least 2-d, with equal extents if it has more axes.
template <detail::ArrayLike X, detail::Operand V>
auto fill_diagonal(const X& x_, const V& val, const FillDiagonalOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::as_array(x_);
  detail::check_operand("fill_diagonal", x);
  const Shape shape = x.shape();
  if (shape.size() < 2) raise<ValueError>({"fill_diagonal: array must be at least 2-d, shape ", shape});
  std::int64_t step = 0, end = x.size();
  if (shape.size() == 2) {
    step = shape[1] + 1;
    if (!options.wrap) end = std::min(end, detail::multiply_extents(shape[1], shape[1]));
  } else {
    for (const std::int64_t n : shape) {
      if (n != shape[0])
        raise<ValueError>({"fill_diagonal: all dimensions of input must be of equal length, shape ", shape});
      step = step * n + 1;
    }
  }
  const std::int64_t count = (end + step - 1) / step;
  const Array<std::int64_t> places = detail::generated_on_host<std::int64_t>(
      "fill_diagonal", count, [step](std::int64_t i) { return i * step; });
  return detail::set_flat("fill_diagonal", x, places, detail::flat_values("fill_diagonal", x, val));
}

namespace detail {

// A function for a part of piecewise: a callable, or a constant.
template <class T>
class Piece {
 public:
  template <Scalar S>
  Piece(S constant) : constant_(element_from<T>("piecewise", constant)) {}
  template <class F>
  requires std::is_invocable_v < const F&, const Array<T>
  & > Piece(F f)
      : f_([f = std::move(f)](const Array<T>& x) {
          const auto y = as_array(f(x));
          return as_type<T>(y);
        }) {}
  Array<T> operator()(const Array<T>& x) const {
    return f_ ? f_(x) : typed<T>(beside(x, host_number(constant_)));
  }

 private:
  std::function<Array<T>(const Array<T>&)> f_;
  T constant_{};
};

}  // namespace detail

// For each element the function (or constant) of the last condition that holds: piecewise(x, {x < 0, x >= 0},
// {f, g}). One function more than there are conditions is for where none holds; else that is 0. Functions are
// elementwise: they get all of x, and what they return becomes x's type. The result has the shape of x.
// Throws ValueError unless there are as many functions as conditions, or one more.
template <detail::ArrayLike X>
auto piecewise(const X& x_, const std::vector<Array<bool>>& condlist,
               const std::vector<detail::Piece<typename X::value_type>>& funclist) {
  using T = typename X::value_type;
  const Array<T> x = detail::as_array(x_);
  detail::check_operand("piecewise", x);
  const std::size_t n = condlist.size();
  if (n == 0 || (funclist.size() != n && funclist.size() != n + 1))
    raise<ValueError>({"piecewise: with ", n, " condition(s), either ", n, " or ", n + 1,
                       " functions are expected, got ", funclist.size()});
  Array<T> y = funclist.size() == n ? zeros_like(x) : funclist[n](x);
  for (std::size_t i = 0; i < n; ++i) y = where(condlist[i], funclist[i](x), y);
  return detail::broadcast_visible("piecewise", y, x.shape());
}

NAX_END
