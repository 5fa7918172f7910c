#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/linalg/eigh.hpp"
#include "nax/linalg/solve.hpp"
#include "nax/linalg/svd.hpp"
#include "nax/numpy/reductions/max_min.hpp"

// SciPy's functions of matrices.
NAX_BEGIN
namespace detail {

// Classes of the matrices of a Sylvester equation.
enum class SylvesterKind { general, hermitian };

// The solution for Hermitian a and b, by their eigenvalues: in their bases it is q over sums of these. Not
// recorded.
template <class T>
Array<T> hermitian_sylvester(const Array<T>& a, const Array<T>& b, const Array<T>& q) {
  const auto left = eigh_values(typed<T>(constant(a)), true, true);
  const auto right = eigh_values(typed<T>(constant(b)), true, true);
  const Array<T> sums =
      la::converted<T>(la::plus(la::as_columns(left.eigenvalues), la::as_rows(right.eigenvalues)));
  const Array<T> turned =
      la::product(la::adjoint(left.eigenvectors), typed<T>(constant(q)), right.eigenvectors);
  return la::product(left.eigenvectors, la::over(turned, sums), la::adjoint(right.eigenvectors));
}

// x with a x + x b = q for a (..., m, m), b (..., n, n) and q (..., m, n); leading axes broadcast. On a GPU
// for Hermitian a and b alone.
template <class T>
Array<T> sylvester(const Array<T>& a, const Array<T>& b, const Array<T>& q,
                   SylvesterKind kind = SylvesterKind::general) {
  const Layout &la_ = layout_of(a), &lb = layout_of(b), &lq = layout_of(q);
  const std::int64_t m = la_.shape.back(), n = lb.shape.back();
  const Frame leading = broadcast(
      "solve_sylvester", broadcast("solve_sylvester", leading_axes(la_), leading_axes(lb)), leading_axes(lq));
  Frame frame = leading;
  frame.shape.push_back(m);
  frame.shape.push_back(n);
  const ops::Sylvester form{leading.size(), m, n, dtype_of<T>};
  const bool by_eigenvalues = kind == SylvesterKind::hermitian && !backend::has(q.device(), form);
  if (!by_eigenvalues) cpu::provide<cpu::SylvesterKernel, T>();
  Array<T> result =
      by_eigenvalues ? hermitian_sylvester(a, b, q) : typed<T>(solved_sylvester(form, a, b, q, leading));
  if (!may_be_recorded(a) && !may_be_recorded(b) && !may_be_recorded(q)) return result;
  const Frame fa = la_, fb = lb, fq = lq;
  // The equation of the cotangent is that of the transposed matrices.
  const auto back = [a, b, kind](const Array<T>& g) {
    return sylvester(matrix_transpose(a), matrix_transpose(b), g, kind);
  };
  return record_with_result(
      std::move(result),
      wrt(
          a,
          [=](const Array<T>& g, const Array<T>& x) {
            return contract(negated(back(g)), matrix_transpose(x), with_new_levels(fa, frame, layout_of(g)));
          },
          [=](const Array<T>& t, const Array<T>& x) {
            return negated(sylvester(a, b, matmul_arrays("solve_sylvester", t, x), kind));
          }),
      wrt(
          b,
          [=](const Array<T>& g, const Array<T>& x) {
            return contract(matrix_transpose(x), negated(back(g)), with_new_levels(fb, frame, layout_of(g)));
          },
          [=](const Array<T>& t, const Array<T>& x) {
            return negated(sylvester(a, b, matmul_arrays("solve_sylvester", x, t), kind));
          }),
      wrt(
          q, [=](const Array<T>& g, const Array<T>&) { return sum_to(back(g), fq, frame); },
          [=](const Array<T>& t, const Array<T>&) { return sylvester(a, b, t, kind); }));
}

// X^2 = a, so X dX + dX X = da.
template <class T>
Array<T> sqrtm_of(const Array<T>& a) {
  static_assert(is_complex_v<T>);
  const std::int64_t n = a.shape(-1);
  Array<T> result = matrices_like<T>(a, {n, n});
  constexpr auto kind = loops::Factorisation::sqrtm;
  cpu::provide<cpu::FactorKernel<kind>, T>();
  factorise({.kind = kind}, a, {&result});
  check_result("sqrtm", result, {&a});
  if (!may_be_recorded(a)) return result;
  return record_with_result(std::move(result),
                            wrt(
                                a,
                                [](const Array<T>& g, const Array<T>& x) {
                                  return sylvester(matrix_transpose(x), matrix_transpose(x), g);
                                },
                                [](const Array<T>& t, const Array<T>& x) { return sylvester(x, x, t); }));
}

// u with orthonormal columns and Hermitian p = u^H a, where a = u p has at least as many rows as columns.
// With B = u^H da: u^H du = W is skew and solves p W + W p = B - B^H, and du = u W + (1 - u u^H) da p^-1.
// Equal singular values do no harm.
template <class T>
Array<T> unitary_factor(const Array<T>& a) {
  const linalg::SVD<T> f = svd_values(typed<T>(constant(a)), false, true);
  const Array<T> value = typed<T>(constant(la::product(f.U, f.Vh)));
  return record_tangent(value, a, [a](const Array<T>& t, const Array<T>& u) {
    const Array<T> p = la::hermitian_part(la::product(la::adjoint(u), a));
    const Array<T> b = la::product(la::adjoint(u), t);
    const Array<T> du =
        la::product(u, sylvester(p, p, la::minus(b, la::adjoint(b)), SylvesterKind::hermitian));
    if (u.shape(-1) == u.shape(-2)) return du;
    const Array<T> outside = la::minus(t, la::product(u, b));
    return la::plus(du, matrix_transpose(solve_matrices(matrix_transpose(p), matrix_transpose(outside))));
  });
}

// The sums of sizes of the columns of each matrix, the largest of them.
template <class T>
Array<real_t<T>> one_norms(const Array<T>& a) {
  const Array<real_t<T>> size = evaluate(make_expr<rules::absolute>(a));
  return max(sum(size, {.axis = -2}), {.axis = -1});
}
// The elements of all batches, on the host.
template <class R>
std::vector<double> host_values(const Array<R>& x) {
  const Array<R> plain = typed<R>(on_host(contiguous(x, transforms_handled)));
  const R* const from = elements<const R>(plain, transforms_handled);
  return std::vector<double>(from, from + layout_of(plain).size());
}
template <class T>
std::vector<double> one_norm_values(const Array<T>& a) {
  return host_values(one_norms(a));
}

// The largest approximant of exp, which larger matrices are halved for.
struct PadeLimit {
  int order;
  double norm;      // of matrices that it is exact for, to rounding
  double constant;  // the reciprocal of its error's first coefficient, that of a^(2 order + 1)
};

// log2 of the norm of |a|^power over that of a, a (n x n) row-major.
template <class T>
double growth_of_powers(const T* a, std::int64_t n, double norm, int power) {
  where_used_t<std::vector<double>, T> sums(static_cast<std::size_t>(n), 1), next(sums);
  for (int k = 0; k < power; ++k) {  // the sums of |a|^k's columns
    std::fill(next.begin(), next.end(), 0);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        next[static_cast<std::size_t>(j)] +=
            sums[static_cast<std::size_t>(i)] * static_cast<double>(std::abs(a[i * n + j]));
    sums.swap(next);
  }
  return std::log2(*std::max_element(sums.begin(), sums.end()) / norm);
}

// As growth_of_powers, for all batches of matrices that the host does not read. |a|^power is never formed.
template <class T>
std::vector<double> growths_of_powers(const Array<T>& a, const std::vector<double>& norms, int power) {
  using R = real_t<T>;
  const Array<R> size = evaluate(make_expr<rules::absolute>(a));
  Array<R> sums = sum(size, {.axis = -2, .keepdims = true});
  for (int k = 1; k < power; ++k) sums = la::product(sums, size);
  std::vector<double> growths = host_values(Array<R>(max(sums, {.axis = {-2, -1}})));
  for (std::size_t i = 0; i < growths.size(); ++i) growths[i] = std::log2(growths[i] / norms[i]);
  return growths;
}

// How often to halve each matrix before the approximation, `norms` being theirs: what the norms of its powers
// ask for, which of badly scaled matrices is much less than what its own does (Al-Mohy and Higham 2009).
template <class T>
std::vector<int> halvings(const Array<T>& a, const std::vector<double>& norms, const PadeLimit& limit) {
  using R = real_t<T>;
  const std::int64_t n = a.shape(-1);
  std::vector<int> rounds(norms.size(), 0), powers(norms.size(), 0);
  Array<T> scale = typed<T>(allocate_on_host(dtype_of<T>, leading_axes(layout_of(a))));
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (std::isfinite(norms[i]) && norms[i] > limit.norm) powers[i] = std::ilogb(norms[i]);
    elements<T>(scale)[i] = T(std::ldexp(R(1), -powers[i]));
  }
  const Array<T> unit = times_matrix(typed<T>(beside(a, scale)), a), a2 = la::product(unit, unit),
                 a4 = la::product(a2, a2), a6 = la::product(a2, a4);
  const std::vector<double> of_unit = one_norm_values(unit), of6 = one_norm_values(a6),
                            of8 = one_norm_values(la::product(a4, a4)),
                            of10 = one_norm_values(la::product(a4, a6));
  const int terms = 2 * limit.order + 1;
  const auto decide = [&](std::size_t i, const auto& growth) {
    if (!std::isfinite(norms[i]) || !(norms[i] > limit.norm)) return;
    const double d6 = std::pow(of6[i], 1.0 / 6), d8 = std::pow(of8[i], 1.0 / 8),
                 d10 = std::pow(of10[i], 1.0 / 10);
    double size = std::min(of_unit[i], std::max(d6, d8));
    if (limit.order == 13) size = std::min(size, std::max(d8, d10));
    const double log_size = std::log2(size / limit.norm) + powers[i];
    int s = log_size > 0 ? static_cast<int>(std::ceil(log_size)) : 0;
    // The first term of the error, with all elements positive, must round away as well.
    const double term =
        growth() + 2 * limit.order * static_cast<double>(powers[i] - s) - std::log2(limit.constant);
    const double excess = term - std::log2(static_cast<double>(std::numeric_limits<R>::epsilon()) / 2);
    if (excess > 0) s += static_cast<int>(std::ceil(excess / (2 * limit.order)));
    rounds[i] = s;
  };
  if (is_readable(a)) {
    const ArrayBase rows = contiguous(unit, transforms_handled);
    const T* const x = elements<const T>(rows, transforms_handled);
    for (std::size_t i = 0; i < rounds.size(); ++i)
      decide(i, [&] {
        return growth_of_powers(x + static_cast<std::int64_t>(i) * n * n, n, of_unit[i], terms);
      });
  } else {
    const std::vector<double> growths = growths_of_powers(unit, of_unit, terms);
    for (std::size_t i = 0; i < rounds.size(); ++i) decide(i, [&] { return growths[i]; });
  }
  return rounds;
}

