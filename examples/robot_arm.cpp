// Inverse dynamics of an arm with six joints by Newton and Euler's recursion, in matrices of 3 x 3: the
// torques that move the joints as asked for, the gradient of their squares, and a thousand arms at a time.
// Checked by Lagrange's equations, whose derivatives come from nax.
#include <chrono>
#include <cstdio>
#include <nax/nax.hpp>
#include <vector>

using nax::Array;

namespace {

constexpr int joints = 6;

// A revolute joint and its link: where the joint lies in the link before, its fixed turn about x, and the
// link's mass, centre and moments of inertia.
struct Link {
  Array<double> place, turn, centre, inertia;
  double mass;
};
std::vector<Link> arm() {
  std::vector<Link> links;
  for (int i = 0; i < joints; ++i) {
    const double c = i % 2 == 0 ? 0 : 1, s = i % 2 == 0 ? 1 : 0, sign = i % 4 < 2 ? 1 : -1;
    links.push_back({Array<double>{i == 0 ? 0 : 0.3 - 0.02 * i, 0.05, 0.1},
                     Array<double>{{1, 0, 0}, {0, c, -sign * s}, {0, sign * s, c}},
                     Array<double>{0.12, 0.01, 0.05}, nax::diag(Array<double>{0.02, 0.05 - 0.005 * i, 0.04}),
                     4 - 0.5 * i});
  }
  return links;
}
const std::vector<Link>& links() {
  static const std::vector<Link> all = arm();
  return all;
}

Array<double> rotation(const Link& link, const Array<double>& angle) {
  const Array<double> c = nax::cos(angle), s = nax::sin(angle), zero = nax::zeros_like(angle),
                      one = nax::ones_like(angle);
  const Array<double> about = nax::stack(
      {nax::stack({c, Array<double>(-s), zero}), nax::stack({s, c, zero}), nax::stack({zero, zero, one})});
  return nax::matmul(link.turn, about);
}

// Torques at angles q, speeds v and accelerations a.
Array<double> torques(const Array<double>& q, const Array<double>& v, const Array<double>& a) {
  const Array<double> axis{0, 0, 1};
  Array<double> turning = nax::zeros<double>({3}), speeding = turning, rising{0, 0, 9.81};
  std::vector<Array<double>> turns, forces, moments;
  for (int i = 0; i < joints; ++i) {
    const Link& link = links()[static_cast<std::size_t>(i)];
    const Array<double> r = rotation(link, q(i)), back = r.T();
    rising = nax::matmul(back, rising + nax::cross(speeding, link.place) +
                                   nax::cross(turning, nax::cross(turning, link.place)));
    const Array<double> before = nax::matmul(back, turning);
    speeding = nax::matmul(back, speeding) + nax::cross(before, axis * v(i)) + axis * a(i);
    turning = before + axis * v(i);
    const Array<double> middle =
        rising + nax::cross(speeding, link.centre) + nax::cross(turning, nax::cross(turning, link.centre));
    forces.push_back(link.mass * middle);
    moments.push_back(nax::matmul(link.inertia, speeding) +
                      nax::cross(turning, nax::matmul(link.inertia, turning)) +
                      nax::cross(link.centre, forces.back()));
    turns.push_back(r);
  }
  std::vector<Array<double>> found(joints);
  Array<double> force = nax::zeros<double>({3}), moment = force;
  for (int i = joints; i-- > 0;) {
    const std::size_t at = static_cast<std::size_t>(i);
    moment = moments[at] + moment;
    force = forces[at] + force;
    found[at] = moment(2);
    moment = nax::matmul(turns[at], moment);
    force = nax::matmul(turns[at], force);
    moment = moment + nax::cross(links()[at].place, force);
  }
  return nax::stack(found);
}

// Kinetic less potential energy, in the frame of the ground.
Array<double> lagrangian(const Array<double>& q, const Array<double>& v) {
  const Array<double> axis{0, 0, 1};
  Array<double> r = nax::eye<double>(3), place = nax::zeros<double>({3}), speed = place, turning = place,
                sum(0.);
  for (int i = 0; i < joints; ++i) {
    const Link& link = links()[static_cast<std::size_t>(i)];
    const Array<double> arm = nax::matmul(r, link.place);
    place = place + arm;
    speed = speed + nax::cross(turning, arm);
    r = nax::matmul(r, rotation(link, q(i)));
    turning = turning + nax::matmul(r, axis) * v(i);
    const Array<double> centre = nax::matmul(r, link.centre), own = nax::matmul(r.T(), turning);
    const Array<double> moving = speed + nax::cross(turning, centre);
    sum = sum + 0.5 * link.mass * nax::dot(moving, moving) +
          0.5 * nax::dot(own, nax::matmul(link.inertia, own)) - 9.81 * link.mass * (place(2) + centre(2));
  }
  return sum;
}
// d/dt dL/dv - dL/dq.
Array<double> by_lagrange(const Array<double>& q, const Array<double>& v, const Array<double>& a) {
  const auto momentum = [](const Array<double>& at, const Array<double>& speed) {
    return nax::grad<1>(lagrangian)(at, speed);
  };
  return nax::jvp(momentum, std::tuple{q, v}, std::tuple{v, a}).second - nax::grad<0>(lagrangian)(q, v);
}

template <class F>
double microseconds(int times, const F& f) {
  double best = 1e300;
  for (int turn = 0; turn < 5; ++turn) {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) static_cast<void>(f());
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - began;
    best = std::min(best, spent.count() / times);
  }
  return best;
}

}  // namespace

