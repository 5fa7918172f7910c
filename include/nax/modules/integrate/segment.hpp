#pragma once

#include <memory>
#include <vector>

#include "nax/linalg/lu.hpp"
#include "nax/modules/integrate/field.hpp"
#include "nax/modules/integrate/lanes.hpp"
#include "nax/modules/integrate/methods.hpp"
#include "nax/modules/optimize/implicit.hpp"
#include "nax/transform/checkpoint.hpp"
#include "nax/transform/jacobian.hpp"

// One step of a solver: from (t, y) over h, and what lies between.
NAX_BEGIN
namespace integrate::detail {

// y + sum scale weights[i] k[i].
template <class T>
Array<T> combine(const Array<T>& y, double scale, const double* weights, const std::vector<Array<T>>& k,
                 std::size_t count) {
  Array<T> sum = y;
  for (std::size_t i = 0; i < count;) {
    const auto weight = [&](std::size_t j) { return static_cast<T>(scale * weights[j]); };
    if (weights[i] == 0) {
      ++i;
    } else if (i + 1 < count && weights[i + 1] != 0) {
      sum = sum + weight(i) * k[i] + weight(i + 1) * k[i + 1];
      i += 2;
    } else {
      sum = sum + weight(i) * k[i];
      ++i;
    }
  }
  return sum;
}

template <class T>
struct Segment {
  Method method;
  double t, h;
  Array<T> y, end;
  std::vector<Array<T>> k;

  double end_time() const { return t + h; }
  // The solution at a time within.
  Array<T> at(double time) const {
    if (time == end_time()) return end;
    const double x = (time - t) / h;
    if (method.explicit_method) {
      double weights[ExplicitMethod::stages];
      method.explicit_method->dense(x, weights);
      return combine(y, h, weights, k, ExplicitMethod::stages);
    }
    if (method.implicit) {
      constexpr std::size_t stages = ImplicitMethod::stages;
      const auto& of = method.implicit->dense;
      double weights[stages];
      for (std::size_t i = 0; i < stages; ++i)
        weights[i] = x * x * (of[0][i] + x * (of[1][i] + x * of[2][i]));
      weights[0] += x;
      return combine(y, h, weights, k, stages);
    }
    const RosenbrockMethod& of = *method.rosenbrock;
    double weights[RosenbrockMethod::most];
    for (std::size_t i = 0; i < of.stages; ++i)
      weights[i] = x * (1 - x) * (of.dense[0][i] + x * (of.dense[1][i] + x * of.dense[2][i]));
    const Array<T> line = static_cast<T>(1 - x) * y + static_cast<T>(x) * end;
    return combine(line, 1, weights, k, of.stages);
  }
};

template <class T>
double error_norm(const Array<T>& error, const Array<T>& y, const Array<T>& end, double rtol, double atol) {
  return largest(error_norms(error, y, end, rtol, atol));
}

// An explicit step; k[0] = f(t, y) is given. Its error.
template <class T>
Array<T> take_step(const ExplicitMethod& method, const Field<T>& f, Segment<T>& s) {
  constexpr std::size_t last = ExplicitMethod::stages - 1;
  s.k.resize(1);
  for (std::size_t i = 0; i < last; ++i) {
    s.end = combine(s.y, s.h, method.a[i], s.k, i + 1);
    s.k.push_back(f(s.t + method.c[i + 1] * s.h, s.end));
  }
  return combine(Array<T>(zeros_like(s.y)), s.h, method.error, s.k, ExplicitMethod::stages);
}

// The field at (t, y) and its derivatives, for a Rosenbrock step of any length.
template <class T>
struct Linearised {
  Array<T> field, jacobian, slope;  // f, df/dy, df/dt
};
// The length of a difference quotient in t.
template <class T>
double time_difference(double t, double span) {
  return std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon())) *
         std::max(std::abs(t), 1e-3 * std::abs(span));
}
template <class T>
Linearised<T> linearise(const Field<T>& f, double t, const Array<T>& y, double span) {
  const double dt = time_difference<T>(t, span);
  const Array<T> field = f(t, y);
  return {field, jacfwd([&](const Array<T>& at) { return f(t, at); })(y),
          (f(t + dt, y) - field) / static_cast<T>(dt)};
}
template <class T>
Array<T> take_step(const RosenbrockMethod& method, const Field<T>& f, const Linearised<T>& at,
                   Segment<T>& s) {
  const Array<T> matrix = eye<T>(s.y.size()) * static_cast<T>(1 / (s.h * method.gamma)) - at.jacobian;
  const auto factors = linalg::lu_factor(matrix);
  s.k.clear();
  for (std::size_t i = 0; i < method.stages; ++i) {
    if (i == 0)
      s.end = s.y;
    else if (i <= method.rows)
      s.end = combine(s.y, 1, method.a[i - 1], s.k, i);
    else
      s.end = s.end + s.k.back();
    Array<T> right = i == 0 ? at.field : f(s.t + method.c[i] * s.h, s.end);
    if (i > 0) right = combine(right, 1 / s.h, method.C[i - 1], s.k, i);
    if (method.d[i] != 0) right = right + static_cast<T>(method.d[i] * s.h) * at.slope;
    s.k.push_back(linalg::lu_solve(factors, right));
  }
  s.end = s.end + s.k.back();
  return s.k.back();
}

