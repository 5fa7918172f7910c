// Interpolants next to SciPy's: values, derivatives, transforms, errors.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nax/interpolate.hpp>
#include <nax/transform.hpp>
#include <string>
#include <vector>

#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace interpolate_test {

using nax::sum;
using Real = nax::Array<double>;
namespace interpolate = nax::interpolate;

Real golden_array(const std::string& name) {
  const golden::Golden& g = golden::goldens("interpolate").at(name);
  return nax::asarray(g.values, nax::Shape(g.shape.begin(), g.shape.end()));
}
void expect_equal(const Real& got, const Real& wanted, const std::string& name, double tolerance = 1e-11) {
  ASSERT_EQ(got.shape(), wanted.shape()) << name;
  const auto a = got.to_vector(), b = wanted.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]))
      EXPECT_TRUE(std::isnan(a[i])) << name << ' ' << i;
    else
      EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << name << ' ' << i;
  }
}

template <class Make>
int compare_curves(const std::string& kind, const Make& make) {
  int cases = 0;
  for (const auto& [name, record] : golden::goldens("interpolate")) {
    if (name.rfind(kind, 0) != 0 || name.find("/in0") == std::string::npos) continue;
    const std::string base = name.substr(0, name.size() - 3);
    const Real points = golden_array(base + "in2");
    const auto curve = make(name, golden_array(base + "in0"), golden_array(base + "in1"));
    expect_equal(curve(points), golden_array(base + "out"), name);
    for (int nu = 1; nu <= 3; ++nu) {
      expect_equal(curve(points, {.nu = nu}), golden_array(base + "out" + std::to_string(nu)), name, 1e-10);
    }
    expect_equal(curve(points, {.nu = 4}), 0 * golden_array(base + "out"), name);
    ++cases;
  }
  return cases;
}

TEST(CubicSpline, EqualsScipy) {
  EXPECT_EQ(compare_curves("CubicSpline",
                           [](const std::string& name, const Real& x, const Real& y) {
                             const std::size_t begin = name.find('.') + 1;
                             const std::string ends = name.substr(begin, name.find('.', begin) - begin);
                             return interpolate::CubicSpline(x, y, {.bc_type = ends});
                           }),
            28);
}
TEST(Pchip, EqualsScipy) {
  EXPECT_EQ(
      compare_curves("PchipInterpolator", [](const std::string&, const Real& x,
                                             const Real& y) { return interpolate::PchipInterpolator(x, y); }),
      8);
}

TEST(RegularGrid, EqualsScipy) {
  int cases = 0;
  for (const auto& [name, record] : golden::goldens("interpolate")) {
    if (name.rfind("RegularGrid", 0) != 0 || name.find("/out") == std::string::npos) continue;
    const std::string base = name.substr(0, name.size() - 3);
    const bool nearest = name.find("nearest") != std::string::npos;
    const int d = name[name.find(".", name.find(".") + 1) + 1] - '0';
    std::vector<Real> grid;
    for (int i = 0; i < d; ++i) grid.push_back(golden_array(base + "in" + std::to_string(i)));
    const Real values = golden_array(base + "in" + std::to_string(d)),
               points = golden_array(base + "in" + std::to_string(d + 1));
    const std::string_view method = nearest ? "nearest" : "linear";
    expect_equal(
        interpolate::RegularGridInterpolator(grid, values, {.method = method, .bounds_error = false})(points),
        golden_array(name), name);
    expect_equal(
        interpolate::RegularGridInterpolator(grid, values, {.method = method, .extrapolate = true})(points),
        golden_array(base + "beyond"), name);
    ++cases;
  }
  EXPECT_EQ(cases, 12);
}