int main() {
  const auto draw = [](int seed, nax::Shape shape) {
    return nax::random::normal<double>(nax::random::key(seed), shape);
  };
  const Array<double> q = draw(0, {joints}), v = draw(1, {joints}), a = draw(2, {joints});
  const auto effort = [](const Array<double>& angles, const Array<double>& speeds,
                         const Array<double>& wanted) {
    return Array<double>(nax::sum(nax::square(torques(angles, speeds, wanted))));
  };
  const auto value = nax::jit(torques);
  const auto gradient = nax::jit(nax::grad<0, 1, 2>(effort));
  const Array<double> newton = value(q, v, a), lagrange = by_lagrange(q, v, a);
  for (int i = 0; i < joints; ++i)
    std::printf("joint %d  torque %9.5f Nm, by Lagrange %9.5f\n", i + 1, newton(i).item(),
                lagrange(i).item());
  const double h = 1e-6;
  const Array<double> ahead = q.at(2).set(q(2) + h), behind = q.at(2).set(q(2) - h);
  std::printf("slope of the effort at joint 3: %.4f, by differences %.4f\n",
              std::get<0>(gradient(q, v, a))(2).item(),
              (effort(ahead, v, a).item() - effort(behind, v, a).item()) / (2 * h));

  const int many = 1000;
  const Array<double> qs = draw(3, {many, joints}), vs = draw(4, {many, joints}),
                      as = draw(5, {many, joints});
  const auto all = nax::jit(nax::vmap(nax::grad<0, 1, 2>(effort)));
  const Array<double> first = std::get<0>(all(qs, vs, as))(0),
                      alone = std::get<0>(gradient(qs(0), vs(0), as(0)));
  std::printf("a gradient among %d differs from it alone by %.0e\n", many,
              nax::max(nax::abs(first - alone)).item() / nax::max(nax::abs(alone)).item());
  std::printf("torques %.2f us, gradient %.2f us, one of %d gradients %.3f us\n",
              microseconds(1000, [&] { return value(q, v, a); }),
              microseconds(1000, [&] { return gradient(q, v, a); }), many,
              microseconds(5, [&] { return all(qs, vs, as); }) / many);
  return nax::allclose(newton, lagrange).item() && nax::allclose(first, alone).item() ? 0 : 1;
}
