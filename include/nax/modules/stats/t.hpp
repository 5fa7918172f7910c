#pragma once

#include "nax/modules/stats/norm.hpp"
#include "nax/modules/stats/tails.hpp"
#include "nax/special/gamma.hpp"

// Student's t distribution with df degrees of freedom; the normal one where df is infinite.
NAX_BEGIN
namespace stats::t {

// The logarithm of the density.
template <class X, class DF>
requires Function<X, DF>
auto logpdf(const X& x_, const DF& df_, const LocScaleOptions& options = {}) {
  using R = detail::stats_t<X, DF>;
  const Array<R> all_df = detail::stats_operand<R>(df_);
  const Array<R> z = detail::standardised<R>(x_, options);
  const auto is_normal = all_df == std::numeric_limits<double>::infinity();
  const Array<R> df = where(is_normal, 1, all_df);
  const Array<R> more = 0.5 * (df + 1);
  const Array<R> of_df =
      -special::betaln(0.5 * df, 0.5) - 0.5 * log(df) - more * detail::log1p_of_square<R>(z / sqrt(df));
  return Array<R>(where(is_normal, norm::logpdf(z), of_df) - detail::log_scale<R>(options));
}

// The density.
template <class X, class DF>
requires Function<X, DF>
auto pdf(const X& x_, const DF& df_, const LocScaleOptions& options = {}) {
  return decltype(logpdf(x_, df_, options))(exp(logpdf(x_, df_, options)));
}

}  // namespace stats::t
NAX_END
