#pragma once

#include "nax/modules/integrate/solve_ivp.hpp"

NAX_BEGIN
namespace integrate {

struct OdeintOptions {
  double rtol = 1.4e-8, atol = 1.4e-8;
  std::string_view method = "dopri5";
  std::int64_t max_steps = 1000000;
};

// The solution of dy/dt = f(y, t) at the times t, whose first is y0's: (times, y0's shape), as jax's odeint.
// Differentiable in y0, in what f captured and, of first order, in t.
// Throws ValueError where the times do not run one way, and Error where a step fails.
template <class F, class Y>
Array<typename Y::value_type> odeint(const F& f, const Y& y0, const detail::Numbers& t,
                                     const OdeintOptions& options = {}) {
  using T = typename Y::value_type;
  const std::vector<double>& times = t.values();
  if (times.empty()) throw ValueError("odeint: t must hold at least one time");
  const auto turned = [&](double at, const Array<T>& y) -> Array<T> { return f(y, at); };
  const OdeResult<T> result = solve_ivp(turned, {t[0], t[times.size() - 1]}, y0,
                                        {.method = options.method,
                                         .rtol = options.rtol,
                                         .atol = options.atol,
                                         .t_eval = t,
                                         .max_steps = options.max_steps});
  if (!result.success) raise<Error>({"odeint: ", result.message});
  return moveaxis(result.y, -1, 0);
}

}  // namespace integrate
NAX_END
