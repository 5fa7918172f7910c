#pragma once

#include <optional>

#include "nax/linalg/svd.hpp"
#include "nax/numpy/reductions/any_all.hpp"

// Functions of singular values: pseudo-inverses, least squares, ranks.
NAX_BEGIN
namespace detail {

template <class R>
double default_rtol(const Shape& shape) {
  const std::int64_t larger = std::max(shape[shape.size() - 1], shape[shape.size() - 2]);
  return static_cast<double>(larger) * static_cast<double>(std::numeric_limits<R>::epsilon());
}
// A tolerance next to singular values (..., k): one number, or (..., 1).
template <class R>
Array<R> tolerance_over(const char* function, const Array<R>& s, const Array<double>& tolerance) {
  if (tolerance.ndim() == 0 && !is_batched(tolerance))
    return is_readable(tolerance) ? typed<R>(host_number(static_cast<R>(tolerance.item())))
                                  : typed<R>(constant(as_type<R>(tolerance)));
  const Array<R> each = typed<R>(constant(la::as_columns(as_type<R>(tolerance))));
  if (!(broadcast(function, layout_of(each), layout_of(s)).visible_shape() == s.shape()))
    raise<ShapeError>(
        {function, ": a tolerance for each matrix: ", tolerance.shape(), " for singular values ", s.shape()});
  return each;
}
// The first singular value of each matrix times rtol; singular values up to it count as 0.
template <class R>
Array<R> cutoff(const char* function, const Array<R>& s, const Array<double>& rtol) {
  return evaluate(make_expr<rules::multiply>(s.shape(-1) > 0 ? la::first_columns(s, 1) : s,
                                             tolerance_over(function, s, rtol)));
}
template <class R>
Array<std::int32_t> rank_of(const Array<R>& s, const Array<R>& limit) {
  const Array<bool> large = evaluate(make_expr<rules::greater>(s, limit));
  AxisMarks last(static_cast<std::size_t>(large.ndim()), false);
  last.back() = true;
  return sum_over<std::int32_t>(large, last, false, 1);
}

// The tangent of the pseudo-inverse p of a, while the rank stays as it is (Golub and Pereyra 1973):
// -p dA p + p p^H dA^H (1 - a p) + (1 - p a) dA^H p^H p.
template <class T>
Array<T> pinv_tangent(const Array<T>& a, const Array<T>& t, const Array<T>& p) {
  using namespace la;
  const Array<T> th = adjoint(t), ph = adjoint(p);
  const Array<T> right = product(p, product(ph, th)), left = product(product(th, ph), p);
  const Array<T> of_right = minus(right, product(product(right, a), p));
  const Array<T> of_left = minus(left, product(p, product(a, left)));
  return plus(minus(of_right, product(product(p, t), p)), of_left);
}

template <class T>
struct PinvParts {
  Array<T> inverse;
  Array<std::int32_t> rank;
};
// The pseudo-inverse from the singular value decomposition of `a`.
template <class T>
PinvParts<T> pinv_of(const char* function, const Array<T>& a, const linalg::SVD<T>& f,
                     const Array<double>& rtol) {
  using R = real_t<T>;
  const Array<R> s = typed<R>(constant(f.S));
  const Array<T> u = typed<T>(constant(f.U)), vh = typed<T>(constant(f.Vh));
  const Array<R> limit = cutoff(function, s, rtol);
  // (A NaN is not small, and stays one.)
  const Array<bool> little = evaluate(make_expr<rules::less_equal>(s, limit));
  const Array<R> inverse = evaluate(make_selection<rules::where>(little, typed<R>(host_number(R(0))),
                                                                 evaluate(make_expr<rules::reciprocal>(s))));
  const Array<T> right = la::times(la::as_columns(la::converted<T>(inverse)), la::adjoint(u));
  const Array<T> value = typed<T>(constant(la::product(la::adjoint(vh), right)));
  return {
      record_tangent(value, a, [a](const Array<T>& t, const Array<T>& p) { return pinv_tangent(a, t, p); }),
      rank_of(s, limit)};
}

}  // namespace detail

