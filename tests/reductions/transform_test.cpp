// Reductions and matmul under vmap, jvp and their nestings; errors of invalid arguments.

#include "nax/nn/one_hot.hpp"
#include "nax/nn/softmax.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/reductions/prod.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"
#include "reductions/check.hpp"
#include "support/refusal.hpp"

namespace transform_test {

using A = nax::Array<double>;
const A x = {{{1, -2, 0.5}, {3, 0, 1}}, {{0.2, 4, -1}, {2, 2, 2}}},
        v = {{{0.3, 1, -1}, {0.1, 2, 0}}, {{1, -1, 0.7}, {0, 1, 3}}};

void expect_near(const A& got, const A& want, double tolerance = 1e-10) {
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape()));
  const auto g = got.to_vector(), w = want.to_vector();
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], w[i], tolerance) << i;
}

// f over matrices: mapped over axis 0 and over axis 1 against each example; jvp against the gradient; grad of
// vmap.
template <class F>
void transforms(const F& f) {
  const auto loss = [&](const A& a) { return nax::sum(f(a) * f(a)); };
  const A batch = nax::vmap(f)(x);
  std::int64_t i = 0;
  for (const A& one : x) {
    expect_near(batch(i), f(one));
    expect_near(nax::vmap(nax::grad(loss))(x)(i), nax::grad(loss)(one));
    const auto [value, slope] = nax::jvp(loss, std::tuple{one}, std::tuple{v(i)});
    expect_near(slope, nax::sum(nax::grad(loss)(one) * v(i)));
    const auto along = [&](const A& a) { return nax::jvp(loss, std::tuple{a}, std::tuple{v(i)}).second; };
    const auto back = [&](const A& a) { return nax::sum(nax::grad(loss)(a) * v(i)); };
    expect_near(nax::grad(along)(one), nax::grad(back)(one), 1e-8);
    ++i;
  }
  const A swapped = nax::transpose(x, {1, 0, 2});
  expect_near(nax::vmap(f, {.in_axes = 1})(swapped), batch);
  const A whole = nax::grad([&](const A& a) { return nax::sum(nax::vmap(loss)(a)); })(x);
  expect_near(whole, nax::vmap(nax::grad(loss))(x));
}

TEST(ReductionTransforms, Sums) {
  transforms([](const A& a) { return nax::sum(a, {.axis = 0}); });
  transforms([](const A& a) { return nax::mean(a * a, {.axis = 1, .keepdims = true}); });
  transforms([](const A& a) { return nax::var(a, {.axis = 0, .ddof = 1}); });
}
TEST(ReductionTransforms, Products) {
  transforms([](const A& a) { return nax::prod(a, {.axis = 1}); });
  transforms([](const A& a) { return nax::cumprod(a, {.axis = 1}); });
  transforms([](const A& a) { return nax::cumsum(a); });
}
TEST(ReductionTransforms, Extrema) {
  transforms([](const A& a) { return nax::max(a * a + a, {.axis = 1}); });
  transforms([](const A& a) { return nax::min(a); });
}
TEST(ReductionTransforms, Exponentials) {
  transforms([](const A& a) { return nax::logsumexp(a, {.axis = 1}); });
  transforms([](const A& a) { return nax::logsumexp(a, {.axis = 0, .keepdims = true}); });
  transforms([](const A& a) { return nax::nn::softmax(a); });
  transforms([](const A& a) { return nax::nn::log_softmax(a, {.axis = 0}); });
}
TEST(ReductionTransforms, Matmul) {
  transforms([](const A& a) { return nax::matmul(a, A{{1, 2}, {0.5, -1}, {3, 1}}); });
  transforms([](const A& a) { return nax::matmul(nax::matrix_transpose(a), a); });
  transforms([](const A& a) { return nax::matmul(A{1, -2}, a); });
}

TEST(Ties, TheGradientIsSplitEvenly) {
  expect_near(nax::grad([](const A& a) { return nax::max(a); })(A{1, 3, 3, 2}), A{0, 0.5, 0.5, 0});
  const double inf = std::numeric_limits<double>::infinity();
  expect_near(nax::grad([](const A& a) { return nax::sum(nax::logsumexp(a, {.axis = 1})); })(
                  A{{-inf, -inf}, {-inf, 0}}),
              A{{0, 0}, {0, 1}});
}

TEST(OneHot, LabelsAndBatches) {
  const nax::Array<int> labels = {2, 0, 5};
  EXPECT_EQ(nax::nn::one_hot(labels, 3).to_vector(), (std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(nax::nn::one_hot(labels, 3, {.axis = 0}).to_vector(),
            (std::vector<float>{0, 1, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(nax::vmap([](const nax::Array<int>& l) { return nax::nn::one_hot(l, 3); })(labels).shape(),
            (nax::Shape{3, 3}));
}

TEST(ReductionErrors, NameTheFunctionAndTheArgument) {
  const A m = {{1, 2}, {3, 4}}, none_there = nax::sum(A{{1, 2}}, {.axis = 1})(nax::slice(0, 0));
  EXPECT_EQ(refusal<nax::Error>([&] { nax::sum(m, {.axis = 2}); }),
            "sum: axis 2 is out of bounds for array of dimension 2");
  EXPECT_EQ(refusal<nax::Error>([&] {
              nax::sum(m, {.axis = {0, -2}});
            }),
            "sum: duplicate value in 'axis': -2");
  EXPECT_EQ(refusal<nax::Error>([&] { nax::max(none_there); }),
            "max: zero-size array to reduction operation max which has no identity");
  EXPECT_EQ(refusal<nax::Error>([&] { nax::max(m, {.where = m > 1}); }),
            "max: the reduction has no identity, so to use a where mask one has to specify 'initial'");
  EXPECT_EQ(refusal<nax::Error>([&] { nax::argmax(none_there); }),
            "argmax: attempt to get argmax of an empty sequence");
  EXPECT_EQ(refusal<nax::Error>([&] {
              nax::matmul(m, A{1, 2, 3});
            }),
            "matmul: inner dimensions differ: (2, 2) x (3,)");
  EXPECT_EQ(refusal<nax::Error>([&] { nax::matmul(m, A(2.0)); }),
            "matmul: operands must be at least 1-d, shapes (2, 2) ()");
}

}  // namespace transform_test
