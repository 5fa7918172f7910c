// Bundle adjustment in the shape of BAL's smallest problem (S. Agarwal and others, Bundle Adjustment in the
// Large, 2010): 49 cameras of nine parameters, 7776 points, 31843 observations, generated with noise. Steps
// of Levenberg and Marquardt's with a sparse Jacobian in twelve colors, given by hand, and Eigen's sparse
// Cholesky factorisation.
#include <Eigen/SparseCholesky>
#include <chrono>
#include <cstdio>
#include <nax/nax.hpp>
#include <vector>

using nax::Array, nax::slice, nax::none, nax::ellipsis;

namespace {

constexpr int cameras = 49, points = 7776, observations = 31843;

// Rows of points in the pictures of rows of cameras: turn (by its axis), shift, focal length, two
// distortions.
Array<double> project(const Array<double>& camera, const Array<double>& point) {
  const Array<double> axis = camera(ellipsis, slice(0, 3)), shift = camera(ellipsis, slice(3, 6));
  const Array<double> square = nax::sum(axis * axis, {.axis = -1, .keepdims = true}) + 1e-30,
                      angle = nax::sqrt(square);
  const Array<double> unit = axis / angle, cosine = nax::cos(angle);
  const Array<double> along = nax::sum(unit * point, {.axis = -1, .keepdims = true});
  const Array<double> seen =
      point * cosine + nax::cross(unit, point) * nax::sin(angle) + unit * along * (1. - cosine) + shift;
  const Array<double> flat = -seen(ellipsis, slice(0, 2)) / seen(ellipsis, slice(2, 3));
  const Array<double> away = nax::sum(flat * flat, {.axis = -1, .keepdims = true});
  const Array<double> bend =
      1. + away * (camera(ellipsis, slice(7, 8)) + away * camera(ellipsis, slice(8, 9)));
  return camera(ellipsis, slice(6, 7)) * bend * flat;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
  // Cameras on an arc look at a cloud of points; each point is in the pictures of four or five of them.
  const auto draw = [](int seed, nax::Shape shape) {
    return nax::random::normal<double>(nax::random::key(seed), shape);
  };
  const Array<double> part = nax::linspace<double>(-0.5, 0.51, cameras), zero = nax::zeros_like(part);
  const Array<double> true_cameras =
      nax::stack({Array<double>(0.1 * nax::sin(9. * part)), part, Array<double>(0.1 * part), part,
                  Array<double>(0.2 * part), Array<double>(zero - 8.), Array<double>(zero + 400.),
                  Array<double>(zero - 0.1), Array<double>(zero + 0.01)},
                 {.axis = -1});
  const Array<double> true_points = draw(0, {points, 3});
  std::vector<std::int64_t> camera_of, point_of;
  for (int i = 0; i < observations; ++i) {
    const int point = i % points;
    point_of.push_back(point);
    camera_of.push_back((point * 8 + i / points * 11) % cameras);
  }
  const Array<std::int64_t> camera = nax::asarray(camera_of), point = nax::asarray(point_of);
  const Array<double> seen =
      project(nax::take(true_cameras, camera, {.axis = 0}), nax::take(true_points, point, {.axis = 0})) +
      0.5 * draw(1, {observations, 2});
  const std::int64_t split = 9 * cameras, n = split + 3 * points, m = 2 * observations;
  const auto residual = [=](const Array<double>& x) {
    const Array<double> c = x(slice(0, split)).reshape({cameras, 9}),
                        p = x(slice(split, none)).reshape({points, 3});
    const Array<double> off =
        project(nax::take(c, camera, {.axis = 0}), nax::take(p, point, {.axis = 0})) - seen;
    return Array<double>(off.reshape({m}));
  };

  // Two rows an observation, of one camera and one point.
  std::vector<std::int32_t> starts{0}, columns, colors;
  for (std::size_t i = 0; i < observations; ++i)
    for (int row = 0; row < 2; ++row) {
      for (int k = 0; k < 9; ++k) columns.push_back(static_cast<std::int32_t>(9 * camera_of[i] + k));
      for (int k = 0; k < 3; ++k) columns.push_back(static_cast<std::int32_t>(split + 3 * point_of[i] + k));
      starts.push_back(static_cast<std::int32_t>(columns.size()));
    }
  for (std::int64_t j = 0; j < n; ++j)
    colors.push_back(static_cast<std::int32_t>(j < split ? j % 9 : 9 + (j - split) % 3));
  const Array<double> wrong_cameras = true_cameras * (1. + 0.01 * draw(2, {cameras, 9})),
                      wrong_points = true_points + 0.05 * draw(3, {points, 3});
  const Array<double> wrong = nax::concatenate(
      {Array<double>(wrong_cameras.reshape({split})), Array<double>(wrong_points.reshape({3 * points}))});
  auto began = std::chrono::steady_clock::now();
  const auto jacobian = nax::sparse_jacobian(
      residual, wrong,
      {.pattern = nax::SparsityPattern(nax::asarray(starts), nax::asarray(columns)), .colors = colors});
  std::printf("%d x %d, %d colors, prepared in %.1f s\n", int(m), int(n), int(jacobian.colors()),
              seconds_since(began));

  using Sparse = Eigen::SparseMatrix<double>;
  Eigen::SimplicialLDLT<Sparse> solver;
  bool analysed = false;
  Array<double> x = wrong;
  double damping = 1e-4, in_jacobian = 0, in_solver = 0, cost = nax::sum(nax::square(residual(x))).item();
  std::printf("start    %8.3f pixels a residual\n", std::sqrt(cost / double(m)));
  int steps = 0;
  for (; steps < 30; ++steps) {
    began = std::chrono::steady_clock::now();
    const auto [r, matrix] = jacobian(x);
    in_jacobian += seconds_since(began);
    began = std::chrono::steady_clock::now();
    const Sparse j = nax::as_eigen(matrix);
    const Eigen::VectorXd down = -(j.transpose() * Eigen::Map<const Eigen::VectorXd>(r.data(), m));
    Sparse normal = j.transpose() * j;
    const Eigen::VectorXd diagonal = normal.diagonal();
    normal.diagonal() += damping * diagonal;
    if (!analysed) solver.analyzePattern(normal), analysed = true;
    solver.factorize(normal);
    const Eigen::VectorXd step = solver.solve(down);
    in_solver += seconds_since(began);
    const Array<double> next = x + nax::asarray(std::vector<double>(step.begin(), step.end()));
    const double after = nax::sum(nax::square(residual(next))).item();
    if (!(after < cost)) {
      damping *= 10;
      continue;
    }
    const bool little = cost - after < 1e-8 * cost;
    x = next, cost = after, damping = std::max(damping / 10, 1e-12);
    if (little) break;
  }
  // Noise of half a pixel, less what the parameters take of it (seven of them move nothing).
  const double left = std::sqrt(cost / double(m)), wanted = 0.5 * std::sqrt(double(m - n + 7) / double(m));
  std::printf("step %3d %8.3f pixels a residual, of the noise alone %.3f\n", steps, left, wanted);
  std::printf("a step: Jacobian %.1f ms, normal equations and their factorisation %.0f ms\n",
              1e3 * in_jacobian / (steps + 1), 1e3 * in_solver / (steps + 1));
  return std::abs(left - wanted) < 0.01 * wanted ? 0 : 1;
}