namespace linalg {

// A number for all matrices, or an array of one for each, of the shape that the leading axes have.
class Tolerance {
 public:
  Tolerance() = default;
  Tolerance(None) {}
  template <class X>
  requires std::is_arithmetic_v<X> ||
      (detail::ArrayLike<X> && !is_complex_v<typename X::value_type>)Tolerance(const X& x)
      : given_(true) {
    if constexpr (std::is_arithmetic_v<X>)
      values_ = nax::detail::typed<double>(detail::host_number(static_cast<double>(x)));
    else
      values_ = detail::as_type<double>(x);
  }

  bool given() const { return given_; }
  Array<double> value_or(double number) const {
    return given_ ? values_ : nax::detail::typed<double>(detail::host_number(number));
  }

 private:
  bool given_ = false;
  Array<double> values_;
};

// Singular values up to rtol times the largest count as 0; rcond is NumPy's older name for it.
struct PinvOptions {
  Tolerance rcond = {};
  bool hermitian = false;
  Tolerance rtol = {};  // 10 max(m, n) epsilon, as in JAX
};
// The Moore-Penrose pseudo-inverses (..., n, m) of matrices (..., m, n). The derivative is that at constant
// rank. `hermitian`: the lower triangle is read. Throws ShapeError unless the array is at least 2-d (square
// if hermitian), and ValueError if both rcond and rtol are given.
template <detail::ArrayLike A>
auto pinv(const A& a_, const PinvOptions& options = {}) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  if (options.hermitian)
    detail::check_square("pinv", a);
  else
    detail::check_matrices("pinv", a);
  if (options.rcond.given() && options.rtol.given())
    throw ValueError("pinv: rcond and rtol are one option: give one");
  const Array<double> rtol = (options.rtol.given() ? options.rtol : options.rcond)
                                 .value_or(10 * detail::default_rtol<real_t<T>>(a.shape()));
  const Array<T> plain = nax::detail::typed<T>(detail::constant(a));
  return detail::pinv_of(
             "pinv", a,
             options.hermitian ? detail::svd_hermitian(plain) : detail::svd_values(plain, false, true), rtol)
      .inverse;
}

struct MatrixRankOptions {
  Tolerance tol = {};  // singular values up to it count as 0
  bool hermitian = false;
  Tolerance rtol = {};  // the same over the largest: max(m, n) epsilon when neither is given
};
// The ranks of matrices (..., m, n), as int32. Of 0-d and 1-d arrays: 1 where an element is not 0. The result
// has shape (...). Throws ValueError if both tol and rtol are given, and ShapeError if a tolerance does not
// fit.
template <detail::ArrayLike A>
Array<std::int32_t> matrix_rank(const A& a_, const MatrixRankOptions& options = {}) {
  using T = detail::linalg_t<A>;
  using R = real_t<T>;
  static_assert(detail::is_linalg_v<T>, "linalg: the type must be float, double or complex");
  const Array<T> a = nax::detail::typed<T>(detail::constant(detail::as_type<T>(a_)));
  if (options.tol.given() && options.rtol.given())
    throw ValueError("matrix_rank: tol and rtol cannot both be given");
  detail::check_operand("matrix_rank", a);
  if (a.ndim() < 2) {
    const Array<bool> there = detail::evaluate(detail::make_expr<rules::not_equal>(a, T(0)));
    return any(there).template astype<std::int32_t>();
  }
  const Array<R> s = [&]() -> Array<R> {
    if (!options.hermitian) return svdvals(a);
    return sort(abs(eigvalsh(a)), {.descending = true});
  }();
  const Array<R> limit =
      options.tol.given()
          ? detail::tolerance_over("matrix_rank", s, options.tol.value_or(0))
          : detail::cutoff("matrix_rank", s, options.rtol.value_or(detail::default_rtol<R>(a.shape())));
  return detail::rank_of(s, limit);
}