// Gradients in x, y and the points equal differences; vmap and jit equal a loop.
template <class F>
void check_transforms(const F& f, const Real& at) {
  const Real g = nax::grad(f)(at), flat = g.reshape({-1});
  for (std::int64_t i = 0; i < at.size(); ++i) {
    const Real step = 1e-6 * nax::eye<double>(at.size())(i).reshape(at.shape());
    EXPECT_NEAR(flat(i).item(), (f(at + step).item() - f(at - step).item()) / 2e-6, 1e-6) << i;
  }
  EXPECT_NEAR(nax::jit(f)(at).item(), f(at).item(), 1e-12);
  const Real jitted = nax::jit(nax::grad(f))(at);
  EXPECT_LT(nax::max(nax::abs(jitted - g)).item(), 1e-10);
  const Real both = nax::vmap(f)(nax::stack({at, at + 0.015625}));
  EXPECT_NEAR(both(0).item(), f(at).item(), 1e-12);
  EXPECT_NEAR(both(1).item(), f(at + 0.015625).item(), 1e-12);
}
TEST(Interpolants, AreDifferentiable) {
  const Real x{0, 1, 2.5, 3, 4.5, 5.25}, y{1, 0.5, 2, 2.5, -1, 1}, points{-0.5, 0.3, 1.7, 2.75, 4, 5};
  const Real weights{1, 2, -1, 0.5, 3, 1.5};
  for (const char* ends : {"not-a-knot", "natural", "clamped", "periodic"}) {
    check_transforms(
        [&](const Real& y) {
          // (A circle's ends are equal.)
          const Real closed = nax::concatenate({y, y(nax::slice(0, 1))}),
                     at = nax::concatenate({x, Real{6.5}});
          return sum(weights * interpolate::CubicSpline(at, closed, {.bc_type = ends})(points));
        },
        y);
    check_transforms(
        [&](const Real& x) {
          return sum(weights * interpolate::CubicSpline(x, y, {.bc_type = ends})(points, {.nu = 1}));
        },
        x);
    check_transforms(
        [&](const Real& points) {
          return sum(weights * interpolate::CubicSpline(x, y, {.bc_type = ends})(points));
        },
        points);
  }
  const Real bent{1, 0.5, 2, 2.5, 2.5, 4};
  check_transforms([&](const Real& x) { return sum(weights * interpolate::PchipInterpolator(x, y)(points)); },
                   x);
  check_transforms(
      [&](const Real& p) { return sum(weights * interpolate::PchipInterpolator(x, bent)(p, {.nu = 1})); },
      points);
  const Real u{0, 1, 3}, v{0, 2}, values{{1, 2}, {0, 4}, {-3, 0.5}};
  const Real at{{0.5, 0.5}, {2.5, 1.5}};
  check_transforms(
      [&](const Real& values) {
        return sum(interpolate::RegularGridInterpolator({u, v}, values)(at));
      },
      values);
  check_transforms(
      [&](const Real& at) {
        return sum(interpolate::RegularGridInterpolator({u, v}, values)(at));
      },
      at);
  check_transforms(
      [&](const Real& u) {
        return sum(interpolate::RegularGridInterpolator({u, v}, values)(at));
      },
      u);
}

TEST(Interpolants, OfFloatsNumbersAndOutside) {
  const nax::Array<float> x{0, 1, 2, 3}, y{0, 1, 4, 9};
  const auto s = interpolate::CubicSpline(x, y);
  static_assert(std::is_same_v<decltype(s(1.5)), nax::Array<float>>);
  EXPECT_NEAR(s(1.5).item(), 2.25f, 1e-6);
  EXPECT_EQ(s(nax::zeros<float>({2, 0, 3})).shape(), (nax::Shape{2, 0, 3}));
  EXPECT_TRUE(std::isnan(s(-1, {.extrapolate = false}).item()));
  EXPECT_NEAR(s(-1).item(), 1, 1e-5);
  EXPECT_TRUE(std::isnan(s(std::numeric_limits<float>::quiet_NaN()).item()));
}

TEST(Interpolants, RefuseBadInput) {
  const Real x{0, 1, 2}, y{0, 1, 4};
  EXPECT_EQ(refusal([&] {
              interpolate::CubicSpline(Real{0, 2, 1}, y);
            }),
            "CubicSpline: x must ascend strictly");
  EXPECT_EQ(refusal([&] {
              interpolate::PchipInterpolator(Real{0, 1, 1}, y);
            }),
            "PchipInterpolator: x must ascend strictly");
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              interpolate::CubicSpline(x, Real{0, 1});
            }),
            "CubicSpline: x must have shape (n,) and y (n, ...), got (3,) and (2,)");
  EXPECT_EQ(refusal([&] { interpolate::CubicSpline(Real{0}, Real{1}); }),
            "CubicSpline: at least 2 points are needed, got 1");
  EXPECT_EQ(refusal([&] { interpolate::CubicSpline(x, y, {.bc_type = "free"}); }),
            "CubicSpline: bc_type must be 'not-a-knot', 'natural', 'clamped' or 'periodic', not 'free'");
  EXPECT_EQ(refusal([&] { interpolate::CubicSpline(x, y, {.bc_type = "periodic"}); }),
            "CubicSpline: periodic y must end as it begins");
  EXPECT_EQ(refusal([&] { interpolate::CubicSpline(x, y)(x, {.nu = -1}); }),
            "CubicSpline: nu must not be negative: -1");
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              interpolate::RegularGridInterpolator({x, x}, y);
            }),
            "RegularGridInterpolator: 2 axes of points, values of shape (3,)");
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              interpolate::RegularGridInterpolator({x}, Real{0, 1});
            }),
            "RegularGridInterpolator: points 0 must have shape (2,), not (3,)");
  EXPECT_EQ(refusal([&] {
              interpolate::RegularGridInterpolator({x}, y)(Real{0.5, 2.5});
            }),
            "RegularGridInterpolator: points lie outside of the grid");
  EXPECT_EQ(refusal([&] { interpolate::RegularGridInterpolator({x}, y, {.method = "cubic"}); }),
            "RegularGridInterpolator: method must be 'linear' or 'nearest', not 'cubic'");
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              interpolate::RegularGridInterpolator({x, x}, nax::zeros<double>({3, 3}))(Real{1, 2, 3});
            }),
            "RegularGridInterpolator: points must have shape (..., 2), not (3,)");
}