// The diagonal Pade approximant to exp of this order: exp(a) = q^-1 p, with p = v + u and q = v - u, u and v
// the odd and even parts of its polynomial (Higham 2005).
template <class T>
Array<T> pade_exp(const Array<T>& a, int order) {
  std::vector<double> c(static_cast<std::size_t>(order) + 1, 1);
  for (int j = 1; j <= order; ++j)  // c_j = (2m - j)! m! / ((2m)! (m - j)! j!)
    c[static_cast<std::size_t>(j)] = c[static_cast<std::size_t>(j - 1)] * static_cast<double>(order - j + 1) /
                                     (static_cast<double>(2 * order - j + 1) * j);
  const Array<T> one = la::eye_beside<T>(a, a.shape(-1));
  const auto scaled_by = [](const Array<T>& x, double by) -> Array<T> {
    return evaluate(
        make_expr<rules::multiply>(x, typed<T>(host_number(static_cast<T>(static_cast<real_t<T>>(by))))));
  };
  std::vector<Array<T>> power{one, la::product(a, a)};  // of a^2
  const std::size_t most = order == 13 ? 3 : static_cast<std::size_t>(order / 2);
  while (power.size() <= most) power.push_back(la::product(power.back(), power[1]));
  // The sum of c[offset + 2 j] a^(2 j) for j below `count`.
  const auto even = [&](std::size_t offset, std::size_t count) {
    Array<T> total = scaled_by(power[0], c[offset]);
    for (std::size_t j = 1; j < count; ++j) total = la::plus(total, scaled_by(power[j], c[offset + 2 * j]));
    return total;
  };
  const std::size_t half = static_cast<std::size_t>(order / 2) + 1;
  const auto polynomial = [&](std::size_t offset) {
    if (order != 13) return even(offset, half);
    // a^6 (c8 a^2 + c10 a^4 + c12 a^6) + the rest.
    Array<T> high = scaled_by(power[1], c[offset + 8]);
    high = la::plus(high, scaled_by(power[2], c[offset + 10]));
    high = la::plus(high, scaled_by(power[3], c[offset + 12]));
    return la::plus(la::product(power[3], high), even(offset, 4));
  };
  const Array<T> u = la::product(a, polynomial(1)), v = polynomial(0);
  return solve_matrices(la::minus(v, u), la::plus(v, u));
}