template <class T>
struct Lstsq {
  Array<T> x;
  Array<real_t<T>> residuals;
  Array<std::int32_t> rank;
  Array<real_t<T>> s;
};
struct LstsqOptions {
  std::optional<double> rcond = {};  // max(m, n) epsilon; epsilon where negative
};
// The x of least norm among those that minimise |b - a x|, for matrices a (..., m, n) and b (m,) or (..., m,
// k), whose leading axes broadcast. s are the singular values of a; those up to rcond times the largest count
// as 0 and not for the rank. residuals, the squares |b - a x|^2 of the columns, are an empty array where m <=
// n, as in NumPy, and, for one matrix on the host that no vmap batches, where the rank is less than n.
// Differentiable in a and b, at constant rank, also where singular values are equal. Throws ShapeError unless
// `a` is at least 2-d and `b` has as many rows.
template <detail::ArrayLike A, detail::ArrayLike B>
auto lstsq(const A& a_, const B& b_, const LstsqOptions& options = {})
    -> Lstsq<promote_t<detail::linalg_t<A>, detail::linalg_t<B>>> {
  using T = promote_t<detail::linalg_t<A>, detail::linalg_t<B>>;
  using R = real_t<T>;
  const Array<T> a = detail::as_type<T>(a_), b_given = detail::as_type<T>(b_);
  detail::check_matrices("lstsq", a);
  detail::check_operand("lstsq", b_given);
  const bool vector = b_given.ndim() == 1;
  if (b_given.ndim() == 0 || b_given.shape(vector ? 0 : -2) != a.shape(-2))
    raise<ShapeError>({"lstsq: a and b must have as many rows: ", a.shape(), " and ", b_given.shape()});
  const Array<T> b = vector ? detail::la::as_columns(b_given) : b_given;
  // The reciprocals of singular values that are subnormal would be infinite.
  if (a.size() > 0 && detail::is_readable(a) && !detail::is_batched(a)) {
    constexpr R little = std::numeric_limits<R>::min() * R(1 << 20);
    const R most = max(abs(nax::detail::typed<T>(nax::detail::constant(a)))).item();
    if (most > 0 && most < little) {
      const R up = R(1) / little;
      const auto scaled = lstsq(Array<T>(a * up), Array<T>(b_given * up), options);
      return Lstsq<T>{scaled.x, Array<R>(scaled.residuals * little * little), scaled.rank,
                      Array<R>(scaled.s * little)};
    }
  }
  const double epsilon = static_cast<double>(std::numeric_limits<R>::epsilon());
  double rcond = options.rcond.value_or(detail::default_rtol<R>(a.shape()));
  if (rcond < 0) rcond = epsilon;
  const SVD<T> f = detail::svd_of(a, false);
  const detail::PinvParts<T> inverse =
      detail::pinv_of("lstsq", a, f, nax::detail::typed<double>(detail::host_number(rcond)));
  const Array<T> x = detail::matmul_arrays("lstsq", inverse.inverse, b);
  const bool one = a.ndim() == 2 && b.ndim() == 2 && !detail::is_batched(inverse.rank) &&
                   detail::is_readable(inverse.rank);
  Array<R> residuals;
  if (a.shape(-2) > a.shape(-1) && !(one && inverse.rank.item() < a.shape(-1))) {
    const Array<R> size =
        detail::evaluate(detail::make_expr<rules::absolute>(detail::la::minus(b, detail::la::product(a, x))));
    residuals = sum(detail::make_expr<rules::square>(size), {.axis = -2});
  }
  return Lstsq<T>{vector ? Array<T>(squeeze(x, {.axis = -1})) : x, residuals, inverse.rank, f.S};
}

}  // namespace linalg
NAX_END
