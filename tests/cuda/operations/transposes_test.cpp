#include "both_devices.hpp"

// Copies between layouts whose rows run along different axes, by tiles.
namespace transposes_on_gpu_test {

using namespace nax;
using namespace both_devices;

template <class T>
Array<T> numbers(const Shape& shape) {
  const std::int64_t count = Frame{shape, {}}.size();
  return remainder(arange<int>(static_cast<int>(count)) * 7, 251).template astype<T>().reshape(shape);
}

template <class T>
class TransposesOnGpu : public testing::Test {};
using Types = testing::Types<std::int8_t, nax::half, float, double>;
TYPED_TEST_SUITE(TransposesOnGpu, Types);

// Whole tiles, tiles that are cut short, rows that are no pieces, and axes that stay.
TYPED_TEST(TransposesOnGpu, AreTheHosts) {
  using T = TypeParam;
  for (const Shape& shape : {Shape{64, 128}, Shape{80, 48}, Shape{131, 33}, Shape{16, 16}, Shape{15, 100}})
    expect_same([&](auto put) { return copy(transpose(put(numbers<T>(shape)))); });
  for (const Shape& axes : {Shape{2, 1, 0}, Shape{0, 2, 1}, Shape{1, 0, 2}, Shape{1, 2, 0}, Shape{2, 0, 1}})
    expect_same([&](auto put) {
      return copy(transpose(put(numbers<T>({20, 35, 48})), {axes[0], axes[1], axes[2]}));
    });
}

TYPED_TEST(TransposesOnGpu, OfViewsAreTheHosts) {
  using T = TypeParam;
  expect_same([](auto put) { return copy(put(numbers<T>({70, 90}))(slice(1, 66), slice(3, 83)).T()); });
  expect_same([](auto put) { return copy(flip(put(numbers<T>({70, 96})), {.axis = 0}).T()); });
  expect_same([](auto put) { return copy(put(numbers<T>({64, 2, 80}))(_, 1).T()); });
  expect_same([](auto put) {
    return concatenate(std::vector<Array<T>>{put(numbers<T>({40, 64})).T(), put(numbers<T>({64, 24}))},
                       {.axis = 1});
  });
  expect_same([](auto put) { return broadcast_to(put(numbers<T>({20, 1})), {3, 20, 30}).T().reshape({-1}); });
}

}  // namespace transposes_on_gpu_test
