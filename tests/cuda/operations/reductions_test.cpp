#include "both_devices.hpp"
#include "operations/launches.hpp"

// Reductions by every division of work: rows by a part of a warp, a warp or blocks, columns by tiles, in one
// part or in several.
namespace reductions_on_gpu_test {

using namespace nax;
using namespace both_devices;

template <class T>
void expect_reductions(const Shape& shape, double tolerance) {
  SCOPED_TRACE(testing::Message() << shape);
  const auto x = [&](auto put) {
    return put((waves(static_cast<int>(shape.count())) * 4.f).template astype<T>()).reshape(shape);
  };
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    expect_same([&](auto put) { return sum(x(put), {.axis = axis}); }, tolerance);
    expect_same([&](auto put) { return max(x(put), {.axis = axis}); });
    expect_same([&](auto put) { return min(x(put), {.axis = axis}); });
    expect_same([&](auto put) { return argmax(x(put), {.axis = axis}); });
    expect_same([&](auto put) { return argmin(x(put), {.axis = axis}); });
    expect_same([&](auto put) { return any(x(put) > T(3.9f), {.axis = axis}); });
    expect_same([&](auto put) { return all(x(put) < T(3.9f), {.axis = axis}); });
  }
  expect_same([&](auto put) { return sum(x(put)); }, tolerance);
  expect_same([&](auto put) { return max(x(put)); });
}

TEST(ReductionsOnGpu, OfManyShapes) {
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 3}, Shape{3, 33}, Shape{2, 2047}, Shape{2, 2049},
                             Shape{3, 20001}, Shape{20001, 3}, Shape{4, 5, 6}, Shape{300, 2, 40}})
    expect_reductions<float>(shape, 1e-4);
}
TEST(ReductionsOnGpu, OfOtherTypes) {
  for (const Shape& shape : {Shape{3, 20001}, Shape{2050, 3}}) {
    expect_reductions<nax::half>(shape, 2e-2);
    expect_reductions<bfloat16>(shape, 1e-1);
    expect_reductions<double>(shape, 1e-12);
    expect_reductions<int>(shape, 0);
  }
}

TEST(ReductionsOnGpu, OfViews) {
  const auto x = [](auto put) { return put(waves(24 * 401)).reshape({24, 401}); };
  for (const int axis : {0, 1}) {
    expect_same([&](auto put) { return sum(x(put)(slice(1, none, 2), slice(3, none)), {.axis = axis}); },
                1e-5);
    expect_same([&](auto put) { return max(x(put).T(), {.axis = axis}); });
    expect_same(
        [&](auto put) { return sum(x(put)(slice(none, none, -1), slice(none, none, 3)), {.axis = axis}); },
        1e-5);
  }
  // Reduced axes that do not merge.
  expect_same(
      [&](auto put) {
        return sum(x(put)(slice(none, none), slice(0, 400)).reshape({24, 20, 20}), {.axis = {0, 2}});
      },
      1e-5);
  expect_same([&](auto put) { return sum(x(put)(slice(none, none, 2), slice(none, none, 2))); }, 1e-5);
}

TEST(ReductionsOnGpu, PlacesOfTiesAndNaN) {
  const auto line = [](int n, std::initializer_list<int> places, float value) {
    std::vector<float> values(static_cast<std::size_t>(n), 1.f);
    for (int place : places) values[static_cast<std::size_t>(place)] = value;
    return asarray(values.data(), {n});
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const int n : {40, 3000, 40000}) {
    expect_same([&](auto put) { return argmax(put(line(n, {n - 1, n / 2, 17}, 2))); });
    expect_same([&](auto put) { return argmin(put(line(n, {n - 1, n / 2, 17}, -2))); });
    expect_same([&](auto put) { return argmax(put(line(n, {n - 3, n / 3}, nan))); });
    expect_same([&](auto put) { return argmin(put(line(n, {n - 3, n / 3}, nan))); });
    expect_same([&](auto put) { return argmax(put(line(n, {}, 0))); });
    expect_same([&](auto put) { return max(put(line(n, {n - 3}, nan))); });
    const float low = -std::numeric_limits<float>::infinity();
    expect_same([&](auto put) { return argmax(put(eval(full({n}, low)))); });
  }
}

// Pieces of several elements begin anywhere, and end with single ones.
template <class T>
void expect_places_from_any_start(float low, float high) {
  for (const int n : {33, 70, 2300})
    for (const int start : {0, 1, 3, 8})
      for (const float value : {low, high, std::numeric_limits<float>::quiet_NaN()}) {
        std::vector<float> values(static_cast<std::size_t>(n), 0.f);
        for (const int place : {n - 1, n / 2 + 1, n / 2}) values[static_cast<std::size_t>(place)] = value;
        const auto x = [&](auto put) {
          return put(eval(asarray(values.data(), {n}).template astype<T>()))(slice(start, none));
        };
        expect_same([&](auto put) { return argmax(x(put)); });
        expect_same([&](auto put) { return argmin(x(put)); });
      }
}
TEST(ReductionsOnGpu, PlacesFromAnyStart) {
  expect_places_from_any_start<float>(-0.f, 1);
  expect_places_from_any_start<nax::half>(-1, 2);
  expect_places_from_any_start<bfloat16>(-1, std::numeric_limits<float>::infinity());
  expect_places_from_any_start<double>(-std::numeric_limits<float>::infinity(), 0);
}

TEST(ReductionsOnGpu, OfNothing) {
  expect_same([](auto put) { return sum(put(zeros<float>({3, 0})), {.axis = 1}); });
  expect_same([](auto put) { return sum(put(zeros<float>({3, 0})), {.axis = 0}); });
  expect_same([](auto put) { return all(put(zeros<bool>({0}))); });
}

TEST(ReductionsOnGpu, TakeTwoLaunchesAtMost) {
  const Array<float> x = device_put(eval(waves(1 << 17)), gpu());
  expect_launches(2, [&] { sum(x); });
  expect_launches(2, [&] { argmax(x); });
  expect_launches(1, [&] { max(x.reshape({128, 1024}), {.axis = 1}); });
  expect_launches(1, [&] { sum(x.reshape({128, 1024}), {.axis = 0}); });
  expect_launches(2, [&] { sum(x.reshape({1 << 12, 32}), {.axis = 0}); });
}

}  // namespace reductions_on_gpu_test
