#include "both_devices.hpp"

// Reductions of rows that share a number, on a GPU.
namespace segments_test {

using namespace nax;
using namespace both_devices;

Array<int> ids() { return {3, 0, 0, 7, -1, 3, 1, 0}; }

// Each with the number of segments given, and found.
template <class F>
void expect_same_for_counts(const F& f) {
  f(SegmentOptions{});
  f(SegmentOptions{.num_segments = 5});
}

TEST(SegmentsOnGpu, SumsAndProducts) {
  expect_same_for_counts([](const SegmentOptions& options) {
    expect_same(
        [=](auto put) {
          return segment_sum(put(waves(24)).reshape({8, 3}), put(ids()), options);
        },
        1e-6);
    expect_same(
        [=](auto put) {
          return segment_prod(put(waves(24)).reshape({8, 3}), put(ids()), options);
        },
        1e-6);
    expect_same(
        [=](auto put) {
          const auto at = put(ids());
          return grad([&](const Array<float>& x) { return sum(segment_prod(x, at, options) * 3.f); })(
              put(waves(8)));
        },
        1e-6);
  });
}

TEST(SegmentsOnGpu, MaximaAndMinima) {
  expect_same_for_counts([](const SegmentOptions& options) {
    expect_same([=](auto put) {
      return segment_max(put(waves(48)).reshape({8, 3, 2}), put(ids()), options);
    });
    expect_same([=](auto put) { return segment_min(put(waves(24)).reshape({8, 3}), put(ids()), options); });
    expect_same([=](auto put) {
      return segment_max(put(Array<int>{1, 2, 3, 4, 5, 6, 7, 8}), put(ids()), options);
    });
    expect_same([=](auto put) {
      return segment_max(put(Array<float>{NAN, 1, NAN, 2, 3, NAN, -1, 0}), put(ids()), options);
    });
    expect_same([=](auto put) {
      return segment_min(put(Array<float>{NAN, 1, NAN, 2, 3, NAN, -1, 0}), put(ids()), options);
    });
  });
}

// The first of equal elements takes the gradient, and the first NaN.
TEST(SegmentsOnGpu, GradientsOfExtrema) {
  const auto slope = [](auto put, auto f, const Array<float>& x) {
    const auto at = put(ids());
    return grad([&](const Array<float>& v) {
      return sum(f(v, at, SegmentOptions{.num_segments = 4}) * 2.f);
    })(put(x));
  };
  const auto largest = [](const auto&... x) { return segment_max(x...); };
  const auto least = [](const auto&... x) { return segment_min(x...); };
  for (const Array<float>& x :
       {Array<float>{2, 1, 1, 5, 5, 2, 0, 1}, Array<float>{NAN, 1, NAN, 5, 5, NAN, 0, NAN}}) {
    expect_same([&](auto put) { return slope(put, largest, x); });
    expect_same([&](auto put) { return slope(put, least, x); });
  }
}

TEST(SegmentsOnGpu, ExamplesOfVmap) {
  const SegmentOptions options{.num_segments = 4};
  expect_same([=](auto put) {
    const auto at = put(ids());
    return vmap([&](const Array<float>& x) { return segment_max(x, at, options); })(
        put(waves(40)).reshape({5, 8}));
  });
  expect_same([=](auto put) {
    const auto x = put(waves(8));
    return vmap([&](const Array<int>& at) { return segment_min(x, at, options); })(
        put(eval(arange<int>(24) * 5 % 7)).reshape({3, 8}));
  });
  expect_same([=](auto put) {
    return vmap([&](const Array<float>& x, const Array<int>& at) { return segment_max(x, at, options); })(
        put(waves(48)).reshape({3, 8, 2}), put(eval(arange<int>(24) * 5 % 7)).reshape({3, 8}));
  });
}

TEST(SegmentsOnGpu, NoRows) {
  expect_same([](auto put) {
    return segment_max(put(zeros({0, 2})), put(zeros<int>({0})), SegmentOptions{.num_segments = 3});
  });
  expect_same([](auto put) { return segment_min(put(zeros({0})), put(zeros<int>({0})), SegmentOptions{}); });
}

}  // namespace segments_test
