#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <thread>

#include "support/same.hpp"

// A deferred product behaves like any other array.

namespace deferred_product_test {

using namespace nax;

template <class T>
struct Product {
  Array<T> a = random::normal<T>(random::key(1), {530, 40}), b = random::normal<T>(random::key(2), {40, 517});
  Array<T> deferred = detail::deferred_product(a, b), computed = matmul(a, b);
};

TEST(DeferredProduct, IsAnArrayLikeAnyOther) {
  const auto check = []<class T>(const Product<T>& p) {
    expect_same(Array<T>(p.deferred + T(1)), Array<T>(p.computed + T(1)));
    expect_same(copy(p.deferred.T()), copy(p.computed.T()));
    expect_same(copy(p.deferred(slice(3, 7))), copy(p.computed(slice(3, 7))));
    expect_same(sum(p.deferred, {.axis = 0}), sum(p.computed, {.axis = 0}));
    expect_same(p.deferred, p.computed);
    EXPECT_EQ(p.deferred(2, 3).item(), p.computed(2, 3).item());
  };
  check(Product<float>());
  check(Product<double>());
}

TEST(DeferredProduct, OutlivesItsOperands) {
  Product<float> p;
  p.a = p.b = Array<float>();
  expect_same(p.deferred, p.computed);
}

TEST(DeferredProduct, IsNotWrittenOver) {
  Product<float> p;
  const Array<float> other = p.deferred;
  p.deferred += 1.f;
  expect_same(other, p.computed);
  expect_same(p.deferred, Array<float>(p.computed + 1.f));
}

TEST(DeferredProduct, IsComputedOnceForAllThreads) {
  const Product<float> p;
  const float* found[4];
  std::vector<std::thread> threads;
  for (const float*& address : found) threads.emplace_back([&] { address = p.deferred.data(); });
  for (std::thread& thread : threads) thread.join();
  for (const float* address : found) EXPECT_EQ(address, found[0]);
  expect_same(p.deferred, p.computed);
}

// All passes in blocks: where the product is no operand of the whole array, or there are two of them.
TEST(DeferredProduct, InBlocks) {
  const Product<float> p, q;
  const Array<float> square = random::normal<float>(random::key(3), {500, 500});
  Array<float> one = copy(p.computed), both = copy(p.computed), turned = copy(square);
  const Array<float> deferred_square = detail::deferred_product(square, square);
  const auto run = [](Array<float>& to, const Array<float>& x, const Array<float>& y) {
    detail::in_blocks(to.size(), [&](detail::Assignments& now) {
      Array<float> step;
      now.assign(step, x * 2.f + y);
      now.assign(to, to + step * x);
    });
  };
  const auto want = [](const Array<float>& to, const Array<float>& x, const Array<float>& y) {
    const Array<float> step = x * 2.f + y;
    return Array<float>(to + step * x);
  };
  run(one, p.deferred, p.deferred);
  expect_same(one, want(p.computed, p.computed, p.computed));
  run(both, p.deferred, q.deferred);
  expect_same(both, want(p.computed, p.computed, p.computed));
  run(turned, deferred_square, deferred_square.T());
  const Array<float> computed_square = matmul(square, square);
  expect_same(turned, want(square, computed_square, computed_square.T()));
}

}  // namespace deferred_product_test
