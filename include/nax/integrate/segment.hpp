#pragma once

#include <memory>
#include <vector>

#include "nax/integrate/field.hpp"
#include "nax/integrate/methods.hpp"
#include "nax/linalg/lu.hpp"
#include "nax/optimize/implicit.hpp"
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
    double weights[5];
    for (int i = 0; i < 5; ++i)
      weights[i] = x * (1 - x) * (method.rosenbrock->dense[0][i] + x * method.rosenbrock->dense[1][i]);
    const Array<T> line = static_cast<T>(1 - x) * y + static_cast<T>(x) * end;
    return combine(line, 1, weights, k, 5);
  }
};

// The root of the mean square of error / (atol + rtol max(|y|, |end|)).
template <class T>
double error_norm(const Array<T>& error, const Array<T>& y, const Array<T>& end, double rtol, double atol) {
  const std::vector<T> e = stop_gradient(error).to_vector(), a = stop_gradient(y).to_vector(),
                       b = stop_gradient(end).to_vector();
  double sum = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double scale = atol + rtol * std::max(std::abs(double(a[i])), std::abs(double(b[i])));
    sum += (e[i] / scale) * (e[i] / scale);
  }
  return e.empty() ? 0 : std::sqrt(sum / static_cast<double>(e.size()));
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
template <class T>
Linearised<T> linearise(const Field<T>& f, double t, const Array<T>& y, double span) {
  const double dt = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon())) *
                    std::max(std::abs(t), 1e-3 * std::abs(span));
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
  for (std::size_t i = 0; i < RosenbrockMethod::stages; ++i) {
    if (i == 0)
      s.end = s.y;
    else if (i < 5)
      s.end = combine(s.y, 1, method.a[i - 1], s.k, i);
    else
      s.end = s.end + s.k[4];
    Array<T> right = i == 0 ? at.field : f(s.t + (i < 4 ? method.c[i] : 1) * s.h, s.end);
    if (i > 0) right = combine(right, 1 / s.h, method.C[i - 1], s.k, i);
    if (i < 4) right = right + static_cast<T>(method.d[i] * s.h) * at.slope;
    s.k.push_back(linalg::lu_solve(factors, right));
  }
  s.end = s.end + s.k[5];
  return s.k[5];
}

// Newton's method with one matrix for all stages, E. Hairer and G. Wanner, Solving Ordinary Differential
// Equations II (1996), IV.8, to a hundredth of the tolerance. The error is NaN where it does not converge.
// Stages are found from numbers, and have the derivatives of the equation that they solve. k[0] = f(t, y) is
// given.
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
    double before = 0;
    for (int turn = 0;; ++turn) {
      const Array<T> step = linalg::lu_solve(factors, stop_gradient(residual(x)));
      x = x - step;
      const double size = error_norm(step, y, x, rtol, atol), rate = turn == 0 ? 0 : size / before;
      // (The steps that would follow are of the sum size (rate + rate^2 + ...).)
      if (size == 0 || (turn > 0 && rate < 1 && size * rate / (1 - rate) < 0.01)) break;
      if (!(size < std::numeric_limits<double>::infinity()) || turn == 10 || rate >= 2)
        return full_like(y, std::numeric_limits<T>::quiet_NaN());
      before = size;
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

}  // namespace integrate::detail
NAX_END
