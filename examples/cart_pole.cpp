// A cart swings its pole up in two seconds with the least effort: trajectory optimisation by collocation, 100
// intervals (M. Kelly, An Introduction to Trajectory Optimization, 2017). Its 505 unknowns and 408 equations
// go to minimize with constraints, whose second derivatives are sparse matrices of recorded programs.
#include <chrono>
#include <cstdio>
#include <nax/nax.hpp>

using nax::Array, nax::slice, nax::none, nax::ellipsis;

namespace {

constexpr int intervals = 100;
constexpr double duration = 2, step = duration / intervals;
constexpr double cart = 1, pole = 0.3, length = 0.5, gravity = 9.81;  // kg, m, m / s^2

// The derivatives of (place, angle, speed, angular speed) at all times, for rows of these and the force.
Array<double> motion(const Array<double>& rows) {
  const Array<double> angle = rows(ellipsis, 1), speed = rows(ellipsis, 2), turning = rows(ellipsis, 3),
                      force = rows(ellipsis, 4);
  const Array<double> sine = nax::sin(angle), cosine = nax::cos(angle);
  const Array<double> swing = length * pole * sine * nax::square(turning);
  const Array<double> mass = cart + pole * nax::square(sine);
  const Array<double> push = (swing + force + pole * gravity * cosine * sine) / mass;
  const Array<double> turn =
      -(swing * cosine + force * cosine + (cart + pole) * gravity * sine) / (length * mass);
  return nax::stack({speed, turning, push, turn}, {.axis = -1});
}

}  // namespace

int main() {
  const auto effort = [](const Array<double>& rows) {
    const Array<double> squares = nax::square(rows(ellipsis, 4));
    return Array<double>(step / 2 * nax::sum(squares(slice(0, -1)) + squares(slice(1, none))));
  };
  // The trapezoidal rule between neighbouring times, and both ends.
  const auto rule = [](const Array<double>& rows) {
    const Array<double> state = rows(ellipsis, slice(0, 4)), slope = motion(rows);
    return Array<double>(state(slice(1, none)) - state(slice(0, -1)) -
                         step / 2 * (slope(slice(1, none)) + slope(slice(0, -1))));
  };
  const auto ends = [](const Array<double>& rows) {
    return nax::stack({Array<double>(rows(0, slice(0, 4))),
                       Array<double>(rows(-1, slice(0, 4)) - Array<double>{1, M_PI, 0, 0})});
  };
  const Array<double> part = nax::linspace<double>(0, 1, intervals + 1), zero = nax::zeros_like(part);
  const Array<double> guess = nax::stack({part, Array<double>(M_PI * part), zero, zero, zero}, {.axis = -1});
  const double inf = std::numeric_limits<double>::infinity();
  const Array<double> most = nax::broadcast_to(Array<double>{2, inf, inf, inf, 20}, {intervals + 1, 5});

  const auto began = std::chrono::steady_clock::now();
  const auto found = nax::optimize::minimize(
      effort, guess, {.bounds = {Array<double>(-most), most}, .constraints = {{"eq", rule}, {"eq", ends}}});
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
  std::printf("%s\neffort %.4f N^2 s (Ipopt 58.8967), equations met to %.0e, %d steps\n",
              found.message.c_str(), found.fun.item(), found.maxcv, int(found.nit));
  for (int i = 0; i <= intervals; i += 20)
    std::printf("%.1f s  place %6.3f m  angle %6.1f deg  force %6.2f N\n", i * step, found.x(i, 0).item(),
                found.x(i, 1).item() * 180 / M_PI, found.x(i, 4).item());
  std::printf("%.0f ms\n", 1e3 * spent.count());
  return found.success && std::abs(found.fun.item() - 58.8967) < 1e-3 ? 0 : 1;
}
