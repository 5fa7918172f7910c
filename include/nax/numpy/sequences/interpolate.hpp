#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/sorting/search.hpp"

// Functions that are given by points to join.
namespace nax::inline NAX_ABI {

// The values on the left of all points and on their right, in place of the first and the last.
template <class T>
struct InterpOptions {
  std::optional<T> left = {}, right = {};
};

// At each x the line through the points (xp, fp), 1-d, xp ascending. Differentiable with regard to all three.
// Throws ValueError where xp and fp are not of one length, or empty.
template <detail::Operand X, detail::ArrayLike XP, detail::ArrayLike FP>
auto interp(const X& x_, const XP& xp_, const FP& fp_,
            const InterpOptions<inexact_t<typename FP::value_type>>& options = {}) {
  using T = inexact_t<promote_t<typename XP::value_type, typename FP::value_type>>;
  const Array<T> xp = detail::as_type<T>(xp_), fp = detail::as_type<T>(fp_);
  const Array<T> x = [&] {
    if constexpr (Scalar<X>)
      return Array<T>(static_cast<T>(x_));
    else
      return detail::as_type<T>(x_);
  }();
  detail::need_host("interp", x, xp, fp);
  if (xp.ndim() != 1 || xp.shape() != fp.shape() || xp.size() == 0)
    raise<ValueError>(
        {"interp: xp and fp must be 1-d, of one length and not empty: ", xp.shape(), " and ", fp.shape()});
  const auto last = static_cast<std::int32_t>(xp.size() - 1);
  const Array<std::int32_t> right = minimum(maximum(searchsorted(xp, x, {.side = "right"}), 1), last);
  const Array<T> below = options.left ? Array<T>(*options.left) : Array<T>(fp(0));
  const Array<T> above = options.right ? Array<T>(*options.right) : Array<T>(fp(-1));
  const Array<std::int32_t> left = maximum(right - 1, 0);
  const Array<T> x0 = take(xp, left), x1 = take(xp, right), f0 = take(fp, left), f1 = take(fp, right);
  const Array<T> step = where(x1 == x0, T(1), x1 - x0);  // two values at one place: the later one
  const Array<T> inside = where(x1 == x0, f1, f0 + (x - x0) / step * (f1 - f0));
  return Array<T>(where(x < xp(0), below, where(x > xp(-1), above, inside)));
}

}  // namespace nax::inline NAX_ABI
