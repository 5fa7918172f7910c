#pragma once

#include "nax/modules/integrate/adjoint.hpp"

// Initial value problems.
NAX_BEGIN
namespace integrate {

namespace detail {

// Gives the points of a result the derivatives in their times: those of t_eval, or the ends of the span.
template <class T>
void move_points(const Field<T>& f, const TimeSpan& span, const Numbers& t_eval, OdeResult<T>& result) {
  const std::int64_t points = result.t.size();
  const auto time_of = [&](std::int64_t i) -> Time {
    if (!t_eval.values().empty()) return t_eval[static_cast<std::size_t>(i)];
    if (i == 0) return span.begin;
    return i + 1 == points && result.status == 0 ? span.end : Time(0);
  };
  bool any = false;
  for (std::int64_t i = 0; i < points; ++i) any = any || time_of(i).is_watched();
  if (!any) return;
  std::vector<Array<T>> states;
  std::vector<Array<double>> times;
  for (std::int64_t i = 0; i < points; ++i) {
    const Time t = time_of(i);
    states.push_back(moved_in_time<T>(f, t, Array<T>(result.y(ellipsis, i)), 1));
    times.push_back(t.is_watched() ? t.array() : Array<double>(result.t(i)));
  }
  result.y = stack(states, {.axis = -1});
  result.t = stack(times);
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
