#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/modules/optimize/minimize_core.hpp"

NAX_BEGIN
namespace optimize::detail {

// One step of the interval of uncertainty: MINPACK-2's dcstep.
struct SearchPoint {
  double at, value, slope;
};
inline void next_trial(SearchPoint& best, SearchPoint& other, double& trial, double value, double slope,
                       bool& bracketed, double low, double high) {
  const double sign = slope * (best.slope / std::fabs(best.slope));
  const double width = trial - best.at;
  double next;
  const auto cubic_root = [&](double theta, double d, bool flip) {
    const double s = std::max({std::fabs(theta), std::fabs(d), std::fabs(slope)});
    const double gamma = s * std::sqrt(std::max(0., (theta / s) * (theta / s) - (d / s) * (slope / s)));
    return flip ? -gamma : gamma;
  };
  if (value > best.value) {  // higher: the minimum is bracketed
    const double theta = 3 * (best.value - value) / width + best.slope + slope;
    const double gamma = cubic_root(theta, best.slope, trial < best.at);
    const double r = (gamma - best.slope + theta) / (gamma - best.slope + gamma + slope);
    const double cubic = best.at + r * width;
    const double quadratic = best.at + best.slope / ((best.value - value) / width + best.slope) / 2 * width;
    next =
        std::fabs(cubic - best.at) < std::fabs(quadratic - best.at) ? cubic : cubic + (quadratic - cubic) / 2;
    bracketed = true;
  } else if (sign < 0) {  // lower, and the slope changed its sign
    const double theta = 3 * (best.value - value) / width + best.slope + slope;
    const double gamma = cubic_root(theta, best.slope, trial > best.at);
    const double r = (gamma - slope + theta) / (gamma - slope + gamma + best.slope);
    const double cubic = trial - r * width, secant = trial - slope / (slope - best.slope) * width;
    next = std::fabs(cubic - trial) > std::fabs(secant - trial) ? cubic : secant;
    bracketed = true;
  } else if (std::fabs(slope) < std::fabs(best.slope)) {  // lower, and flatter
    const double theta = 3 * (best.value - value) / width + best.slope + slope;
    const double gamma = cubic_root(theta, best.slope, trial > best.at);
    const double r = (gamma - slope + theta) / (gamma + (best.slope - slope) + gamma);
    const double cubic = r < 0 && gamma != 0 ? trial - r * width : trial > best.at ? high : low;
    const double secant = trial - slope / (slope - best.slope) * width;
    const bool nearer = std::fabs(cubic - trial) < std::fabs(secant - trial);
    if (bracketed) {
      next = nearer ? cubic : secant;
      const double limit = trial + 0.66 * (other.at - trial);
      next = trial > best.at ? std::min(limit, next) : std::max(limit, next);
    } else {
      next = std::min(std::max(nearer ? secant : cubic, low), high);
    }
  } else if (bracketed) {  // lower, and no flatter
    const double gap = other.at - trial;
    const double theta = 3 * (value - other.value) / gap + other.slope + slope;
    const double gamma = cubic_root(theta, other.slope, trial > other.at);
    const double r = (gamma - slope + theta) / (gamma - slope + gamma + other.slope);
    next = trial + r * gap;
  } else {
    next = trial > best.at ? high : low;
  }
  if (value > best.value) {
    other = {trial, value, slope};
  } else {
    if (sign < 0) other = best;
    best = {trial, value, slope};
  }
  trial = next;
}

NAX_ENGINE WolfeStep wolfe_search(FunctionRef<double(double, double&)> phi, double value, double slope,
                                  double alpha, const WolfeOptions& o) {
  WolfeStep out{alpha, value, slope, false};
  if (!(slope < 0) || !std::isfinite(value)) return out;
  const double test = o.c1 * slope;
  // Near a minimum rounding hides what the function falls by: there the slope decides (Hager and Zhang's
  // approximate condition, 2005).
  const double hidden = value + 16 * std::numeric_limits<double>::epsilon() * std::fabs(value);
  bool bracketed = false, first_stage = true;
  SearchPoint best{0, value, slope}, other = best;
  double width = o.longest, width1 = 2 * width, low = 0, high = 5 * alpha;
  for (int step = 0; step < o.max_steps; ++step) {
    double d = 0, f = phi(alpha, d);
    if (!std::isfinite(f) || !std::isfinite(d)) {  // back towards what is known
      alpha = best.at + 0.1 * (alpha - best.at);
      if (!(std::fabs(alpha - best.at) > 1e-20)) break;
      high = std::min(high, 5 * alpha);
      continue;
    }
    out = {alpha, f, d, false};
    const double line = value + alpha * test;
    if (first_stage && f <= line && d >= 0) first_stage = false;
    if (f <= std::max(line, hidden) && std::fabs(d) <= o.c2 * -slope) {
      out.found = true;
      return out;
    }
    const bool stuck = bracketed && (alpha <= low || alpha >= high || high - low <= o.xtol * high);
    if (stuck || (alpha == o.longest && f <= line && d <= test)) {
      if (f < best.value) best = {alpha, f, d};
      break;
    }
    if (first_stage && f <= best.value && f > line) {  // by the function less its line
      SearchPoint b{best.at, best.value - best.at * test, best.slope - test};
      SearchPoint e{other.at, other.value - other.at * test, other.slope - test};
      next_trial(b, e, alpha, f - alpha * test, d - test, bracketed, low, high);
      best = {b.at, b.value + b.at * test, b.slope + test};
      other = {e.at, e.value + e.at * test, e.slope + test};
    } else {
      next_trial(best, other, alpha, f, d, bracketed, low, high);
    }
    if (bracketed) {
      if (std::fabs(other.at - best.at) >= 0.66 * width1) alpha = best.at + 0.5 * (other.at - best.at);
      width1 = width;
      width = std::fabs(other.at - best.at);
      low = std::min(best.at, other.at);
      high = std::max(best.at, other.at);
    } else {
      low = alpha + 1.1 * (alpha - best.at);
      high = alpha + 4 * (alpha - best.at);
    }
    alpha = std::min(std::max(alpha, 0.), o.longest);
    if (bracketed && (alpha <= low || alpha >= high || high - low <= o.xtol * high)) alpha = best.at;
    if (!std::isfinite(alpha)) break;
    if (alpha == best.at && alpha == 0) break;
  }
  // The best point that reduces the function, though it is not flat enough.
  if (best.at > 0 && best.value < value) {
    out = {best.at, best.value, best.slope, false};
  } else {
    out.alpha = 0;
  }
  return out;
}

}  // namespace optimize::detail
NAX_END
