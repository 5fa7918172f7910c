#pragma once

#include "nax/numpy/manipulation/join.hpp"
#include "nax/special/recorded.hpp"

// Bessel functions. Real types; integers become float.
NAX_BEGIN
namespace special {

// clang-format off
// The modified Bessel function of the first kind, of order 0.
template <class X> requires Function<X> auto i0(X&& x) { return detail::apply<rules::i0>(std::forward<X>(x)); }
// The modified Bessel function of the first kind, of order 1.
template <class X> requires Function<X> auto i1(X&& x) { return detail::apply<rules::i1>(std::forward<X>(x)); }
// e^-|x| i0(x)
template <class X> requires Function<X> auto i0e(X&& x) { return detail::apply<rules::i0e>(std::forward<X>(x)); }
// e^-|x| i1(x)
template <class X> requires Function<X> auto i1e(X&& x) { return detail::apply<rules::i1e>(std::forward<X>(x)); }
// clang-format on

struct BesselOptions {
  int v = 0;
  int n_iter = 50;  // JAX's; what is computed here has all digits anyway
};
// Bessel functions of the first kind of orders 0 to v, along a new first axis. z of shape (...) gives (v + 1,
// ...). Throws ValueError for v < 0.
template <class Z>
requires Function<Z>
auto bessel_jn(const Z& z, const BesselOptions& options) {
  using R = inexact_t<detail::operand_type_t<Z>>;
  if (options.v < 0) raise<ValueError>({"bessel_jn: the order v must not be negative, got ", options.v});
  const Array<R> x = detail::evaluate(detail::make_expr<rules::add>(detail::as_array(z), R(0)));
  std::vector<Array<R>> orders;
  for (int v = 0; v <= options.v; ++v)
    orders.push_back(detail::evaluate(detail::make_expr<rules::bessel_j>(static_cast<R>(v), x)));
  return stack(orders);
}
// Takes the order as a positional argument.
template <class Z>
requires Function<Z>
auto bessel_jn(const Z& z, int v) { return bessel_jn(z, BesselOptions{.v = v}); }

}  // namespace special

using special::i0;  // NumPy's, too
NAX_END
