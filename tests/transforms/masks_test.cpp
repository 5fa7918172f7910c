#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <tuple>
#include <utility>
#include <vector>

// Truth values that lie in any order, in expressions that are differentiated more than once.
namespace masks_test {
using namespace nax;
using D = Array<double>;
using B = Array<bool>;

D numbers() { return linspace<double>(.3, 1.9, 9).reshape({3, 3}); }

// Masks of 3 rows and 3 columns: views of larger arrays, whose other elements would be read next to them.
std::vector<B> masks() {
  const B base{{true, false, false, true, true, false, false},
               {true, true, false, false, true, true, false},
               {false, true, true, true, false, false, true},
               {true, false, true, false, true, false, false},
               {false, true, false, true, true, true, false}};
  const B row{true, false, true}, column{{true}, {false}, {true}};
  return {base(slice(0, 3), slice(0, 3)).copy(),
          base(slice(0, 3), slice(0, 3)).T(),
          base(slice(1, 4), slice(2, 5)),
          base(slice(0, 5, 2), slice(1, 7, 2)),
          flip(B(base(slice(0, 3), slice(0, 3)))),
          base(slice(2, 5), slice(6, 0, -2)),
          broadcast_to(row, {3, 3}),
          broadcast_to(column, {3, 3}),
          broadcast_to(B(true), {3, 3})};
}

D chosen(const B& mask, const D& x) { return where(mask, x * x * x, sin(x)); }
// The second derivative of `chosen`, whose Hessian is diagonal.
D curvature(const B& mask, const D& x) { return where(B(mask.copy()), D(6. * x), D(-sin(x))); }

void expect_close(const D& a, const D& b, std::size_t mask) {
  ASSERT_EQ(a.shape(), b.shape()) << "mask " << mask;
  EXPECT_LT(max(abs(D(a - b))).item(), 1e-12) << "mask " << mask;
}

TEST(Masks, InAnyOrderHaveSecondDerivatives) {
  const D x = numbers();
  const std::vector<B> all = masks();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const B& mask = all[i];
    const auto f = [mask](const D& v) { return D(sum(chosen(mask, v))); };
    const auto slope = [f](const D& v) { return D(grad(f)(v)); };
    const auto total = [slope](const D& v) { return D(sum(slope(v))); };
    const auto push = [](const auto& g, const D& v) {
      return D(jvp(g, std::tuple{v}, std::tuple{ones_like(v)}).second);
    };
    const D wanted = curvature(mask, x);
    expect_close(D(sum(D(hessian(f)(x)).reshape({9, 9}), {.axis = 1})), wanted.reshape({9}), i);
    expect_close(grad(total)(x), wanted, i);
    expect_close(push(slope, x), wanted, i);
    expect_close(
        grad([&](const D& v) { return D(sum(push([&](const D& u) { return chosen(mask, u); }, v))); })(x),
        wanted, i);
    expect_close(jit(grad(total))(x), wanted, i);
    expect_close(jit([&](const D& v) { return D(hessian(f)(v)); })(x), hessian(f)(x), i);
  }
}

TEST(Masks, OfExamplesHaveSecondDerivatives) {
  const D x = numbers();
  const std::vector<B> all = masks();
  const auto second = [](const B& mask, const D& v) {
    const auto slope = [&](const D& u) {
      return D(sum(D(grad([&](const D& w) { return D(sum(chosen(mask, w))); })(u))));
    };
    return D(grad(slope)(v));
  };
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const int axis : {0, 1}) {
      const auto mapped = vmap(second, {.in_axes = {axis, 0}});
      const B turned = axis == 0 ? all[i] : all[i].T();
      expect_close(mapped(turned, x), curvature(all[i], x), i);
      expect_close(jit(mapped)(turned, x), curvature(all[i], x), i);
    }
  // Behind two axes of the mask.
  const B deep = stack({all[1], all[2], all[3]}, {.axis = 2});
  const D wanted = stack({curvature(all[1], x), curvature(all[2], x), curvature(all[3], x)});
  expect_close(vmap(second, {.in_axes = {2, none}})(deep, x), wanted, 0);
}

}  // namespace masks_test
