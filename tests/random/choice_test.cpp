#include "nax/random/choice.hpp"

#include "nax/numpy/indexing/indexing.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "random/draws.hpp"

namespace choice_test {
using namespace nax;
using draws::expect_same;

Array<float> matrix() {
  Array<float> m = empty<float>({4, 3});
  for (int i = 0; i < 12; ++i) detail::elements<float>(m)[i] = static_cast<float>(i) / 4;
  return m;
}

TEST(Permutation, MatchesJax) {
  const auto key = random::key(42);
  for (int n : {1, 2, 5, 10, 64, 1000, 2000})
    expect_same(random::permutation(key, n), "permutation/" + std::to_string(n));
  expect_same(random::permutation(random::key(0), 10), "permutation/10/seed=0");
  const auto all = draws::values(random::permutation(key, 60000));
  EXPECT_EQ(std::vector<double>(all.begin(), all.begin() + 64),
            golden::get("random", "permutation/60000/first64").values);
  EXPECT_EQ(std::vector<double>(all.end() - 64, all.end()),
            golden::get("random", "permutation/60000/last64").values);
  expect_same(random::permutation(key, matrix()), "permutation/matrix");
  expect_same(random::permutation(key, matrix(), {.axis = 1}), "permutation/matrix.axis=1");
  expect_same(random::permutation(key, matrix(), {.independent = true}),
              "permutation/matrix.axis=0.independent");
  expect_same(random::permutation(key, matrix(), {.axis = 1, .independent = true}),
              "permutation/matrix.axis=1.independent");
  EXPECT_EQ(random::permutation(key, 0).shape(), (Shape{0}));
  EXPECT_THROW(random::permutation(key, Array<float>(1.f)), ValueError);
  EXPECT_THROW(random::permutation(key, matrix(), {.axis = 2}), IndexError);
}

TEST(Choice, MatchesJax) {
  const auto key = random::key(42);
  const Array<float> p = {0.1f, 0.2f, 0.3f, 0.4f};
  expect_same(random::choice(key, 10, {5}), "choice/10/(5,)");
  expect_same(random::choice(key, 10), "choice/10/()");
  expect_same(random::choice(key, 10, {2, 3}), "choice/10/(2,3)");
  expect_same(random::choice(key, 10, {5}, {.replace = false}), "choice/10/(5,).replace=false");
  expect_same(random::choice(key, matrix(), {6}), "choice/matrix/(6,)");
  expect_same(random::choice(key, matrix(), {3}, {.replace = false}), "choice/matrix/(3,).replace=false");
  expect_same(random::choice(key, matrix(), {5}, {.axis = 1}), "choice/matrix/(5,).axis=1");
  expect_same(random::choice(key, 4, {12}, {.p = p}), "choice/4/(12,).p");
  expect_same(random::choice(key, 4, {3}, {.replace = false, .p = p}), "choice/4/(3,).replace=false.p");
  EXPECT_THROW(random::choice(key, 4, {5}, {.replace = false}), ValueError);
  EXPECT_THROW(random::choice(key, 3, {2}, {.p = p}), ShapeError);
}

TEST(Categorical, MatchesJax) {
  const auto key = random::key(42);
  const golden::Golden& g = golden::get("random", "logits/in0");
  Array<float> logits = empty<float>({2, 3});
  for (int i = 0; i < 6; ++i) detail::elements<float>(logits)[i] = static_cast<float>(g.values[i]);
  expect_same(random::categorical(key, logits), "categorical/logits");
  expect_same(random::categorical(key, logits, {.axis = 0}), "categorical/logits.axis=0");
  expect_same(random::categorical(key, logits, {.shape = Shape{5, 2}}), "categorical/logits.shape=(5,2)");
  const auto keys = random::split(key, 4);
  expect_same(vmap([&](const random::Key& k) { return random::categorical(k, logits); })(keys),
              "vmap/categorical");
  EXPECT_THROW(random::categorical(key, logits, {.shape = Shape{5, 3}}), ShapeError);
}

TEST(Choice, BatchesAsALoop) {
  const auto keys = random::split(random::key(42), 4);
  expect_same(vmap([](const random::Key& k) { return random::permutation(k, 7); })(keys),
              "vmap/permutation,7");
  expect_same(vmap([](const random::Key& k) { return random::choice(k, 10, {3}, {.replace = false}); })(keys),
              "vmap/choice,10.replace=false");
  // Shuffled rows of a batched array, by a batched key.
  const auto shuffled = vmap([](const random::Key& k) { return random::permutation(k, matrix()); })(keys);
  const auto third = random::permutation(keys(2), matrix());
  const auto all = draws::values(shuffled);
  EXPECT_EQ(std::vector<double>(all.begin() + 24, all.begin() + 36), draws::values(third));
}

TEST(Permutation, IsDifferentiable) {
  const Array<float> x = {1, 2, 3, 4};
  const auto loss = [](const Array<float>& v) { return random::permutation(random::key(0), v)(0) * 3.f; };
  const auto g = draws::values(grad(loss)(x));
  double sum = 0;
  for (double v : g) sum += v;
  EXPECT_EQ(sum, 3);
}

}  // namespace choice_test
