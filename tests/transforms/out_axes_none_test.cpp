#include "nax/linalg/matrices.hpp"
#include "nax/nn/softmax.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/numpy/sorting/sort.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/random/continuous.hpp"
#include "nax/transform/jvp.hpp"
#include "transforms/arrays.hpp"

// out_axes none: one result for all examples, which must be equal for all.
namespace transforms::out_axes_none_test {

const A x = {{.1, .2, -.3}, {.4, .5, .6}, {.7, -.8, .9}, {1, 1.1, 1.2}, {1.3, .4, 1.5}};
const A total = {3.5, 1.4, 3.9};

template <class F>
A one(F f, const A& x) {
  return vmap([=](const A& row) -> A { return f(row); }, {.out_axes = none, .axis_name = "i"})(x);
}

TEST(OutAxesNone, ResultsComputedFromASum) {
  EXPECT_TRUE(matches(one([](const A& row) { return psum(row, "i"); }, x), total));
  EXPECT_TRUE(matches(one([](const A& row) { return pmean(row, "i"); }, x), total / 5));
  EXPECT_TRUE(matches(one([](const A& row) { return 2 * psum(row, "i"); }, x), 2 * total));
  EXPECT_TRUE(matches(one([](const A& row) { return sin(psum(row, "i")); }, x), sin(total)));
  EXPECT_TRUE(matches(one([](const A& row) { return sum(exp(psum(row, "i"))); }, x), sum(exp(total))));
  EXPECT_TRUE(
      matches(one([](const A& row) { return pmax(row, "i") - pmin(row, "i"); }, x), A{1.2, 1.9, 1.8}));
  EXPECT_TRUE(matches(one([](const A& row) { return all_gather(row, "i") * 3; }, x), x * 3));
}

// Of each function's kernel, at whatever place in it the elements lie.
TEST(OutAxesNone, AllExamplesAreComputedAlike) {
  for (std::int64_t n = 1; n < 70; n += n < 20 ? 1 : 7) {
    const Array<float> x = random::normal<float>(random::key(n), {7, n, 3});
    const auto same = [&](auto f) {
      const Array<float> got = vmap([=](const Array<float>& row) { return Array<float>(f(psum(row, "i"))); },
                                    {.out_axes = none, .axis_name = "i"})(x);
      const Array<float> want = f(sum(x, {.axis = 0}));
      EXPECT_TRUE(compare::close(got, want, 1e-5f)) << n;
    };
    same([](const Array<float>& s) { return tanh(s) + exp(-s) * sin(s) / (1.f + square(s)); });
    same([](const Array<float>& s) { return sum(square(s), {.axis = 0}); });
    same([](const Array<float>& s) { return sum(square(s), {.axis = 1}); });
    same([](const Array<float>& s) { return matmul(transpose(s), s); });
    same([](const Array<float>& s) { return matmul(s, eye<float>(3) + 1.f); });
    same([](const Array<float>& s) { return matmul(s, arange(3.f)); });
    same([](const Array<float>& s) { return nn::softmax(s); });
    same([](const Array<float>& s) { return cumsum(sort(s, {.axis = 0}), {.axis = 0}); });
    same([](const Array<float>& s) { return concatenate({var(s, {.axis = 0}), take(s, 0, {.axis = 0})}); });
  }
}

TEST(OutAxesNone, Gradients) {
  auto f = [](const A& x) { return sum(one([](const A& row) { return sin(psum(row, "i")); }, x)); };
  EXPECT_TRUE(matches(grad(f)(x), broadcast_to(cos(total), {5, 3})));
  const auto [value, tangent] = jvp(f, std::tuple{x}, std::tuple{ones<double>({5, 3})});
  EXPECT_TRUE(matches(tangent, sum(5 * cos(total))));
  auto inner = [](const A& row) {
    return grad([](const A& row) { return sum(square(psum(row, "i"))); })(row);
  };
  EXPECT_TRUE(matches(one(inner, x), 10 * total));
}

TEST(OutAxesNone, WithinAnotherVmap) {
  auto f = [](const A& w) { return one([=](const A& row) { return exp(psum(row * w, "i")); }, x); };
  EXPECT_TRUE(matches(vmap(f)(A{1, 2}), stack({A(exp(total)), A(exp(2 * total))})));
  auto apart = [](const A& w) { return one([=](const A& row) { return row * w; }, x); };
  EXPECT_EQ(text_of<ValueError>([&] {
              vmap(apart)(A{1, 2});
            }),
            "vmap: out_axes is none for a result that differs along the mapped axis");
}

TEST(OutAxesNone, ResultsThatDiffer) {
  const std::string differs = "vmap: out_axes is none for a result that differs along the mapped axis";
  EXPECT_EQ(text_of<ValueError>([] { one([](const A& row) { return row; }, x); }), differs);
  EXPECT_EQ(text_of<ValueError>([] { one([](const A& row) { return psum(row, "i") + row; }, x); }), differs);
  EXPECT_EQ(text_of<ValueError>([] { one([](const A&) { return A(axis_index("i").astype<double>()); }, x); }),
            differs);
  const A last = zeros<double>({5, 3}).at(4, 2).set(1.);
  EXPECT_EQ(text_of<ValueError>([&] { one([](const A& row) { return row * 2; }, last); }), differs);
}

}  // namespace transforms::out_axes_none_test