// Newton's method with one matrix for all stages, E. Hairer and G. Wanner, Solving Ordinary Differential
// Equations II (1996), IV.8, to a hundredth of the tolerance, or to what the type can tell apart. The error
// is NaN where it does not converge. Stages are found from numbers, and have the derivatives of the equation
// that they solve. k[0] = f(t, y) is given.
template <class T>
Array<T> take_step(const ImplicitMethod& method, const Field<T>& f, const Linearised<T>& at, Segment<T>& s,
                   double rtol, double atol) {
  constexpr std::size_t last = ImplicitMethod::stages - 1;
  const T share = static_cast<T>(s.h * method.gamma);
  const Array<T> y = stop_gradient(s.y);
  const auto factors = linalg::lu_factor(Array<T>(eye<T>(y.size()) - share * stop_gradient(at.jacobian)));
  s.k.resize(1);
  s.end = s.y;
  for (std::size_t i = 1; i <= last; ++i) {
    const double time = s.t + method.c[i] * s.h;
    const Array<T> base = combine(s.y, s.h, method.a[i], s.k, i);
    const auto residual = [&](const Array<T>& x) -> Array<T> { return x - base - share * f(time, x); };
    Array<T> x = stop_gradient(s.end);
    std::vector<double> before;
    for (int turn = 0;; ++turn) {
      const Array<T> step = linalg::lu_solve(factors, stop_gradient(residual(x)));
      x = x - step;
      const std::vector<double> sizes = error_norms(step, y, x, rtol, atol);
      const std::vector<double> roundings =
          error_norms(Array<T>(x * (4 * std::numeric_limits<T>::epsilon())), y, x, rtol, atol);
      // (The steps that would follow are of the sum size (rate + rate^2 + ...).)
      std::vector<T> fails(sizes.size());
      bool small = true, ends = false;
      for (std::size_t lane = 0; lane < sizes.size(); ++lane) {
        const double size = sizes[lane], rate = turn == 0 ? 0 : size / before[lane];
        if (size < std::max(1e-6, roundings[lane % roundings.size()]) ||
            (turn > 0 && rate < 1 && size * rate / (1 - rate) < 0.01))
          continue;
        small = false;
        if (size < std::numeric_limits<double>::infinity() && turn < 10 && rate < 2) continue;
        fails[lane] = std::numeric_limits<T>::quiet_NaN();
        ends = true;
      }
      if (ends) return zeros_like(y) + lane_array(fails);
      if (small) break;
      before = sizes;
    }
    s.end = optimize::detail::with_derivatives(x, residual);
    s.k.push_back((s.end - base) / share);
  }
  double error[ImplicitMethod::stages];
  for (std::size_t i = 0; i < last; ++i) error[i] = method.a[last][i] - method.a[last - 1][i];
  error[last - 1] -= method.gamma;
  error[last] = method.gamma;
  return combine(Array<T>(zeros_like(s.y)), s.h, error, s.k, ImplicitMethod::stages);
}

// The step of s by its method, its error; `at` is used by implicit methods, `slope` = f(t, y) by others.
template <class T>
Array<T> take_step(const Field<T>& f, const Array<T>& slope, const Linearised<T>& at, double rtol,
                   double atol, Segment<T>& s) {
  if (s.method.rosenbrock) return take_step(*s.method.rosenbrock, f, at, s);
  s.k.assign(1, slope);
  return s.method.implicit ? take_step(*s.method.implicit, f, at, s, rtol, atol)
                           : take_step(*s.method.explicit_method, f, s);
}

}  // namespace integrate::detail
NAX_END
