#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "support/four_devices.hpp"

// A function may overwrite arguments that are given as rvalues, on each device.

namespace donation_test {

using nax::Array;

TEST(Donation, sharded_results_are_given_back_step_by_step) {
  const auto step = nax::pmap(
      [](Array<float> p, const Array<float>& x) {
        p = p - 0.5f * nax::pmean(x, "i");
        return p;
      },
      {.axis_name = "i"});
  Array<float> p = nax::zeros<float>({4, 3});
  const Array<float> x = {{0, 1, 2}, {2, 3, 4}, {4, 5, 6}, {6, 7, 8}};
  for (int k = 0; k < 5; ++k) p = step(std::move(p), x);
  EXPECT_TRUE(nax::all(p == Array<float>{-7.5f, -10, -12.5f}).item());
}

TEST(Donation, shared_arrays_are_not_overwritten) {
  const auto twice = nax::pmap([](Array<float> p) {
    p = p * 2.f;
    return p;
  });
  const Array<float> start = nax::ones<float>({4, 2});
  Array<float> a = twice(start);
  const Array<float> kept = a;
  const Array<float> b = twice(std::move(a));
  EXPECT_TRUE(nax::all(kept == 2.f).item());
  EXPECT_TRUE(nax::all(b == 4.f).item());
}

}  // namespace donation_test
