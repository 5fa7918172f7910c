#pragma once

#include "nax/linalg/special_matrices.hpp"
#include "nax/numpy/indexing/placement.hpp"

// SciPy's matrices that are made of the elements of a vector.
NAX_BEGIN
namespace detail {

// 0, 1 and the vector's elements.
template <class T>
Array<T> behind_0_and_1(const char* function, const Array<T>& x) {
  const Array<T> zero = filled_on_host<T>(function, Shape{1}, T(0)),
                 one = filled_on_host<T>(function, Shape{1}, T(1));
  return concatenate_on(function,
                        std::vector<Array<T>>{typed<T>(beside(x, zero)), typed<T>(beside(x, one)), x}, 0);
}
template <class X>
auto checked_vector(const char* function, const X& x_, std::int64_t least) {
  const Array<typename X::value_type> x = materialise(x_);
  check_operand(function, x);
  if (x.ndim() != 1 || x.shape(0) < least)
    raise<ShapeError>(
        {function, ": an array must be 1-d, of at least ", least, " elements, shape ", x.shape()});
  return x;
}
// Minus the coefficients of a polynomial, the highest power first, divided by the first of them.
template <class T>
Array<T> negated_monic(const Array<T>& a) {
  return Array<T>(-a / a(slice(0, 1)));
}

}  // namespace detail

