// A neural differential equation (Chen and others, 2018): a network learns the velocity field of a spiral
// from pieces of its path.
//
//   neural_ode --steps 1000
//
// The solver chooses its steps in a while_loop. Its gradient solves the adjoint equation backwards in time,
// so that memory does not grow with the number of steps.
#include <cmath>
#include <cstdio>

#include "support/training.hpp"

using nax::Array, nax::slice;
namespace nn = nax::nn;

// y at t1, where y is y0 at t0 and dy/dt = f(y), by the methods of order 3 and 2 of Bogacki and Shampine
// (1989). A step's error is at most `tolerance` times 1 + |y|. t1 may be less than t0.
template <class F>
Array<float> solve(const F& f, const Array<float>& y0, float t0, float t1, float tolerance) {
  struct Carry {
    Array<float> y, done, h;
  };
  const float span = std::abs(t1 - t0), sign = t1 < t0 ? -1.f : 1.f;
  const auto unfinished = [=](const Carry& c) { return c.done < span * (1 - 1e-5f); };
  const auto step = [=, &f](const Carry& c) {
    const Array<float> h = nax::minimum(c.h, span - c.done), dt = sign * h;
    const Array<float> k1 = f(c.y), k2 = f(c.y + 0.5f * dt * k1), k3 = f(c.y + 0.75f * dt * k2);
    const Array<float> y = c.y + dt * (2 / 9.f * k1 + 1 / 3.f * k2 + 4 / 9.f * k3), k4 = f(y);
    const Array<float> off = dt * (-5 / 72.f * k1 + 1 / 12.f * k2 + 1 / 9.f * k3 - 1 / 8.f * k4);
    const Array<float> error = nax::stop_gradient(nax::max(nax::abs(off) / (1 + nax::abs(y))) / tolerance);
    const Array<float> factor = nax::clip(0.9f * nax::power(error + 1e-9f, -1 / 3.f), 0.2f, 5.f);
    const Array<bool> good = error <= 1.f;  // else the step is taken again, smaller
    return Carry{nax::where(good, y, c.y), nax::where(good, c.done + h, c.done), h * factor};
  };
  return nax::lax::while_loop(unfinished, step, Carry{y0, 0.f, span}).y;
}

struct Field {
  nn::Linear<float> first, second;
  Array<float> operator()(const Array<float>& y) const { return second(nax::tanh(first(y * y * y))); }
};

// y0 (N, 2) at the times dt, 2 dt, ..., `points` dt: (points, N, 2).
struct Path {
  std::int64_t points;
  float dt, tolerance;

  Array<float> operator()(const Field& field, const Array<float>& y0) const {
    std::vector<Array<float>> ys = {y0};
    for (std::int64_t i = 0; i < points; ++i) ys.push_back(solve(field, ys.back(), 0, dt, tolerance));
    return nax::stack(ys)(slice(1, nax::none));
  }
};

// The gradient of a path. `a`, the gradient with respect to y, and `g`, that with respect to the field's
// parameters, follow da/dt = -a df/dy and dg/dt = -a df/dp backwards in time, together with y.
struct Adjoint {
  Array<float> y, a;
  Field g;
};
auto with_adjoint(const Path& path) {
  using Residuals = std::pair<Field, Array<float>>;
  return nax::custom_vjp(
      path,
      [=](const Field& field, const Array<float>& y0) {
        const Array<float> ys = path(field, y0);
        return std::pair{ys, Residuals{field, nax::concatenate({nax::expand_dims(y0, 0), ys})}};
      },
      [=](const Residuals& residuals, const Array<float>& gradient) {
        const auto& [field, ys] = residuals;
        Adjoint at{ys(-1), nax::zeros_like(ys(-1)),
                   nax::tree::map([](const auto& p) { return nax::zeros_like(p); }, field)};
        const auto unravel = nax::tree::ravel(at).second;
        const auto backwards = [&](const Array<float>& state) {
          const Adjoint now = unravel(state);
          const auto [dy, pull] =
              nax::vjp([](const Field& f, const Array<float>& y) { return f(y); }, residuals.first, now.y);
          const auto [g, a] = pull(now.a);
          return nax::tree::ravel(
                     Adjoint{dy, -a, nax::tree::map([](const auto& share) { return -share; }, g)})
              .first;
        };
        for (std::int64_t i = path.points; i > 0; --i) {
          at.y = ys(i), at.a = at.a + gradient(i - 1);
          at = unravel(solve(backwards, nax::tree::ravel(at).first, path.dt, 0, path.tolerance));
        }
        return std::tuple{at.g, at.a};
      });
}

