#pragma once

#include <limits>

#include "nax/core/where_used.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/tree/static.hpp"

// When to stop.
NAX_BEGIN
namespace training {

struct EarlyStoppingOptions {
  int patience = 10;     // so many updates in a row may bring nothing better
  double min_delta = 0;  // by which a value must be better to count
  bool maximize = false;
};

// Watches a number that is to become better. A tree of arrays, so it is saved and resumed with the rest of a
// training state. NaN is never better.
//
//   auto stopping = training::EarlyStopping::make({.patience = 5});
//   stopping = stopping.update(validation_loss);
//   if (stopping.improved()) ...save...;
//   if (stopping.should_stop()) break;
struct EarlyStopping {
  Array<double> best;  // ()
  Array<int> waited;   // (): updates since the best one; -1 before the first
  tree::Static<int> patience = 10;
  tree::Static<double> min_delta = 0.0;
  tree::Static<bool> maximize = false;

  static EarlyStopping make(const EarlyStoppingOptions& options = {}) {
    const double worst = std::numeric_limits<double>::infinity();
    return {options.maximize ? -worst : worst, -1, options.patience, options.min_delta, options.maximize};
  }
  template <nax::detail::Operand X>
  EarlyStopping update(const X& value) const {
    EarlyStopping next = *this;
    using Real = nax::detail::where_used_t<Array<double>, X>;
    const Real before = best;
    const nax::detail::where_used_t<Array<int>, X> pauses = waited;
    Real v;
    if constexpr (Scalar<X>)
      v = Real(static_cast<double>(value));
    else
      v = nax::detail::as_array(value).template astype<double>();
    const nax::detail::where_used_t<Array<bool>, X> better =
        *maximize ? Array<bool>(v > before + *min_delta) : Array<bool>(v < before - *min_delta);
    next.best = where(better, v, before);
    next.waited = where(better, 0, maximum(pauses, 0) + 1);
    return next;
  }
  // True if the last update was the best so far.
  bool improved() const { return waited.item() == 0; }
  bool should_stop() const { return waited.item() > *patience; }
};

}  // namespace training
NAX_END
