#pragma once

#include <string_view>

#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/elementwise/cast.hpp"

// Do chains agree, and how many independent draws are theirs worth?
NAX_BEGIN
namespace mcmc {

struct EssOptions {
  std::string_view method = "bulk";  // of ranks; "mean": of the draws as they are; "tail": of 5% and 95%
};

namespace detail {
// For each parameter one number; draws is (chains, draws, ...).
NAX_ENGINE Array<double> rhat_of(const Array<double>& draws);
NAX_ENGINE Array<double> ess_of(const Array<double>& draws, std::string_view method);
}  // namespace detail

// The potential scale reduction factor of draws of shape (chains, draws, ...), for each parameter: near 1
// where chains agree, above 1.01 where they do not yet. Chains are split into halves, draws replaced by the
// normal quantiles of their ranks; the larger of the values for place and for spread. A. Vehtari and others,
// Rank-normalization, folding, and localization: an improved R-hat (2021). Returns shape draws.shape[2:]; NaN
// for parameters that do not move or are not finite. Throws ShapeError for fewer than two axes, ValueError
// for fewer than 4 draws or no chain.
template <class X>
requires nax::detail::ArrayLike<X> Array<double> rhat(const X& draws) {
  return detail::rhat_of(nax::detail::as_array(draws).template astype<double>());
}

// The effective sample size of draws of shape (chains, draws, ...), for each parameter: the number of
// independent draws of the same accuracy, of the ranks' mean ("bulk"), of the mean, or the smaller one of the
// quantiles at 5% and 95% ("tail"). By Geyer's initial monotone sequence over split chains, as Vehtari and
// others (2021). Returns shape draws.shape[2:]; all draws for parameters that do not move, NaN for those that
// are not finite. Throws as rhat does, and ValueError for another method.
template <class X>
requires nax::detail::ArrayLike<X> Array<double> ess(const X& draws, const EssOptions& options = {}) {
  return detail::ess_of(nax::detail::as_array(draws).template astype<double>(), options.method);
}

}  // namespace mcmc
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/mcmc/diagnostics-inl.hpp"
#endif
