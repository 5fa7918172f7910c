#pragma once

#include <string_view>
#include <utility>

#include "nax/core/where_used.hpp"
#include "nax/numpy.hpp"

// Cubic polynomials between points, given by values and slopes at the points.
NAX_BEGIN
namespace interpolate {

struct EvaluateOptions {
  int nu = 0;               // the derivative's order
  bool extrapolate = true;  // false: NaN outside of the points
};

namespace detail {

using nax::detail::is_known;

// Throws ValueError unless x ascends, where its values are known.
template <class T>
void check_ascending(const char* function, const Array<T>& x) {
  if (!is_known(x)) return;
  const Array<T> known = stop_gradient(x);
  if (!Array<bool>(all(known(slice(1, _)) > known(slice(_, -1)))).item())
    raise<ValueError>({function, ": x must ascend strictly"});
}

// Axes of one element behind those of a column, for values of `ndim` axes.
template <class T>
Array<T> as_column(const Array<T>& x, int ndim) {
  Shape shape = x.shape();
  for (int i = 1; i < ndim; ++i) shape.push_back(1);
  return x.reshape(shape);
}

template <class T>
Array<T> rows(const Array<T>& x, std::int64_t begin, std::int64_t end) {
  return x(slice(begin, end));
}
template <class T>
Array<T> joined(const std::vector<Array<T>>& parts) {
  return concatenate(parts, {.axis = 0});
}

// The solution of a tridiagonal system: lower, diagonal, upper of shape (n, 1, ...), right (n, ...). Cyclic
// reduction in parallel, R. W. Hockney (1965): log2(n) steps of whole arrays, without pivots.
template <class T>
Array<T> solve_tridiagonal(Array<T> lower, Array<T> diagonal, Array<T> upper, Array<T> right) {
  const std::int64_t n = right.shape(0);
  for (std::int64_t step = 1; step < n; step *= 2) {
    // Row i with those of i - step and i + step, which are of the identity outside.
    const auto before = [&](const Array<T>& x, T otherwise) {
      return joined<T>({full_like(rows(x, 0, step), otherwise), rows(x, 0, n - step)});
    };
    const auto after = [&](const Array<T>& x, T otherwise) {
      return joined<T>({rows(x, step, n), full_like(rows(x, 0, step), otherwise)});
    };
    const Array<T> alpha = -lower / before(diagonal, 1), gamma = -upper / after(diagonal, 1);
    const Array<T> next_diagonal = diagonal + alpha * before(upper, 0) + gamma * after(lower, 0);
    right = right + alpha * before(right, 0) + gamma * after(right, 0);
    lower = alpha * before(lower, 0);
    upper = gamma * after(upper, 0);
    diagonal = next_diagonal;
  }
  return right / diagonal;
}

// Values, slopes and the polynomials between them.
template <class T>
class Piecewise {
 public:
  Piecewise() = default;
  Piecewise(const char* function, Array<T> x, const Array<T>& y, const Array<T>& slopes, bool periodic)
      : function_(function), x_(std::move(x)), periodic_(periodic) {
    const std::int64_t n = x_.shape(0);
    const Array<T> h = as_column(Array<T>(rows(x_, 1, n) - rows(x_, 0, n - 1)), y.ndim());
    const Array<T> y0 = rows(y, 0, n - 1), s0 = rows(slopes, 0, n - 1), s1 = rows(slopes, 1, n);
    const Array<T> chord = (rows(y, 1, n) - y0) / h;
    const Array<T> bend = (s0 + s1 - T(2) * chord) / h;
    c_[3] = bend / h;
    c_[2] = (chord - s0) / h - bend;
    c_[1] = s0;
    c_[0] = y0;
  }

  // At points of any shape: their shape, then that of one y. Throws ValueError for a negative nu.
  template <nax::detail::Operand X>
  Array<T> operator()(const X& x, const EvaluateOptions& options = {}) const {
    if (options.nu < 0) raise<ValueError>({function_, ": nu must not be negative: ", options.nu});
    Array<T> points;
    if constexpr (Scalar<X>)
      points = Array<T>(static_cast<T>(x));
    else
      points = nax::detail::as_array(x).template astype<T>();
    const std::int64_t n = x_.shape(0);
    const Array<T> first = x_(0), last = x_(-1);
    const Array<T> given = points;
    if (periodic_) points = first + remainder(points - first, last - first);
    using Places = nax::detail::where_used_t<Array<std::int32_t>, T>;
    const Places right = searchsorted(x_, points, {.side = "right"});
    const Places place = clip(right - 1, std::int32_t{0}, static_cast<std::int32_t>(n - 2));
    Shape shape = points.shape();
    for (int i = 1; i < c_[0].ndim(); ++i) shape.push_back(1);
    const Array<T> t = Array<T>(points - take(x_, place, {.axis = 0})).reshape(shape);
    Array<T> out = zeros<T>({});
    for (int k = 3; k >= options.nu; --k) {
      T factor = 1;
      for (int j = 0; j < options.nu; ++j) factor *= static_cast<T>(k - j);
      out = out * t + factor * take(c_[k], place, {.axis = 0});
    }
    if (options.nu > 3) out = T(0) * take(c_[0], place, {.axis = 0}) * t;
    if (options.extrapolate && !periodic_) return out;
    const Array<bool> outside = Array<bool>((given < first) | (given > last)).reshape(shape);
    if (options.extrapolate) return out;
    return where(outside, std::numeric_limits<T>::quiet_NaN(), out);
  }

 private:
  const char* function_ = "";
  Array<T> x_, c_[4];
  bool periodic_ = false;
};

// x of shape (n,), and y of (n, ...).
template <class T>
void check_points(const char* function, const Array<T>& x, const Array<T>& y) {
  if (x.ndim() != 1 || y.ndim() < 1 || x.shape(0) != y.shape(0))
    raise<ShapeError>(
        {function, ": x must have shape (n,) and y (n, ...), got ", x.shape(), " and ", y.shape()});
  if (x.shape(0) < 2) raise<ValueError>({function, ": at least 2 points are needed, got ", x.shape(0)});
  check_ascending(function, x);
}

}  // namespace detail
}  // namespace interpolate
NAX_END
