#pragma once

#include "nax/integrate/adjoint.hpp"

// Initial value problems.
NAX_BEGIN
namespace integrate {

namespace detail {

// Gives the points of a result the derivatives in their times: those of t_eval, or the ends of the span.
template <class T>
void move_points(const Field<T>& f, const TimeSpan& span, const Numbers& t_eval, OdeResult<T>& result) {
  const std::size_t points = static_cast<std::size_t>(result.t.size());
  const auto move = [&](std::size_t i, const Time& t) {
    if (!t.is_watched()) return;
    const std::int64_t at = static_cast<std::int64_t>(i);
    const Array<T> y = moved_in_time<T>(f, t, Array<T>(result.y(ellipsis, at)), 1);
    result.y = result.y.at(ellipsis, at).set(y);
    result.t = result.t.at(at).set(t.array());
  };
  if (!t_eval.values().empty()) {
    for (std::size_t i = 0; i < points; ++i) move(i, t_eval[i]);
  } else {
    move(0, span.begin);
    if (result.status == 0) move(points - 1, span.end);
  }
}

}  // namespace detail

// Solves dy/dt = f(t, y, args...) over t_span, which may run backward, from y0: an array of float or double;
// t is a double. Adapts the length of steps to rtol |y| + atol, and gives the solution at .t_eval or at its
// steps. y, sol(t), t_events and y_events are differentiable in y0 and in what f captured or takes as args:
// through the steps taken or by the adjoint equation (.gradient), and events, first derivatives alone, by the
// equation that they solve. The ends of the span, .t_eval and sol's t may be arrays, and have first
// derivatives, f(t, y). Under vmap all lanes take the same steps, as short as one of them needs; a lane
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
  const Array<T> start = detail::moved_in_time<T>(field, t_span.begin, nax::detail::as_array(y0), -1);
  const detail::Span span{t_span.begin, t_span.end};
  OdeResult<T> result = detail::gradient_mode(options.gradient) == detail::GradientMode::adjoint
                            ? detail::solve_with_adjoint(field, span, start, options)
                            : detail::Solver<T>(field, span, start, options).solve();
  detail::move_points(field, t_span, options.t_eval, result);
  if (result.sol)
    result.sol = [field, still = std::move(result.sol)](const detail::Time& t) -> Array<T> {
      return detail::moved_in_time<T>(field, t, still(t), 1);
    };
  return result;
}

}  // namespace integrate
NAX_END
