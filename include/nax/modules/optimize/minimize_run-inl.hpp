#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/modules/optimize/wolfe_search-inl.hpp"

// Shared by the methods of minimize.
NAX_BEGIN
namespace optimize::detail {

struct MinimizeRun {
  const Objective& f;
  const MinimizeProblem& p;
  MinimizeState s;
  bool found = false;  // whether the last search met the Wolfe conditions

  double evaluate(const Vector& x, Vector& gradient) {
    ++s.nfev;
    ++s.njev;
    return f.value_and_gradient(x, gradient);
  }
  bool spent() const { return s.nfev >= p.max_evaluations; }
  // Goes along `direction` from s.x by the Wolfe conditions; false where no step reduces the function.
  bool search(const Vector& direction, double first, double longest, double c2, Vector* before = nullptr) {
    Vector x(s.x.size()), g;
    double best = s.fun;
    const auto phi = [&](double alpha, double& slope) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = s.x[i] + alpha * direction[i];
        if (p.bounded) x[i] = std::min(std::max(x[i], p.lower[i]), p.upper[i]);
      }
      const double value = evaluate(x, g);
      slope = dot(g, direction);
      return value;
    };
    const WolfeStep step = wolfe_search(phi, s.fun, dot(s.gradient, direction), std::min(first, longest),
                                        {.c2 = c2, .longest = longest, .max_steps = 40});
    found = step.found;
    if (!(step.alpha > 0)) return false;
    if (!step.found) {
      double slope;
      best = phi(step.alpha, slope);
      if (!(best < s.fun)) return false;
    }
    if (!step.found && !std::isfinite(best)) return false;
    // The last evaluation of a search that found its step is at that step.
    s.fun = step.found ? step.value : best;
    if (before) *before = s.gradient;
    s.x = x;
    s.gradient = g;
    return true;
  }
};
inline Vector negated(Vector x) {
  for (double& e : x) e = -e;
  return x;
}

}  // namespace optimize::detail
NAX_END
