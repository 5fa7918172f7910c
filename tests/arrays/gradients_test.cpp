#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/manipulation/edit.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/manipulation/tiling.hpp"
#include "nax/numpy/padding/pad.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/sorting/nonzero.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"

// A row for each function of one array: its derivatives (forward, reverse and nested) against differences,
// and vmap against a loop.
namespace gradients_test {

using nax::_;
using nax::Array;
using Real = Array<double>;
using Index = Array<int>;
using Function = std::function<Real(const Real&)>;

struct Row {
  const char* name;
  nax::Shape shape;
  Function f;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

Real sample(const nax::Shape& shape, double seed) {
  Real x = nax::zeros<double>(shape);
  double* p = reinterpret_cast<double*>(nax::detail::raw_data(x));
  for (std::int64_t i = 0; i < x.size(); ++i)
    p[i] = std::sin(1.7 * static_cast<double>(i) + seed) + 0.1 * static_cast<double>(i);
  return x;
}

void expect_near(const Real& got, const Real& want, double tolerance, const char* what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const auto g = got.to_vector(), w = want.to_vector();
  for (std::size_t i = 0; i < g.size(); ++i)
    EXPECT_NEAR(g[i], w[i], tolerance * (1 + std::abs(w[i]))) << what << " at " << i;
}

// The gradient of a scalar function by central differences.
Real differences(const std::function<Real(const Real&)>& f, const Real& x) {
  Real out = nax::zeros_like(x);
  double* p = reinterpret_cast<double*>(nax::detail::raw_data(out));
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const auto at = [&](double h) {
      Real y = nax::copy(x);
      reinterpret_cast<double*>(nax::detail::raw_data(y))[i] += h;
      return f(y).item();
    };
    p[i] = (at(1e-5) - at(-1e-5)) / 2e-5;
  }
  return out;
}

class Functions : public testing::TestWithParam<Row> {};

TEST_P(Functions, HaveDerivatives) {
  const Row& row = GetParam();
  const Real x = sample(row.shape, 0.3), dx = sample(row.shape, 0.9);
  const Function f = [&](const Real& v) -> Real { return row.f(v * v); };
  const Real w = sample(f(x).shape(), 2.1);
  const Function loss = [&](const Real& v) -> Real { return nax::sum(f(v) * w * f(v)); };
  const Real g = nax::grad(loss)(x);
  expect_near(g, differences(loss, x), 1e-6, "gradient");
  auto [y, dy] = nax::jvp(loss, std::tuple{x}, std::tuple{dx});
  expect_near(y, loss(x), 1e-12, "value under jvp");
  expect_near(dy, nax::sum(g * dx), 1e-10, "tangent");
  const Function slope = [&](const Real& v) -> Real { return nax::sum(nax::grad(loss)(v) * dx); };
  const Real h = nax::grad(slope)(x);
  expect_near(h, differences(slope, x), 1e-5, "second order");
  auto [s, ds] = nax::jvp(nax::grad(loss), std::tuple{x}, std::tuple{dx});
  expect_near(ds, h, 1e-10, "forward over reverse");
}

TEST_P(Functions, MapLikeALoop) {
  const Row& row = GetParam();
  std::vector<Real> xs, ys, gs;
  const auto loss = [&](const Real& v) -> Real {
    const Real y = row.f(v * v);
    return nax::sum(y * y);
  };
  for (int i = 0; i < 3; ++i) {
    xs.push_back(sample(row.shape, 0.5 * i));
    ys.push_back(row.f(xs.back()));
    gs.push_back(nax::grad(loss)(xs.back()));
  }
  const Real batch = nax::stack(xs), want = nax::stack(ys), gradients = nax::stack(gs);
  expect_near(nax::vmap(row.f)(batch), want, 1e-12, "in_axes 0");
  expect_near(nax::vmap(row.f, {.in_axes = -1, .out_axes = -1})(nax::moveaxis(batch, 0, -1)),
              nax::moveaxis(want, 0, -1), 1e-12, "in_axes -1");
  expect_near(nax::vmap(nax::grad(loss))(batch), gradients, 1e-12, "vmap of grad");
  const auto total = [&](const Real& all) -> Real { return nax::sum(nax::vmap(loss)(all)); };
  expect_near(nax::grad(total)(batch), gradients, 1e-12, "grad of vmap");
}

const Row rows[] = {
    {"reshape",
     {2, 6},
     [](const Real& x) {
       return x.reshape({3, -1});
     }},
    {"reshape of a transpose",
     {2, 3, 2},
     [](const Real& x) {
       return x.T().reshape({4, 3});
     }},
    {"transpose",
     {2, 3, 2},
     [](const Real& x) {
       return nax::transpose(x, {1, 2, 0});
     }},
    {"moveaxis",
     {2, 3, 2},
     [](const Real& x) {
       return nax::moveaxis(x, {0, 1}, {-1, 0});
     }},
    {"squeeze",
     {2, 1, 3},
     [](const Real& x) {
       return nax::expand_dims(nax::squeeze(x), {0, -1});
     }},
    {"broadcast_to",
     {2, 1},
     [](const Real& x) {
       return nax::broadcast_to(x, {3, 2, 4});
     }},
    {"concatenate",
     {2, 3},
     [](const Real& x) {
       return nax::concatenate({x, x * 2, x}, {.axis = 1});
     }},
    {"stack",
     {2, 3},
     [](const Real& x) {
       return nax::stack({x, x * x}, {.axis = -1});
     }},
    {"split",
     {4, 3},
     [](const Real& x) -> Real {
       return nax::split(x, 2)[0] * nax::split(x, {1, 2}, {.axis = 1})[1](nax::slice(2));
     }},
    {"tile",
     {2, 3},
     [](const Real& x) {
       return nax::tile(x, {2, 1, 2});
     }},
    {"repeat", {2, 3}, [](const Real& x) { return nax::repeat(x, 2, {.axis = 1}); }},
    {"repeat by counts",
     {3, 2},
     [](const Real& x) {
       return nax::repeat(x, std::vector<int>{1, 0, 2}, {.axis = 0});
     }},
    {"roll",
     {3, 4},
     [](const Real& x) {
       return nax::roll(x, {1, 2}, {.axis = {0, 1}});
     }},
    {"flip", {2, 3}, [](const Real& x) { return nax::flip(x, {.axis = 1}); }},
    {"rot90", {2, 3}, [](const Real& x) { return nax::rot90(x); }},
    {"pad",
     {2, 3},
     [](const Real& x) {
       return nax::pad(x, {{1, 2}, {0, 1}}, {.constant_values = 3});
     }},
    {"pad by reflection",
     {3, 3},
     [](const Real& x) {
       return nax::pad(x, {{2, 1}, {1, 3}}, {.mode = "reflect"});
     }},
    {"pad by wrapping", {2, 3}, [](const Real& x) { return nax::pad(x, 2, {.mode = "wrap"}); }},
    {"tril", {3, 3}, [](const Real& x) { return nax::tril(x, {.k = 1}); }},
    {"triu", {2, 3, 3}, [](const Real& x) { return nax::triu(x); }},
    {"diagonal",
     {2, 3, 3},
     [](const Real& x) { return nax::diagonal(x, {.offset = -1, .axis1 = 1, .axis2 = 2}); }},
    {"diag", {3}, [](const Real& x) { return nax::diag(x, {.k = -1}); }},
    {"trace", {3, 4}, [](const Real& x) { return nax::trace(x, {.offset = 1}); }},
    {"row", {3, 2}, [](const Real& x) -> Real { return x(0) * x(-1); }},
    {"slices",
     {4, 5},
     [](const Real& x) { return x(nax::slice(_, _, -2), nax::newaxis, nax::slice(1, -1)); }},
    {"index array",
     {3, 2},
     [](const Real& x) {
       return x(Index{{0, 2}, {2, 2}});
     }},
    {"two index arrays",
     {3, 4, 2},
     [](const Real& x) {
       return x(Index{0, 2, 2}, _, Index{1, 0, 0});
     }},
    {"indices and slices",
     {3, 4, 2},
     [](const Real& x) {
       return x(1, nax::slice(1, _, 2), Index{1, 0, 1});
     }},
    {"mask",
     {2, 3},
     [](const Real& x) {
       return x(Array<bool>{{true, false, true}, {false, true, true}});
     }},
    {"mask of an axis",
     {2, 3},
     [](const Real& x) {
       return x(_, Array<bool>{true, false, true});
     }},
    {"take",
     {3, 4},
     [](const Real& x) {
       return nax::take(x, Index{{1, 3}, {0, -4}}, {.axis = 1});
     }},
    {"take_along_axis",
     {3, 4},
     [](const Real& x) {
       return nax::take_along_axis(x, Index{{2, 0, 1, 1}}, 0);
     }},
    {"put_along_axis",
     {3, 4},
     [](const Real& x) {
       return nax::put_along_axis(x, Index{{2, 0, 1, 1}}, x(0) * 2, 0);
     }},
    {"put_along_axis twice",
     {3, 4},
     [](const Real& x) {
       return nax::put_along_axis(x, Index{{2, 0, 1, 1}, {2, 1, 1, 0}}, x(nax::slice(2)) * 2, 0);
     }},
    {"at set", {3, 4}, [](const Real& x) { return x.at(1).set(x(0) * 2); }},
    {"at set twice",
     {3, 4},
     [](const Real& x) {
       return x.at(Index{1, 1, 0}).set(x * 2);
     }},
    {"at add",
     {3, 4},
     [](const Real& x) {
       return x.at(Index{1, 1, 0}).add(x * 2);
     }},
    {"at add slice",
     {3, 4},
     [](const Real& x) { return x.at(_, nax::slice(1, 3)).add(x(_, nax::slice(2)) * 2); }},
    {"at multiply",
     {3, 4},
     [](const Real& x) {
       return x.at(Index{1, 1, 0}, _).multiply(x);
     }},
    {"at divide",
     {3, 4},
     [](const Real& x) {
       return x.at(Index{1, 1, 0}).divide(x + 3.0);
     }},
    {"at apply", {3, 4}, [](const Real& x) { return x.at(_, 2).apply([](const Real& v) { return v * v; }); }},
    {"at max",
     {3, 4},
     [](const Real& x) {
       return x.at(Index{1, 1}).max(x(0) * 0.9);
     }},
    {"at power",
     {3},
     [](const Real& x) {
       return (x + 1.0)(_).at(Index{1, 1}).power(x(0) + 1.0);
     }},
    {"choose",
     {3},
     [](const Real& x) {
       return nax::choose(Index{1, 0, 1}, std::vector<Real>{x, x * x});
     }},
    {"select",
     {3},
     [](const Real& x) {
       return nax::select({Array<bool>{true, false, false}, Array<bool>{true, true, false}},
                          std::vector<Real>{x, x * x}, {.default_ = 2});
     }},
    {"insert",
     {2, 3},
     [](const Real& x) {
       return nax::insert(x, std::vector<int>{0, 2}, x(_, nax::slice(2)), {.axis = 1});
     }},
    {"delete", {2, 3}, [](const Real& x) { return nax::delete_(x, 1, {.axis = 1}); }},
    {"append", {2, 3}, [](const Real& x) { return nax::append(x, x * x); }},
    {"resize",
     {2, 3},
     [](const Real& x) {
       return nax::resize(x, {3, 3});
     }},
    {"copy", {2, 3}, [](const Real& x) { return nax::copy(x.T()); }},
};
INSTANTIATE_TEST_SUITE_P(Arrays, Functions, testing::ValuesIn(rows));

}  // namespace gradients_test
