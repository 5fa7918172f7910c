#pragma once

#include "nax/numpy/elementwise/logic.hpp"
#include "nax/special/fixed.hpp"

// The gamma function's relatives, with SciPy's names. Real types; integers become float. Computed in double.
NAX_BEGIN
namespace special {

// clang-format off
// log(Gamma(x)); NaN below 0 (SciPy's, for real numbers).
template <class X> requires Function<X> auto loggamma(X&& x) { return detail::apply<rules::loggamma>(std::forward<X>(x)); }
// The sign of the gamma function; it has no derivative.
template <class X> requires Function<X> auto gammasgn(X&& x) { return detail::apply<rules::gammasgn>(std::forward<X>(x)); }
// Gamma(n + 1), and 0 below 0.
template <class X> requires Function<X> auto factorial(X&& x) { return detail::apply<rules::factorial>(std::forward<X>(x)); }
// Gamma(z + m) / Gamma(z).
template <class Z, class M> requires Function<Z, M> auto poch(Z&& z, M&& m) { return detail::apply<rules::poch>(std::forward<Z>(z), std::forward<M>(m)); }
// The regularised lower incomplete gamma function: the integral of t^(a - 1) e^-t / Gamma(a) over [0, x].
// Differentiable in both, by a up to five times.
template <class A, class X> requires Function<A, X> auto gammainc(A&& a, X&& x) { return detail::apply<rules::gammainc>(0, std::forward<A>(a), std::forward<X>(x)); }
// The upper one: the integral from x on.
template <class A, class X> requires Function<A, X> auto gammaincc(A&& a, X&& x) { return detail::apply<rules::gammaincc>(0, std::forward<A>(a), std::forward<X>(x)); }
// Gamma(a) Gamma(b) / Gamma(a + b).
template <class A, class B> requires Function<A, B> auto beta(A&& a, B&& b) { return detail::apply<rules::beta>(std::forward<A>(a), std::forward<B>(b)); }
// The logarithm of |Gamma(a) Gamma(b) / Gamma(a + b)|.
template <class A, class B> requires Function<A, B> auto betaln(A&& a, B&& b) { return detail::apply<rules::betaln>(std::forward<A>(a), std::forward<B>(b)); }
// clang-format on

// The regularised incomplete beta function: the integral of t^(a - 1) (1 - t)^(b - 1) / B(a, b) over [0, x].
// Differentiable in x alone, as in JAX: throws ValueError where a or b is being differentiated.
template <class A, class B, class X>
requires Function<A, B, X>
auto betainc(const A& a, const B& b, X&& x) {
  return detail::apply<rules::betainc>(detail::fixed("betainc", "a", a), detail::fixed("betainc", "b", b),
                                       std::forward<X>(x));
}

struct CombOptions {
  bool repetition = false;
};
// How many ways there are to take k of N things; with repetition, each any number of times. 0 where N < k.
template <class N, class K>
requires Function<N, K>
auto comb(const N& n, const K& k) { return detail::apply<rules::comb>(n, k); }
// Takes options.
template <class N, class K>
requires Function<N, K>
auto comb(const N& n, const K& k, const CombOptions& options) {
  using R = inexact_t<promote_t<detail::operand_type_t<N>, detail::operand_type_t<K>>>;
  Array<R> all = detail::evaluate(detail::make_expr<rules::add>(detail::as_array(n), R(0)));
  const Array<R> taken = detail::evaluate(detail::make_expr<rules::add>(detail::as_array(k), R(0)));
  if (options.repetition)  // (nothing taken of nothing is one way)
    all = detail::evaluate(where((all == R(0)) & (taken == R(0)), R(0), all + taken - R(1)));
  return Array<R>(detail::evaluate(detail::make_expr<rules::comb>(all, taken)));
}

// The logarithm of the gamma function of d x d matrices: d (d - 1) / 4 log(pi) + the sum of gammaln(a - j /
// 2). Throws ValueError for d < 1.
template <class A>
requires Function<A>
auto multigammaln(const A& a, int d) {
  if (d < 1) raise<ValueError>({"multigammaln: d should be a positive integer (dimension), got ", d});
  using R = inexact_t<detail::operand_type_t<A>>;
  const Array<R> x = detail::evaluate(detail::make_expr<rules::add>(detail::as_array(a), R(0)));
  Array<R> sum = detail::evaluate(gammaln(x) + static_cast<R>(0.25 * d * (d - 1) * 1.14472988584940017414));
  for (int j = 1; j < d; ++j) sum = detail::evaluate(sum + gammaln(x - static_cast<R>(0.5 * j)));
  return sum;
}

}  // namespace special
NAX_END
