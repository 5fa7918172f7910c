#include "nax/expr/evaluation/assignments.hpp"

#include <gtest/gtest.h>

#include <nax/nax.hpp>

// Assignments in blocks against assignments one by one.

namespace assignments_test {

using namespace nax;
using detail::Assignments;

constexpr std::int64_t n = 50'007;

template <class T>
void expect_same(const Array<T>& a, const Array<T>& b) {
  EXPECT_TRUE(all(a == b).item());
}

// How often in_blocks calls f: once where the pass is kept.
template <class F>
int calls(const F& f) {
  int count = 0;
  detail::in_blocks(n, [&](Assignments& now) {
    ++count;
    f(now);
  });
  return count;
}

TEST(Assignments, SeeEarlierAssignments) {
  const Array<float> start = random::normal<float>(random::key(1), {n}), g = sin(start);
  Array<float> x = copy(start), y = copy(g);
  EXPECT_EQ(calls([&](Assignments& now) {
              Array<float> u;
              now.assign(x, 0.5f * g + x);
              now.assign(u, x * y);
              now.assign(u, u + g);
              now.assign(y, u - x);
              now.assign(x, x * 2);
            }),
            1);
  const Array<float> x1 = 0.5f * g + start, u1 = x1 * g, u2 = u1 + g;
  expect_same(y, eval(u2 - x1));
  expect_same(x, eval(x1 * 2));
}

TEST(Assignments, OfSeveralTypes) {
  Array<double> x = random::normal<double>(random::key(1), {n});
  Array<float> y = random::normal<float>(random::key(2), {n});
  Array<int> z = arange<int>(n);
  const Array<double> x0 = copy(x), factor(3);
  const Array<float> y0 = copy(y);
  const Array<int> z0 = copy(z);
  EXPECT_EQ(calls([&](Assignments& now) {
              now.assign(x, x * factor + factor);
              now.assign(y, y * y);
              now.assign(z, z * z + 1);
            }),
            1);
  expect_same(x, eval(x0 * factor + factor));
  expect_same(y, eval(y0 * y0));
  expect_same(z, eval(z0 * z0 + 1));
}

TEST(Assignments, FallBackToOneByOne) {
  const Array<float> start = random::normal<float>(random::key(1), {n});
  const auto check = [&](const char* what, const Array<float>& g, const auto& f) {
    Array<float> x = copy(start), y = copy(start);
    EXPECT_EQ(calls([&](Assignments& now) { f(now, x, g); }), 2) << what;
    Assignments one_by_one;
    f(one_by_one, y, g);
    EXPECT_TRUE(all(x == y).item()) << what;
  };
  const auto twice = [](Assignments& now, Array<float>& x, const Array<float>& g) {
    Array<float> u;
    now.assign(u, x + g);
    now.assign(x, u * x);
  };
  check("a view", Array<float>(start(slice(_, _, -1))), twice);
  check("one more axis", Array<float>(start.reshape({1, -1})), twice);
  check("many operations", start, [](Assignments& now, Array<float>& x, const Array<float>& g) {
    for (int i = 0; i < 9; ++i) now.assign(x, x + g);
  });
  check("many arrays", start, [](Assignments& now, Array<float>& x, const Array<float>& g) {
    Array<float> u[9];
    for (int i = 0; i < 7; ++i) now.assign(u[i + 1], i == 0 ? Array<float>(g) + x : u[i] + x);
    now.assign(x, u[7] + Array<float>(2));
    now.assign(x, x + Array<float>(3));
  });
  check("many numbers", start, [](Assignments& now, Array<float>& x, const Array<float>& g) {
    now.assign(x, ((((((x + 1) * 2 + 3) * 4) + 5) * 6 + 7) * 8) * g);
  });
  const Array<float> before = copy(start);
  Array<float> x = copy(start);
  const Array<float> held = x;
  EXPECT_EQ(calls([&](Assignments& now) { twice(now, x, start); }), 2);
  expect_same(held, before);
  expect_same(x, eval((before + before) * before));
}

TEST(Assignments, RecordWhereTheTapeWatches) {
  const Array<float> start = random::normal<float>(random::key(1), {n});
  const auto f = [](const Array<float>& x) {
    Array<float> y = x;
    EXPECT_EQ(calls([&](Assignments& now) {
                Array<float> u;
                now.assign(u, y * x);
                now.assign(y, u * 2);
              }),
              2);
    return sum(y);
  };
  expect_same(grad(f)(start), eval(start * 4));
}

}  // namespace assignments_test
