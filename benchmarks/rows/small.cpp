#include "rows.hpp"

namespace bench {
namespace {

template <class F, class... X>
Work of(F f, const X&... x) {
  return calls([=] { return f(x...); });
}

Array<float> cubic(const Array<float>& x) { return nax::sin(x) * x * x + 1.f; }
Array<float> slope(const Array<float>& x) { return nax::grad(cubic)(x); }

// Well-conditioned matrices.
Array<float> matrices(std::int64_t n) { return uniform_array(1, {572, n, n}) + 4.f * nax::eye<float>(n); }

Array<int> places() {
  const auto indices = integers(3, 1000, 1000);
  return nax::asarray(std::span<const std::int32_t>(indices), {1000});
}

// The distance of each of 4096 points to the nearest of 1000 centroids.
Array<float> nearest(const Array<float>& centroids, const Array<float>& points) {
  const Array<float> distances = nax::sum(nax::square(points), {.axis = 1, .keepdims = true}) +
                                 nax::sum(nax::square(centroids), {.axis = 1}) -
                                 2.f * nax::matmul(points, nax::transpose(centroids));
  return nax::sum(nax::min(distances, {.axis = 1}));
}

// The squared distance of an arm's end from its foot: six joints, by matrices.
Array<float> reach(const Array<float>& angles) {
  Array<float> turn = nax::eye<float>(3), place = nax::zeros<float>({3});
  const Array<float> link = {0.3f, 0.1f, 0.5f};
  for (std::int64_t i = 0; i < 6; ++i) {
    const Array<float> c = nax::cos(angles(i)), s = nax::sin(angles(i)), zero = nax::zeros_like(c),
                       one = nax::ones_like(c);
    turn = nax::matmul(turn, nax::reshape(nax::stack({c, -s, zero, s, c, zero, zero, zero, one}), {3, 3}));
    place = place + nax::matmul(turn, link);
  }
  return nax::sum(nax::square(place));
}

}  // namespace

Rows small_rows() {
  const nax::Shape point = {};
  return {
      {"grad_of_number", [=] { return of(slope, uniform_array(1, point)); }},
      {"grad_of_grad_of_number",
       [=] {
         return of([](const Array<float>& x) { return nax::grad(slope)(x); }, uniform_array(1, point));
       }},
      {"jit_grad_of_grad_of_number",
       [=] {
         return of(nax::jit([](const Array<float>& x) { return nax::grad(slope)(x); }),
                   uniform_array(1, point));
       }},
      {"jvp_of_grad_of_number",
       [=] {
         return of([](const Array<float>& x) { return nax::jvp(slope, std::tuple{x}, std::tuple{x}).second; },
                   uniform_array(1, point));
       }},
      {"products_4x4_572",
       [] {
         return of([](const Array<float>& a, const Array<float>& b) { return nax::matmul(a, b); },
                   uniform_array(1, {572, 4, 4}), uniform_array(2, {572, 4, 4}));
       }},
      {"solve_4x4_572",
       [] {
         return of([](const Array<float>& a, const Array<float>& b) { return nax::linalg::solve(a, b); },
                   matrices(4), uniform_array(2, {572, 4, 1}));
       }},
      {"det_4x4_572",
       [] { return of([](const Array<float>& a) { return nax::linalg::det(a); }, matrices(4)); }},
      {"take_rows_of_11",
       [] {
         return of([](const Array<float>& x, const Array<int>& i) { return nax::take(x, i, {.axis = 0}); },
                   uniform_array(1, {1000, 11}), places());
       }},
      {"concatenate_short",
       [] {
         return of(
             [](const Array<float>& a, const Array<float>& b) {
               return nax::concatenate({a, b});
             },
             uniform_array(1, {10}), uniform_array(2, {10}));
       }},
      {"roll_1000",
       [] { return of([](const Array<float>& a) { return nax::roll(a, 3); }, uniform_array(1, {1000})); }},
      {"stack_axis_1",
       [] {
         return of(
             [](const Array<float>& a, const Array<float>& b) {
               return nax::stack({a, b}, {.axis = 1});
             },
             uniform_array(1, {1000}), uniform_array(2, {1000}));
       }},
      {"sum_of_rows_of_4",
       [] {
         return of([](const Array<float>& a) { return nax::sum(a, {.axis = 1}); },
                   uniform_array(1, {1 << 18, 4}));
       }},
      {"nearest_centroids_gradient",
       [] {
         const auto f = nax::grad(nearest);
         return of([f](const Array<float>& c, const Array<float>& p) { return f(c, p); },
                   uniform_array(1, {1000, 8}), uniform_array(2, {4096, 8}));
       }},
      {"arm_gradient",
       [] { return of([](const Array<float>& x) { return nax::grad(reach)(x); }, uniform_array(1, {6})); }},
      {"jit_arm_gradient", [] { return of(nax::jit(nax::grad(reach)), uniform_array(1, {6})); }},
      {"arms_gradient_1000",
       [] {
         return of([](const Array<float>& x) { return nax::vmap(nax::grad(reach))(x); },
                   uniform_array(1, {1000, 6}));
       }},
      {"jit_arms_gradient_1000",
       [] {
         return of(nax::jit(nax::vmap(nax::grad(reach))), uniform_array(1, {1000, 6}));
       }},
      {"jit_nearest_centroids_gradient",
       [] {
         return of(nax::jit(nax::grad(nearest)), uniform_array(1, {1000, 8}), uniform_array(2, {4096, 8}));
       }},
  };
}

}  // namespace bench
