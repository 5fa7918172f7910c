#pragma once

#include <tuple>
#include <utility>

#include "nax/optim/step.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/transform/grad.hpp"

// A step of training in one call.
NAX_BEGIN
namespace optim {

struct StepOptions {
  // The axis of a pmap or vmap over which gradients are averaged, as by pmean, before the step.
  AxisName axis_name = {};
};

namespace detail {

// A function whose second argument is the optimiser's state, and that hands the others to a loss F.
template <class F>
struct Stepped {};

template <class F>
struct CheckStep {
  template <class, class P, class S, class... A>
  static constexpr auto find() {
    return nax::detail::CheckGradient<>::find<F, P, A...>();
  }
};

}  // namespace detail

// value_and_step(optimizer, f)(params, state, args...): the tuple {f(params, args...), next params, next
// state}, what value_and_grad(f), pmean where there is an axis, and step give. f returns a 0-d array of a
// floating type, or std::pair{loss, aux}; both are this device's own. A state and params that are given away
// are written over:
//   std::tie(loss, params, state) =
//       optim::value_and_step(opt, f)(std::move(params), std::move(state), x, y);
// Throws what value_and_grad, pmean and the optimiser throw.
template <class Optimizer, class F>
auto value_and_step(Optimizer optimizer, F f, const StepOptions& options = {}) {
  return nax::detail::transformed<detail::CheckStep<F>, detail::Stepped<F>>(
      [=, optimizer = std::move(optimizer), f = std::move(f)]<class P, class S>(P&& params, S&& state,
                                                                                const auto&... args) {
        auto [value, grads] = nax::detail::value_and_gradients<0>("value_and_step", f, params, args...);
        if (!options.axis_name.empty())
          nax::detail::reduce_arrays(grads, nax::detail::find_axes("value_and_step", options.axis_name),
                                     true);
        auto [next_params, next_state] =
            optim::step(optimizer, grads, std::forward<S>(state), std::forward<P>(params));
        return std::tuple{std::move(value), std::move(next_params), std::move(next_state)};
      });
}

}  // namespace optim
NAX_END
