#pragma once

#include <optional>
#include <string_view>

#include "nax/linalg/cholesky.hpp"
#include "nax/modules/optimize/least_squares.hpp"

// Fits of models to data, by SciPy's names.
NAX_BEGIN
namespace optimize {

struct CurveFitOptions {
  // The standard deviations of y, (m,), or their covariance, (m, m); empty: all alike.
  Array<double> sigma = {};
  bool absolute_sigma = false;   // sigma is in the units of y: pcov is not scaled by the residuals
  std::string_view method = "";  // as least_squares's; "": "lm" without bounds, "trf" with them
  Bounds bounds = {};
  std::string_view loss = "linear";
  double f_scale = 1;
  StepScales x_scale = "jac";
  double ftol = 1e-8, xtol = 1e-8, gtol = 1e-8;
  std::int64_t max_nfev = 0;  // 0: 200 for each parameter
};

template <class Tree, class E>
struct CurveFitResult {
  Tree popt;
  Array<E> pcov;  // (n, n); infinite where the parameters are not determined
};

// {popt, pcov}: parameters p that fit model(x, p) to y in the sense of least squares, from p0 (an array or a
// tree), and their covariance of shape (n, n). popt is differentiable in what model captured, x and y, pcov
// is constant. Throws ValueError for what least_squares throws it, for sigma of another shape than y or not
// positive, and where the fit does not converge.
template <class Model, class X, class Y, class P>
auto curve_fit(const Model& model, const X& x, const Y& y_, const P& p0_, const CurveFitOptions& o = {}) {
  const auto p0 = nax::detail::to_arrays(p0_);
  using Tree = std::remove_cvref_t<decltype(p0)>;
  using E = typename detail::OnVectors<Tree>::E;
  const Array<E> y = [&] {
    const auto whole = nax::detail::to_arrays(y_);
    return whole.reshape(Shape{whole.size()}).template astype<E>();
  }();
  const std::int64_t m = y.size();
  const Array<E> sigma = o.sigma.template astype<E>();
  const bool weighed = sigma.size() > 0, correlated = sigma.ndim() == 2;
  if (weighed && !(sigma.shape() == (correlated ? Shape{m, m} : Shape{m})))
    raise<ValueError>(
        {"curve_fit: sigma must have shape (", m, ",) or (", m, ", ", m, "), not ", sigma.shape()});
  if (weighed && !correlated)
    for (const double s : detail::values_of(sigma))
      if (!(s > 0)) raise<ValueError>({"curve_fit: sigma must be positive: ", detail::InText{s}});
  const Array<E> lower = correlated ? linalg::cholesky(sigma) : Array<E>();
  if (correlated && !detail::all_finite(detail::values_of(lower)))
    throw ValueError("curve_fit: sigma must be positive definite");

  const auto residual = [&](const Tree& p) {
    const auto fitted = nax::detail::to_arrays(model(x, p));
    if (fitted.size() != m)
      raise<ShapeError>({"curve_fit: model returns ", fitted.size(), " elements, y has ", m});
    const Array<E> r = fitted.reshape(Shape{m}).template astype<E>() - y;
    if (correlated) return Array<E>(linalg::solve(lower, r));
    return weighed ? Array<E>(r / sigma) : r;
  };
  LeastSquaresOptions options{.method = o.method,
                              .bounds = o.bounds,
                              .loss = o.loss,
                              .f_scale = o.f_scale,
                              .x_scale = o.x_scale,
                              .ftol = o.ftol,
                              .xtol = o.xtol,
                              .gtol = o.gtol,
                              .max_nfev = o.max_nfev};
  const std::size_t n = detail::values_of(tree::ravel(p0).first).size();
  if (o.method.empty()) options.method = o.bounds.given() ? "trf" : "lm";
  if (o.max_nfev == 0) options.max_nfev = static_cast<std::int64_t>(200 * n);
  auto fit = detail::least_squares("curve_fit", residual, p0, options);
  if (!fit.success) raise<ValueError>({"curve_fit: not converged: ", fit.message});

  detail::Matrix jac;
  detail::store_matrix("curve_fit", "the Jacobian", fit.jac, static_cast<std::size_t>(m), n, jac);
  const double precision = static_cast<double>(std::numeric_limits<E>::epsilon());
  detail::Matrix covariance =
      detail::normal_inverse(detail::pivoted_qr(jac, detail::Vector(static_cast<std::size_t>(m))),
                             precision * static_cast<double>(std::max<std::size_t>(n, jac.rows)));
  const std::int64_t spare = m - static_cast<std::int64_t>(n);
  if (covariance.data.empty() || (!o.absolute_sigma && spare <= 0)) {
    covariance = detail::Matrix(n, n);
    for (double& c : covariance.data) c = std::numeric_limits<double>::infinity();
  } else if (!o.absolute_sigma) {
    for (double& c : covariance.data) c *= 2 * fit.cost / static_cast<double>(spare);
  }
  return CurveFitResult<Tree, E>{std::move(fit.x), detail::matrix_of<E>(covariance)};
}

}  // namespace optimize
NAX_END