template <class T>
Array<T> expm_of(const Array<T>& a) {
  using R = real_t<T>;
  struct Order {
    int order;
    double norm;
  };
  // Up to which norm a smaller order is exact to rounding (Higham 2005, table 2.3), and the largest one.
  constexpr Order of_double[] = {{3, 1.495585217958292e-2},
                                 {5, 2.539398330063230e-1},
                                 {7, 9.504178996162932e-1},
                                 {9, 2.097847961257068}};
  constexpr Order of_float[] = {{3, 4.258730016922831e-1}, {5, 1.880152677804762}};
  const bool wide = std::is_same_v<R, double>;
  const PadeLimit limit = wide ? PadeLimit{13, 5.371920351148152, 113250775606021113483283660800000000.0}
                               : PadeLimit{7, 3.925724783138660, 4487938430976000.0};
  if (layout_of(a).size() == 0) return a;
  if (!is_readable(a)) check_recordable("expm");  // how often it halves a matrix depends on its norm
  const Array<T> plain = typed<T>(constant(a));
  const where_used_t<std::vector<double>, T> norms = one_norm_values(plain);
  const double most = *std::max_element(norms.begin(), norms.end());
  for (const Order& o : wide ? std::span<const Order>(of_double) : std::span<const Order>(of_float))
    if (most <= o.norm) return pade_exp(a, o.order);
  // Each matrix is halved as often as it asks for.
  const where_used_t<std::vector<int>, T> each = halvings(plain, norms, limit);
  const int rounds = *std::max_element(each.begin(), each.end());
  if (rounds == 0) return pade_exp(a, limit.order);
  const std::size_t count = each.size();
  const Frame leading = leading_axes(layout_of(a));
  Array<T> scale = typed<T>(allocate_on_host(dtype_of<T>, leading));
  Array<std::int32_t> times_ = typed<std::int32_t>(allocate_on_host(DType::int32, leading));
  for (std::size_t i = 0; i < count; ++i) {
    elements<T>(scale)[i] = T(std::ldexp(R(1), -each[i]));
    elements<std::int32_t>(times_)[i] = each[i];
  }
  Array<T> x = pade_exp(times_matrix(typed<T>(beside(a, scale)), a), limit.order);
  Dims visible = times_.shape();
  visible.push_back(1);
  visible.push_back(1);
  const where_used_t<Array<std::int32_t>, T> counts = typed<std::int32_t>(beside(a, times_)),
                                             squarings =
                                                 restride(counts, with_visible(layout_of(counts), visible));
  for (std::int32_t i = 0; i < rounds; ++i) {
    const Array<T> square = la::product(x, x);
    x = count == 1 ? square
                   : evaluate(make_selection<rules::where>(
                         evaluate(make_expr<rules::greater>(squarings, typed<std::int32_t>(host_number(i)))),
                         square, x));
  }
  return x;
}

}  // namespace detail

