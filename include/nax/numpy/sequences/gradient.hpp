#pragma once

#include "nax/numpy/sequences/differences.hpp"

// Derivatives of sampled functions.
NAX_BEGIN

struct GradientOptions {
  Axis axis = {};      // all axes when not given
  int edge_order = 1;  // of the differences at both ends: 1 or 2
};

// The distance between samples: a number, or a 1-d array of their coordinates.
template <class T>
class Spacing {
 public:
  template <Scalar S>
  Spacing(S h) : value_(static_cast<T>(h)) {}
  template <detail::ArrayLike X>
  Spacing(const X& x) : value_(detail::as_type<T>(x)) {}
  const Array<T>& get() const { return value_; }

 private:
  Array<T> value_;
};

namespace detail {

// The derivative along one axis: differences of second order inside, of edge_order at the ends.
template <class T>
class GradientAlong {
 public:
  GradientAlong(const Array<T>& f, const Array<T>& spacing, int axis) : f_(f), h_(spacing), axis_(axis) {
    n_ = f.shape(axis);
    if (h_.ndim() == 0) return;
    if (h_.ndim() != 1 || h_.size() != n_)
      raise<ShapeError>({"gradient: coordinates must be numbers or 1-d and as long as axis ", axis, ": ",
                         spacing.shape(), " for an array of shape ", f.shape()});
    uneven_ = true;
    const auto [left, right] = neighbours(h_, 0);
    Dims along(static_cast<std::size_t>(f.ndim()), 1);
    along[static_cast<std::size_t>(axis)] = n_ - 1;
    h_ = reshape_to("gradient", Array<T>(right - left), along);
  }

  Array<T> get(int edge_order) const {
    const Array<T> inner = inside();
    const Array<T> first = edge(edge_order, 0, 1), last = edge(edge_order, n_ - 1, -1);
    return concatenate_on("gradient", std::vector{first, inner, last}, axis_);
  }

 private:
  // `count` samples (or distances) from `start` on.
  Array<T> f(std::int64_t start, std::int64_t count) const {
    return stretch_of_axis(f_, axis_, start, count);
  }
  Array<T> h(std::int64_t start, std::int64_t count) const {
    return stretch_of_axis(h_, axis_, start, count);
  }

  Array<T> inside() const {
    const std::int64_t n = n_ - 2;
    if (!uneven_) return (f(2, n) - f(0, n)) / (h_ * static_cast<lane_t<real_t<T>>>(2));
    const Array<T> a = h(0, n), b = h(1, n);
    return f(0, n) * (-b / (a * (a + b))) + f(1, n) * ((b - a) / (a * b)) + f(2, n) * (a / (b * (a + b)));
  }
  // At sample `at`, from those that lie in direction `to`.
  Array<T> edge(int order, std::int64_t at, std::int64_t to) const {
    const Array<T> f0 = f(at, 1), f1 = f(at + to, 1);
    const Array<T> a = uneven_ ? h(to > 0 ? 0 : n_ - 2, 1) : h_;
    const auto sign = static_cast<lane_t<real_t<T>>>(to);
    if (order == 1) return (f1 - f0) / (a * sign);
    const Array<T> f2 = f(at + 2 * to, 1);
    const Array<T> b = uneven_ ? h(to > 0 ? 1 : n_ - 3, 1) : h_;
    return (f0 * (-(a * lane_t<real_t<T>>(2) + b) / (a * (a + b))) + f1 * ((a + b) / (a * b)) -
            f2 * (a / (b * (a + b)))) *
           sign;
  }

  const Array<T>& f_;
  Array<T> h_;
  int axis_;
  std::int64_t n_;
  bool uneven_ = false;
};

template <class T>
std::vector<Array<T>> gradients(const Array<T>& f, const std::vector<Spacing<T>>& spacing,
                                const GradientOptions& options) {
  check_operand("gradient", f);
  const Dims axes = normalize_axes("gradient", options.axis, f.ndim());
  if (spacing.size() > 1 && spacing.size() != axes.size())
    raise<TypeError>(
        {"gradient: invalid number of arguments: ", spacing.size(), " spacings for ", axes.size(), " axes"});
  if (options.edge_order != 1 && options.edge_order != 2)
    raise<ValueError>({"gradient: 'edge_order' greater than 2 not supported, got ", options.edge_order});
  std::vector<Array<T>> out;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = static_cast<int>(axes[k]);
    if (f.shape(axis) < options.edge_order + 1)
      raise<ValueError>(
          {"gradient: shape of array too small to calculate a numerical gradient, at least "
           "(edge_order + 1) elements are required, shape ",
           f.shape()});
    Array<T> h =
        spacing.empty() ? typed<T>(beside(f, host_number(T(1)))) : spacing[spacing.size() == 1 ? 0 : k].get();
    device_for("gradient", f, h);  // together
    h = brought_to(f.device(), h);
    out.push_back(GradientAlong<T>(f, h, axis).get(options.edge_order));
  }
  return out;
}

}  // namespace detail

// The derivative of a function given by samples, one array an axis, each of f's shape: gradient(f),
// gradient(f, 0.5, {.axis = 0}), gradient(f, x, y). Spacings are numbers or the samples' coordinates, one for
// all axes or one for each. Integers become float first. Throws ValueError where an axis is too short.
template <detail::ArrayLike X>
auto gradient(const X& f, const GradientOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  return detail::gradients<T>(detail::as_type<T>(f), {}, options);
}
template <detail::ArrayLike X, class H>
auto gradient(const X& f, const std::vector<H>& spacings, const GradientOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  return detail::gradients<T>(detail::as_type<T>(f),
                              std::vector<Spacing<T>>(spacings.begin(), spacings.end()), options);
}
template <detail::ArrayLike X, detail::Operand H>
auto gradient(const X& f, const H& spacing, const GradientOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  return detail::gradients<T>(detail::as_type<T>(f), {Spacing<T>(spacing)}, options);
}
template <detail::ArrayLike X, detail::Operand H0, detail::Operand H1>
auto gradient(const X& f, const H0& spacing0, const H1& spacing1, const GradientOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  return detail::gradients<T>(detail::as_type<T>(f), {Spacing<T>(spacing0), Spacing<T>(spacing1)}, options);
}
template <detail::ArrayLike X, detail::Operand H0, detail::Operand H1, detail::Operand H2>
auto gradient(const X& f, const H0& spacing0, const H1& spacing1, const H2& spacing2,
              const GradientOptions& options = {}) {
  using T = inexact_t<typename X::value_type>;
  return detail::gradients<T>(detail::as_type<T>(f),
                              {Spacing<T>(spacing0), Spacing<T>(spacing1), Spacing<T>(spacing2)}, options);
}

NAX_END
