#pragma once

#include "nax/integrate/adjoint.hpp"

// Initial value problems.
NAX_BEGIN
namespace integrate {

// Solves dy/dt = f(t, y, args...) over t_span, which may run backward, from y0: an array of float or double;
// t is a double. Adapts the length of steps to rtol |y| + atol, and gives the solution at .t_eval or at its
// steps. y, t_events and y_events are differentiable in y0 and in what f captured or takes as args: through
// the steps taken or by the adjoint equation (.gradient), and events, first derivatives alone, by the
// equation that they solve. Under vmap all lanes take the same steps, as short as one of them needs; a lane
// that cannot go on becomes NaN. Throws ValueError for a method that is not there, a span that is not finite,
// negative tolerances, times outside of the span, and events under vmap; ShapeError where f's result is not
// of y's shape. A step that cannot meet the tolerances, and more than .max_steps, are told by .status and
// .message.
template <class F, class Y>
OdeResult<typename Y::value_type> solve_ivp(const F& f, TimeSpan t_span, const Y& y0,
                                            const SolveIvpOptions<typename Y::value_type>& options = {}) {
  using T = typename Y::value_type;
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "solve_ivp: y0 must be of float or double");
  // (Owns what it calls: gradients call it later.)
  const detail::Field<T> field = [f, args = options.args](double t, const Array<T>& y) {
    return detail::call_field<T>("solve_ivp", f, t, y, args);
  };
  const Array<T> start = nax::detail::as_array(y0);
  if (detail::gradient_mode(options.gradient) == detail::GradientMode::adjoint)
    return detail::solve_with_adjoint(field, t_span, start, options);
  return detail::Solver<T>(field, t_span, start, options).solve();
}

}  // namespace integrate
NAX_END
