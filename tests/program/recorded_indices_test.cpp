#include <gtest/gtest.h>

#include "nax/lax/segments.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/indexing/at.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/jvp.hpp"

// Indices that a program learns when it runs, into arrays that are known when it is recorded.
namespace recorded_indices_test {
using namespace nax;
using D = Array<double>;
using I = Array<int>;

template <class F>
void expect_recorded(const F& f) {
  const I ids = {0, 1, 1}, others = {2, 0, 2};
  const auto program = jit(f);
  for (const I& i : {ids, others}) EXPECT_EQ(D(program(i)).to_vector(), D(f(i)).to_vector());
}

TEST(RecordedIndices, ReadAndWriteKnownArrays) {
  expect_recorded([](const I& i) { return D(D{1, 2, 4}(i)); });
  expect_recorded([](const I& i) { return D(zeros<double>({3}).at(i).add(D{1, 2, 4})); });
  expect_recorded([](const I& i) { return D(zeros<double>({3}).at(i).set(7.0)); });
  expect_recorded([](const I& i) { return D(D{3, 4, 5}.at(i).multiply(2.0)); });
  expect_recorded([](const I& i) { return segment_sum(D{1, 2, 4}, i, {.num_segments = 3}); });
}

TEST(RecordedIndices, DifferentiateInKnownArrays) {
  const auto picked = [](const I& i) { return [i](const D& x) { return D(sum(square(D(x(i))))); }; };
  const auto added = [](const I& i) {
    return [i](const D& x) { return D(sum(square(D(zeros<double>({3}).at(i).add(x))))); };
  };
  const D x = {1, 2, 4}, dx = {1, 0.5, 2};
  expect_recorded([&](const I& i) { return grad(picked(i))(x); });
  expect_recorded([&](const I& i) { return grad(added(i))(x); });
  expect_recorded([&](const I& i) { return jvp(picked(i), std::tuple{x}, std::tuple{dx}).second; });
  expect_recorded([&](const I& i) { return jvp(added(i), std::tuple{x}, std::tuple{dx}).second; });
}

}  // namespace recorded_indices_test