namespace linalg {

// exp(a) of square matrices (..., n, n): Pade approximation with scaling and squaring (Al-Mohy and Higham
// 2009). NaN where an element is not finite. Throws ShapeError unless the last two axes are square.
template <detail::ArrayLike A>
auto expm(const A& a_) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_square("expm", a);
  return detail::expm_of(a);
}

// The principal square roots of square matrices, complex also where they are real (nax::real says). Singular
// matrices may have none: NaN or infinities then; so has the derivative of one of theirs. The result has the
// shape of a, (..., n, n). Throws ShapeError unless the last two axes are square.
template <detail::ArrayLike A>
auto sqrtm(const A& a_) {
  using C = complex_t<detail::linalg_t<A>>;
  const Array<detail::linalg_t<A>> a = detail::as_type<detail::linalg_t<A>>(a_);
  detail::check_square("sqrtm", a);
  detail::need_form(ops::Factorise{{loops::Factorisation::sqrtm}, a.dtype()}, a);
  return detail::sqrtm_of(detail::la::converted<C>(a));
}

// The x with a x + x b = q, for a (..., m, m), b (..., n, n) and q (..., m, n). Not finite where an
// eigenvalue of a is one of -b. Differentiable in all three. Throws ShapeError unless `a` and `b` are square
// and `q` fits them.
template <detail::ArrayLike A, detail::ArrayLike B, detail::ArrayLike Q>
auto solve_sylvester(const A& a_, const B& b_, const Q& q_) {
  using T = promote_t<promote_t<detail::linalg_t<A>, detail::linalg_t<B>>, detail::linalg_t<Q>>;
  const Array<T> a = detail::as_type<T>(a_), b = detail::as_type<T>(b_), q = detail::as_type<T>(q_);
  detail::check_square("solve_sylvester", a);
  detail::check_square("solve_sylvester", b);
  detail::check_matrices("solve_sylvester", q);
  detail::need_form(ops::Sylvester{1, 1, 1, a.dtype()}, a, b, q);
  if (q.shape(-2) != a.shape(-1) || q.shape(-1) != b.shape(-1))
    raise<ShapeError>({"solve_sylvester: q must have as many rows as a and columns as b: shapes ", a.shape(),
                       ", ", b.shape(), " and ", q.shape()});
  const int rank = std::max({a.ndim(), b.ndim(), q.ndim()});
  return detail::sylvester(detail::with_unit_axes(a, rank - a.ndim(), false),
                           detail::with_unit_axes(b, rank - b.ndim(), false),
                           detail::with_unit_axes(q, rank - q.ndim(), false));
}

