#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "nax/modules/integrate/field.hpp"
#include "nax/modules/integrate/solve_ivp.hpp"
#include "nax/random/continuous.hpp"
#include "nax/transform/jvp.hpp"

// Stochastic differential equations.
NAX_BEGIN
namespace integrate {

struct SdeintOptions {
  std::string_view method = "euler";  // Euler-Maruyama, of strong order 1/2; "milstein": of order 1
  std::int64_t steps = 100;
  Arguments args = {};  // behind t and y, of both functions: one, or a std::tuple
};

template <class T>
struct SdeResult {
  Array<double> t;  // (steps + 1,)
  Array<T> y;       // y0's shape, then (steps + 1,)
  Array<T> w;       // the Brownian path, of y's shape, 0 at the begin
};

namespace detail {

template <class T, class F, class G, class Increment>
SdeResult<T> sde_path(const F& f, const G& g, const TimeSpan& t_span, const Array<T>& y0, std::int64_t steps,
                      const SdeintOptions& o, const Increment& increment) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "sdeint: y0 must be of float or double");
  const bool milstein = o.method == "milstein";
  if (!milstein && o.method != "euler")
    raise<ValueError>({"sdeint: method must be 'euler' or 'milstein', not '", o.method, "'"});
  if (t_span.begin.is_watched() || t_span.end.is_watched())
    throw TypeError("sdeint: t_span has no derivatives; pass stop_gradient of it");
  const Span span{t_span.begin, t_span.end};
  if (!std::isfinite(span.begin) || !std::isfinite(span.end) || !(span.end >= span.begin))
    raise<ValueError>(
        {"sdeint: t_span must be finite and not run backward, got {", span.begin, ", ", span.end, "}"});
  if (steps < 1) raise<ValueError>({"sdeint: steps must be positive: ", steps});
  const auto call = [&](const char* name, const auto& function, double t, const Array<T>& y) {
    Array<T> out = call_field<T>("sdeint", function, t, y, o.args);
    if (out.shape() != y.shape())
      raise<ShapeError>(
          {"sdeint: ", name, " must return an array of y's shape ", y.shape(), ", not ", out.shape()});
    return out;
  };
  const double h = (span.end - span.begin) / static_cast<double>(steps);
  std::vector<double> times{span.begin};
  std::vector<Array<T>> states{y0}, path{zeros_like(y0)};
  for (std::int64_t i = 0; i < steps; ++i) {
    const double t = times.back();
    const Array<T> y = states.back(), dw = increment(i, h);
    Array<T> next = y + call("f", f, t, y) * static_cast<T>(h);
    if (milstein) {
      const auto diffusion = [&](const Array<T>& at) { return call("g", g, t, at); };
      const Array<T> here = diffusion(y);
      const Array<T> slope = jvp(diffusion, std::tuple{y}, std::tuple{here}).second;
      next = next + here * dw + slope * (square(dw) - static_cast<T>(h)) * T(0.5);
    } else {
      next = next + call("g", g, t, y) * dw;
    }
    times.push_back(i + 1 == steps ? span.end : span.begin + static_cast<double>(i + 1) * h);
    states.push_back(next);
    path.push_back(path.back() + dw);
  }
  return {array(times), stack(states, {.axis = -1}), stack(path, {.axis = -1})};
}

}  // namespace detail

// A path of dy = f(t, y, args...) dt + g(t, y, args...) dW from y0 over t_span, in Ito's sense, in .steps
// steps of one length. y0: an array of float or double; t is a double; f and g return arrays of y's shape,
// and each element has a Brownian motion of its own, drawn from the key. For "milstein" an element of g may
// depend on its element of y alone. P. Kloeden, E. Platen, Numerical Solution of Stochastic Differential
// Equations (1992), 10.2 and 10.3. Differentiable in y0 and in what f and g captured or take as args, goes
// under vmap, of keys too, and jit, which records all steps. Throws ValueError for another method, a span
// that is infinite or runs backward, and no steps; ShapeError where f or g change the shape; TypeError for a
// span that is differentiated.
template <class F, class G, class Y>
SdeResult<typename Y::value_type> sdeint(const F& f, const G& g, TimeSpan t_span, const Y& y0,
                                         const random::Key& key, const SdeintOptions& options = {}) {
  using T = typename Y::value_type;
  const Array<T> start = nax::detail::as_array(y0);
  return detail::sde_path<T>(f, g, t_span, start, options.steps, options, [&](std::int64_t i, double h) {
    return Array<T>(random::normal<T>(random::fold_in(key, i), start.shape()) * static_cast<T>(std::sqrt(h)));
  });
}

// A path by the increments dw of Brownian motions, of shape (steps, y0's shape): one for each step, of
// variance (t1 - t0) / steps. .steps is not used. Throws what the other form throws, and ShapeError for dw of
// another shape.
template <class F, class G, class Y, nax::detail::ArrayLike W>
SdeResult<typename Y::value_type> sdeint(const F& f, const G& g, TimeSpan t_span, const Y& y0, const W& dw,
                                         const SdeintOptions& options = {}) {
  using T = typename Y::value_type;
  const Array<T> start = nax::detail::as_array(y0), increments = nax::detail::as_array(dw);
  Shape wanted = start.shape();
  wanted.insert(0, increments.ndim() > 0 ? increments.shape(0) : 0);
  if (increments.shape() != wanted)
    raise<ShapeError>({"sdeint: dw must have shape (steps, ...) for y0 of shape ", start.shape(), ", not ",
                       increments.shape()});
  return detail::sde_path<T>(f, g, t_span, start, increments.shape(0), options,
                             [&](std::int64_t i, double) { return Array<T>(increments(i)); });
}

}  // namespace integrate
NAX_END