namespace linalg {

// Each column is the one before it, moved down by one, the last element coming first: c (..., n) gives
// (..., n, n), with c its first column. Leading axes are a batch. Throws ShapeError if c has no axes.
template <detail::ArrayLike C>
auto circulant(const C& c_) {
  const Array<typename C::value_type> c = detail::materialise(c_);
  detail::check_operand("circulant", c);
  if (c.ndim() == 0) throw ShapeError("circulant: c must have at least 1 dimension, shape ()");
  const std::int64_t n = c.shape(-1);
  return detail::pattern(c, n, n, [n](std::int64_t i, std::int64_t j) { return (i - j + n) % n; });
}

// Constant along its anti-diagonals: first column c, last row r (whose first element is not read). Leading
// axes are a batch, and broadcast. c (..., m) and r (..., n) give (..., m, n). Throws ShapeError if the
// leading axes do not broadcast.
template <detail::ArrayLike C, detail::ArrayLike R>
auto hankel(const C& c_, const R& r_) {
  using T = promote_t<typename C::value_type, typename R::value_type>;
  const Array<T> c = detail::as_type<T>(c_), r = detail::as_type<T>(r_);
  detail::check_operand("hankel", c);
  detail::check_operand("hankel", r);
  return flip(detail::toeplitz_of(flip(atleast_1d(c), {.axis = -1}), atleast_1d(r)), {.axis = -2});
}
// Zeros follow where c ends: (..., n) gives (..., n, n).
template <detail::ArrayLike C>
auto hankel(const C& c_) {
  const Array<typename C::value_type> c = detail::materialise(c_);
  return hankel(c, zeros_like(c));
}

// The companion matrix of a polynomial with coefficients a, the highest power first: (n,) gives (n - 1, n -
// 1), whose eigenvalues are the roots. Throws ShapeError for an a that is not 1-d or has less than 2
// elements.
template <detail::ArrayLike A>
auto companion(const A& a_) {
  const auto a = detail::checked_vector("companion", a_, 2);
  const std::int64_t n = a.shape(0) - 1;
  return detail::pattern(detail::behind_0_and_1("companion", detail::negated_monic(a)), n, n,
                         [](std::int64_t i, std::int64_t j) { return i == 0       ? j + 3
                                                                     : i == j + 1 ? 1
                                                                                  : 0; });
}

// Fiedler's companion matrix of the same polynomial, which has five diagonals (Fiedler 2003): (n,) gives
// (n - 1, n - 1). Throws ShapeError as companion does.
template <detail::ArrayLike A>
auto fiedler_companion(const A& a_) {
  const auto a = detail::checked_vector("fiedler_companion", a_, 2);
  const std::int64_t n = a.shape(0) - 1;
  const auto place = [](std::int64_t i, std::int64_t j) -> std::int64_t {
    if (i <= 1 && j == 0) return i == 0 ? 3 : 1;
    if (j % 2 == 1 && i == j - 1) return j + 3;                // -a(j + 1) above the diagonal
    if (i % 2 == 0 && i > 0 && j == i - 1) return i + 3;       // -a(i + 1) below it
    const bool beyond = j % 2 == 1 ? i == j + 2 : i == j - 2;  // two rows below, or above
    return beyond ? 1 : 0;
  };
  return detail::pattern(detail::behind_0_and_1("fiedler_companion", detail::negated_monic(a)), n, n, place);
}

// |a_i - a_j|, symmetric: (..., n) gives (..., n, n). Leading axes are a batch. Throws ShapeError if a has no
// axes.
template <detail::ArrayLike A>
auto fiedler(const A& a_) {
  const Array<typename A::value_type> a = detail::materialise(a_);
  detail::check_operand("fiedler", a);
  if (a.ndim() == 0) throw ShapeError("fiedler: a must have at least 1 dimension, shape ()");
  return eval(abs(expand_dims(a, -1) - expand_dims(a, -2)));
}

// Leslie's matrix of a population by age: fecundities f (n,) in the first row, survivals s (n - 1,) below the
// diagonal; (n, n). Throws ShapeError for other shapes.
template <detail::ArrayLike F, detail::ArrayLike S>
auto leslie(const F& f_, const S& s_) {
  using T = promote_t<typename F::value_type, typename S::value_type>;
  const Array<T> f = detail::checked_vector("leslie", detail::as_type<T>(f_), 2),
                 s = detail::checked_vector("leslie", detail::as_type<T>(s_), 1);
  const std::int64_t n = f.shape(0);
  if (s.shape(0) != n - 1)
    raise<ShapeError>(
        {"leslie: s must have one element less than f, shapes ", f.shape(), " and ", s.shape()});
  return detail::pattern(
      detail::behind_0_and_1("leslie", detail::concatenate_on("leslie", std::vector<Array<T>>{f, s}, 0)), n,
      n, [n](std::int64_t i, std::int64_t j) { return i == 0       ? j + 2
                                                      : i == j + 1 ? n + 1 + i
                                                                   : 0; });
}

// The matrix that a vector of n elements is multiplied by to be convolved with a (m,). Of max(m, n) rows with
// mode "same", max(m, n) - min(m, n) + 1 with "valid", m + n - 1 with "full"; n columns. Throws ShapeError
// for an a that is not 1-d or empty, ValueError for n < 1 or another mode.
template <detail::ArrayLike A>
auto convolution_matrix(const A& a_, std::int64_t n, const std::string& mode = "full") {
  using T = typename A::value_type;
  const Array<T> a = detail::checked_vector("convolution_matrix", a_, 1);
  if (n < 1) raise<ValueError>({"convolution_matrix: n must be at least 1, not ", n});
  if (mode != "full" && mode != "same" && mode != "valid")
    raise<ValueError>({"convolution_matrix: mode must be 'full', 'same' or 'valid', not '", mode, "'"});
  const std::int64_t m = a.shape(0), trim = std::min(m, n) - 1;
  const std::int64_t before = mode == "full"   ? 0
                              : mode == "same" ? trim / 2
                                               : trim,
                     behind = mode == "full"   ? 0
                              : mode == "same" ? trim - trim / 2
                                               : trim;
  return detail::pattern(detail::behind_0_and_1("convolution_matrix", a), m + n - 1 - before - behind, n,
                         [=](std::int64_t i, std::int64_t j) -> std::int64_t {
                           const std::int64_t k = i + before - j;
                           return 0 <= k && k < m ? k + 2 : 0;
                         });
}

}  // namespace linalg
NAX_END
