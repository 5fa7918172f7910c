#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "support/same.hpp"

// ndarray's methods against the functions of their names, on arrays and on expressions.
namespace methods_test {

using namespace nax;
using A = Array<double>;

template <class X>
void check(const X& x) {
  expect_same(A(x.sum()), A(sum(x)));
  expect_same(A(x.sum({.axis = 0})), A(sum(x, {.axis = 0})));
  expect_same(A(x.prod({.axis = 1, .keepdims = true})), A(prod(x, {.axis = 1, .keepdims = true})));
  expect_same(A(x.mean({.axis = -1})), A(mean(x, {.axis = -1})));
  expect_same(A(x.max()), A(max(x)));
  expect_same(A(x.min({.axis = 0})), A(min(x, {.axis = 0})));
  expect_same(A(x.var({.ddof = 1})), A(var(x, {.ddof = 1})));
  expect_same(A(x.std({.axis = 0})), A(nax::std(x, {.axis = 0})));
  expect_same(Array<bool>((x > 1).any()), Array<bool>(any(x > 1)));
  expect_same(Array<bool>((x > 1).all({.axis = 0})), Array<bool>(all(x > 1, {.axis = 0})));
  expect_same(x.argmax({.axis = 1}), argmax(x, {.axis = 1}));
  expect_same(x.argmin(), argmin(x));
  expect_same(x.argsort({.axis = 0}), argsort(x, {.axis = 0}));
  expect_same(A(x.cumsum({.axis = 1})), A(cumsum(x, {.axis = 1})));
  expect_same(A(x.cumprod()), A(cumprod(x)));
  expect_same(A(x.squeeze()), A(squeeze(x)));
  expect_same(A((x / 3.).round({.decimals = 1})), A(round(x / 3., {.decimals = 1})));
  expect_same(A(x.transpose()), A(transpose(x)));
  expect_same(A(x.ravel()), A(ravel(x)));
  expect_same(A(x.flatten()), A(flatten(x)));
  expect_same(A(x.copy()), A(copy(x)));
  expect_same(A(x.clip(1., 3.)), A(clip(x, 1., 3.)));
  expect_same(A(x.dot(x.transpose())), A(dot(x, transpose(x))));
  EXPECT_EQ(x.tolist(), x.to_vector());
}

TEST(Methods, AreFunctionsOfTheirNames) {
  const A x = {{3, -1, 2}, {0.5, 4, 1}};
  check(x);
  check(x * 2. + 1.);
}

TEST(Methods, AreDifferentiatedAndMapped) {
  const A x = {{1, 2}, {3, 4}};
  expect_same(grad([](const A& x) { return (x * x).sum(); })(x), A(2. * x));
  expect_same(vmap([](const A& row) { return row.max(); })(x), A{2, 4});
}

}  // namespace methods_test