// SciPy's names.
template <class T>
struct Polar {
  Array<T> u, p;
};
struct PolarOptions {
  const char* side = "right";
};
// a = u p ("right"), or a = p u ("left"), for matrices (..., m, n): p is Hermitian and positive, u has
// orthonormal columns, or rows where m < n. Differentiable where a has full rank. Throws ShapeError unless
// the array is at least 2-d, and ValueError for an unknown side.
template <detail::ArrayLike A>
auto polar(const A& a_, const PolarOptions& options = {}) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_matrices("polar", a);
  const std::string_view side = options.side;
  if (side != "right" && side != "left")
    raise<ValueError>({"polar: side must be 'right' or 'left', got '", options.side, "'"});
  const bool tall = a.shape(-2) >= a.shape(-1);
  const Array<T> u =
      tall ? detail::unitary_factor(a) : detail::la::adjoint(detail::unitary_factor(detail::la::adjoint(a)));
  const Array<T> p = side == "right" ? detail::la::product(detail::la::adjoint(u), a)
                                     : detail::la::product(a, detail::la::adjoint(u));
  return Polar<T>{u, detail::la::hermitian_part(p)};
}

template <class Element>
struct Schur {
  Array<Element> T, Z;
};
// a = Z T Z^H for square matrices, Z unitary. T is upper triangular for complex ones, and for real ones upper
// triangular but for 2 x 2 blocks of pairs of complex eigenvalues on its diagonal; a complex array of real
// numbers has the complex form. Not differentiable: an error under grad and jvp. Both have the shape of a,
// (..., n, n).
template <detail::ArrayLike A>
auto schur(const A& a_) {
  using T = detail::linalg_t<A>;
  const Array<T> a = detail::as_type<T>(a_);
  detail::check_square("schur", a);
  constexpr auto kind = loops::Factorisation::schur;
  detail::need_form(ops::Factorise{{kind}, a.dtype()}, a);
  if (detail::is_recorded(a)) detail::throw_not_differentiable("schur", "a");
  const std::int64_t n = a.shape(-1);
  Schur<T> parts{detail::matrices_like<T>(a, {n, n}), detail::matrices_like<T>(a, {n, n})};
  cpu::provide<cpu::FactorKernel<kind>, T>();
  detail::factorise({.kind = kind}, a, {&parts.T, &parts.Z});
  return parts;
}

}  // namespace linalg
NAX_END