int main(int argc, char** argv) {
  examples::Training options{.steps = 3000, .batch_size = 20, .lr = 0.01};
  std::int64_t units = 50, points = 20;
  float tolerance = 1e-4f;
  CLI::App app("learns the velocity field of a spiral");
  options.add_to(app);
  app.add_option("--units", units, "of the hidden layer")->check(CLI::PositiveNumber);
  app.add_option("--points", points, "of each piece of the path")->check(CLI::Range(1, 500));
  app.add_option("--tolerance", tolerance, "of the solver")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    const auto devices = options.open();
    examples::Log log(options.log);
    const auto keys = nax::random::split(nax::random::key(options.seed), 3);

    // The spiral: 1000 points from (2, 0) on, 0.025 apart in time.
    const float dt = 0.025f;
    const Array<float> turn = {{-0.1f, 2}, {-2, -0.1f}};
    std::vector<Array<float>> spiral = {{2.f, 0.f}};
    const auto velocity = [&](const Array<float>& y) -> Array<float> { return nax::matmul(y * y * y, turn); };
    while (spiral.size() < 1000) spiral.push_back(solve(velocity, spiral.back(), 0, dt, 1e-6f));
    const Array<float> truth = nax::stack(spiral);

    const auto loss_of = [](const auto& path) {
      return [=](const Field& field, const Array<float>& y0, const Array<float>& ys) {
        return nax::mean(nax::square(path(field, y0) - nax::swapaxes(ys, 0, 1)));
      };
    };
    const Path path{points, dt, tolerance};
    const auto loss = loss_of(with_adjoint(path));
    const auto optimizer = nax::optim::adam(nax::optim::cosine_decay_schedule(options.lr, options.steps + 1));
    const auto step = nax::optim::value_and_step(optimizer, loss, {.axis_name = "devices"});
    const Field first{nn::Linear<float>::make(keys[0], {.in = 2, .out = units}),
                      nn::Linear<float>::make(keys[1], {.in = units, .out = 2})};
    examples::OnDevices train(devices, std::pair{first, optimizer.init(first)},
                              [=](auto state, const Array<float>& y0, const Array<float>& ys) {
                                auto [value, field, memory] =
                                    step(std::move(state.first), std::move(state.second), y0, ys);
                                return std::pair{std::pair{field, memory}, value};
                              });
    const auto piece = [&](std::int64_t k) {  // the points that pieces begin with, and those that follow
      const auto starts = nax::random::randint<int>(nax::random::fold_in(keys[2], k), {options.batch_size, 1},
                                                    0, static_cast<int>(1000 - points));
      return std::pair{truth(starts.reshape({-1})), truth(starts + nax::arange<int>(1, points + 1))};
    };
    double mean = 0;
    for (std::int64_t k = 0; k < options.steps; ++k) {
      const auto [y0, ys] = piece(k);
      const double value = train(y0, ys);
      log.write({{"step", k + 1}, {"loss", value}});
      mean = k == 0 ? value : 0.98 * mean + 0.02 * value;
      if ((k + 1) % 500 == 0) std::printf("step %d  loss %.2e\n", static_cast<int>(k + 1), mean);
    }

    const Field field = train.state().first;
    const auto [y0, ys] = piece(-1);
    const auto by_adjoint = nax::tree::ravel(nax::grad(loss)(field, y0, ys)).first;
    const auto by_steps = nax::tree::ravel(nax::grad(loss_of(path))(field, y0, ys)).first;
    std::printf("the adjoint's gradient, next to that through all steps: %.1e apart\n",
                (nax::linalg::norm(by_adjoint - by_steps) / nax::linalg::norm(by_steps)).item());
    const Array<float> whole = Path{999, dt, tolerance}(field, truth(slice(0, 1))).reshape({999, 2});
    std::printf("all of the spiral from its first point: mean error %.4f\n",
                nax::mean(nax::abs(whole - truth(slice(1, nax::none)))).item());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "neural_ode: %s\n", error.what());
    return 2;
  }
}