TEST(Interpolants, OfTinyData) {
  const Real x{0, 1, 2, 3}, y{0, 1, 3, 4};
  const auto slope = [&](const auto& x, const auto& y) {
    return interpolate::PchipInterpolator(x, y)(x, {.nu = 1});
  };
  const std::vector<double> want = slope(x, y).to_vector();  // 1/2, 4/3, 4/3, 1/2 by SciPy
  EXPECT_NEAR(want[1], 4. / 3, 1e-12);
  const std::vector<double> tiny = slope(x, Real(y * 1e-200)).to_vector();
  const nax::Array<float> u{0, 1, 2, 3}, v{0, 1, 3, 4};
  const std::vector<float> small = slope(u, nax::Array<float>(v * 1e-30f)).to_vector();
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(tiny[i] * 1e200, want[i], 1e-12) << i;
    EXPECT_NEAR(small[i] * 1e30f, want[i], 1e-5) << i;
  }
  EXPECT_EQ(slope(x, Real{0, 1, -1, -1}).to_vector()[1], 0);
}

// The shapes are SciPy's.
TEST(RegularGrid, ShapesOfOnePoint) {
  const Real x{0, 1, 2}, y{0, 10, 40};
  const auto line = interpolate::RegularGridInterpolator({x}, y);
  EXPECT_EQ(line(Real{0.5}).shape(), (nax::Shape{1}));
  EXPECT_EQ(line(Real{0.5, 1.5}).to_vector(), (std::vector<double>{5, 25}));
  EXPECT_EQ(line(Real{{0.5}}).shape(), (nax::Shape{1}));
  EXPECT_EQ(line(Real{{0.5}, {1.5}}).shape(), (nax::Shape{2}));
  EXPECT_EQ(line(nax::zeros<double>({3, 1, 1})).shape(), (nax::Shape{3, 1}));
  EXPECT_EQ(line(nax::zeros<double>({0})).shape(), (nax::Shape{0}));
  EXPECT_EQ(line(Real(0.5)).shape(), nax::Shape{});
  EXPECT_THROW(line(nax::zeros<double>({2, 2})), nax::ShapeError);
  const Real wide{{0, 1}, {2, 3}, {4, 5}};
  EXPECT_EQ(interpolate::RegularGridInterpolator({x}, wide)(Real{0.5}).shape(), (nax::Shape{1, 2}));
  const auto plane = interpolate::RegularGridInterpolator({x, Real{0, 1}}, wide);
  EXPECT_EQ(plane(Real{0.5, 0.5}).shape(), (nax::Shape{1}));
  EXPECT_EQ(plane(Real{{{0.5, 0.5}}}).shape(), (nax::Shape{1, 1}));
  EXPECT_EQ(nax::vmap([&](const Real& at) { return line(at); })(Real{{0.5}, {1.5}}).shape(),
            (nax::Shape{2, 1}));
}

TEST(RegularGrid, NaNInAPointGivesNaN) {
  const double nan = std::nan("");
  const Real x{0, 1, 2}, at{{nan, 0.5}, {0.5, nan}, {nan, 5}, {1.5, 0.5}};
  const Real values{{0, 1}, {2, 3}, {4, 5}};
  for (const bool extrapolate : {false, true})
    for (const char* method : {"nearest", "linear"}) {
      const auto f = [&](const Real& at) {
        return interpolate::RegularGridInterpolator(
            {x, Real{0, 1}}, values,
            {.method = method, .bounds_error = false, .fill_value = -1, .extrapolate = extrapolate})(at);
      };
      for (const Real& y : {f(at), nax::jit(f)(at)}) {
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y(i).item())) << method << i;
        EXPECT_EQ(y(3).item(), method[0] == 'n' ? 2 : 3.5);
      }
    }
}

}  // namespace interpolate_test
