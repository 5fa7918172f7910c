#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/modules/interpolate/piecewise.hpp"

NAX_BEGIN
namespace interpolate {

struct RegularGridOptions {
  std::string_view method = "linear";  // or "nearest"
  bool bounds_error = true;            // are points outside of the grid an error, where values are known?
  double fill_value = std::numeric_limits<double>::quiet_NaN();  // of points outside
  bool extrapolate = false;                                      // SciPy's fill_value=None
};

namespace detail {

template <class T>
class RegularGrid {
 public:
  RegularGrid(std::vector<Array<T>> points, const Array<T>& values, const RegularGridOptions& options = {})
      : points_(std::move(points)), values_(values), options_(options) {
    if (options.method != "linear" && options.method != "nearest")
      raise<ValueError>(
          {"RegularGridInterpolator: method must be 'linear' or 'nearest', not '", options.method, "'"});
    const int d = static_cast<int>(points_.size());
    if (d == 0 || values.ndim() < d)
      raise<ShapeError>(
          {"RegularGridInterpolator: ", d, " axes of points, values of shape ", values.shape()});
    for (int i = 0; i < d; ++i) {
      if (points_[i].ndim() != 1 || points_[i].shape(0) != values.shape(i))
        raise<ShapeError>({"RegularGridInterpolator: points ", i, " must have shape (", values.shape(i),
                           ",), not ", points_[i].shape()});
      if (points_[i].shape(0) < 2)
        raise<ValueError>({"RegularGridInterpolator: points ", i, " must be at least 2"});
      detail::check_ascending("RegularGridInterpolator", points_[i]);
    }
  }

  template <nax::detail::ArrayLike X>
  Array<T> operator()(const X& x) const {
    Array<T> at = nax::detail::as_array(x).template astype<T>();
    const int d = static_cast<int>(points_.size());
    if (d == 1 && at.ndim() <= 1)
      at = expand_dims(at, -1);
    else if (at.ndim() == 1 && at.shape(0) == d)
      at = expand_dims(at, 0);
    if (at.ndim() == 0 || at.shape(-1) != d)
      raise<ShapeError>({"RegularGridInterpolator: points must have shape (..., ", d, "), not ", at.shape()});
    using Cells = nax::detail::where_used_t<Array<std::int32_t>, X>;
    using Places = nax::detail::where_used_t<Array<std::int64_t>, X>;
    using Bools = nax::detail::where_used_t<Array<bool>, X>;
    // The cell of each point, and where it lies there.
    std::vector<Cells> cell;
    std::vector<Array<T>> part;
    Bools outside = zeros<bool>({}), missing = zeros<bool>({});
    for (int i = 0; i < d; ++i) {
      const Array<T> xi = at(ellipsis, i);
      const std::int32_t last = static_cast<std::int32_t>(points_[i].shape(0) - 2);
      cell.push_back(clip(searchsorted(points_[i], xi, {.side = "right"}) - 1, std::int32_t{0}, last));
      const Array<T> low = take(points_[i], cell[i], {.axis = 0});
      const Array<T> high = take(points_[i], Cells(cell[i] + 1), {.axis = 0});
      part.push_back((xi - low) / (high - low));
      outside = outside | (xi < points_[i](0)) | (xi > points_[i](-1));
      missing = missing | (xi != xi);
    }
    if (options_.bounds_error && !options_.extrapolate && detail::is_known(outside) &&
        Bools(any(outside)).item())
      throw ValueError("RegularGridInterpolator: points lie outside of the grid");
    // The corners of each cell by their weights.
    std::vector<std::int64_t> strides(static_cast<std::size_t>(d), 1);
    for (int i = d - 1; i-- > 0;) strides[i] = strides[i + 1] * values_.shape(i + 1);
    Shape flat{strides[0] * values_.shape(0)}, wide = outside.shape();
    for (int i = d; i < values_.ndim(); ++i) flat.push_back(values_.shape(i)), wide.push_back(1);
    const Array<T> values = values_.reshape(flat);
    const auto weighed = [&](int corner) {
      Places place = zeros<std::int64_t>({});
      Array<T> weight = ones<T>({});
      for (std::size_t i = 0; i < cell.size(); ++i) {
        const bool high = corner >> i & 1;
        if (options_.method == "nearest") {
          place = place + strides[i] * (cell[i].template astype<std::int64_t>() +
                                        Bools(part[i] > T(0.5)).template astype<std::int64_t>());
        } else {
          place = place + strides[i] * (cell[i].template astype<std::int64_t>() + std::int64_t{high});
          weight = high ? Array<T>(weight * part[i]) : Array<T>(weight * (T(1) - part[i]));
        }
      }
      const Array<T> corners = take(values, place, {.axis = 0});
      return options_.method == "nearest" ? corners : Array<T>(corners * weight.reshape(wide));
    };
    Array<T> out = weighed(0);
    if (options_.method == "linear")
      for (int corner = 1; corner < 1 << d; ++corner) out = out + weighed(corner);
    if (!options_.extrapolate) out = where(outside.reshape(wide), static_cast<T>(options_.fill_value), out);
    return where(missing.reshape(wide), std::numeric_limits<T>::quiet_NaN(), out);
  }

 private:
  std::vector<Array<T>> points_;
  Array<T> values_;
  RegularGridOptions options_;
};

}  // namespace detail

// Interpolates values on a grid: `points` are d arrays of shapes (n0,), (n1,), ..., each ascending, in braces
// or a vector, `values` has shape (n0, n1, ..., ...), of float or double. Returns a function of points of
// shape (..., d), which gives shape (...) + values.shape[d:]. One point of shape (d,) counts as (1, d), and
// for d = 1 points (n,) as (n, 1). NaN in a point gives NaN. SciPy's RegularGridInterpolator. Differentiable
// in grid, values and points (those of "linear"), goes under vmap and jit. Throws ShapeError where shapes do
// not fit, ValueError for a grid that does not ascend or is shorter than 2, for another method, and for known
// points outside of it without {.bounds_error = false}.
template <nax::detail::ArrayLike Y>
auto RegularGridInterpolator(const std::vector<Array<typename Y::value_type>>& points, const Y& values,
                             const RegularGridOptions& options = {}) {
  return detail::RegularGrid<typename Y::value_type>(points, nax::detail::as_array(values), options);
}

}  // namespace interpolate
NAX_END
