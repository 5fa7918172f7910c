#include <thread>

#include "both_devices.hpp"
#include "launches.hpp"

// Index arrays, masks and take on a GPU.
namespace indexing_test {

using namespace nax;
using namespace both_devices;

Array<float> matrix() { return arange<float>(24).reshape({4, 6}); }
Array<int> rows() { return {3, -1, 0, 3}; }

TEST(IndexingOnGpu, ReadsRowsColumnsAndPairs) {
  expect_same([](auto put) { return put(matrix())(put(rows())); });
  expect_same([](auto put) { return put(matrix())(_, put(rows())); });
  expect_same([](auto put) { return put(matrix())(put(rows()), put(Array<int>{1, 2, 3, 4})); });
  expect_same([](auto put) { return put(matrix()).T()(put(rows()), newaxis, slice(1, 3)); });
}

TEST(IndexingOnGpu, IndicesOfTheHostGoAlong) {
  expect_same([](auto put) { return put(matrix())(std::vector<int>{1, 0, -1}); });
  expect_same([](auto put) { return put(matrix())(2, put(rows())); });
  expect_same([](auto put) { return put(matrix())(Array<int>(2)); });
  expect_same([](auto put) { return take(put(matrix()), std::vector<int>{1, 2}); });
}

TEST(IndexingOnGpu, Masks) {
  expect_same([](auto put) { return put(matrix())(put(matrix()) > 5.f); });
  expect_same([](auto put) { return put(matrix())(put(Array<bool>{true, false, true, false})); });
  expect_same([](auto put) { return put(matrix())(put(Array<bool>{false, false, false, false})); });
  expect_same([](auto put) { return put(arange<float>(1000))(put(arange<int>(1000)) % 7 == 3); });
  expect_same([](auto put) { return nonzero(put(matrix()) > 5.f)[1]; });
  expect_same([](auto put) { return argwhere(put(matrix()) > 5.f); });
}

TEST(IndexingOnGpu, Take) {
  expect_same([](auto put) { return take(put(matrix()), put(rows()), {.axis = 0}); });
  expect_same([](auto put) { return take(put(matrix()), put(Array<int>{-30, 5, 99}), {.mode = "wrap"}); });
  expect_same([](auto put) { return take(put(matrix()), put(Array<int>{-30, 5, 99}), {.mode = "clip"}); });
  expect_same([](auto put) {
    const Array<float> x = put(matrix());
    return take_along_axis(x, argmax(x, {.axis = 1, .keepdims = true}), 1);
  });
  expect_same([](auto put) { return pad(put(matrix()), {{1, 2}, {0, 1}}, {.mode = "reflect"}); });
  expect_same([](auto put) { return repeat(put(matrix()), std::vector<int>{1, 2, 0, 3}, {.axis = 0}); });
  expect_same([](auto put) { return delete_(put(matrix()), 1, {.axis = 1}); });
  expect_same([](auto put) { return insert(put(matrix()), 1, 5.f, {.axis = 1}); });
}

TEST(IndexingOnGpu, UnderVmap) {
  expect_same([](auto put) {
    return vmap([](const Array<float>& x, const Array<int>& i) { return x(i); })(put(matrix()), put(rows()));
  });
}

TEST(IndexingOnGpu, PositionsOfTrueElements) {
  for (const int n : {0, 1, 7, 5000}) {
    const Array<int> x = arange<int>(n);
    expect_same([&](auto put) { return flatnonzero(put(x) % 3 == 1); });
    expect_same([&](auto put) { return extract(put(x) % 5 < 2, put(x)); });
    expect_same([&](auto put) { return compress(put(x) < 0, put(x)); });
  }
  expect_same([](auto put) { return nonzero(put(matrix()).reshape({2, 3, 4}) > 100.f)[2]; });
}

template <class T>
void expect_same_one_hot() {
  const Array<int> labels{{2, 0, -1}, {3, 1, 2}};
  for (const int axis : {0, 1, -1})
    expect_same([&](auto put) {
      const auto x = nn::one_hot<T>(put(labels), 3, {.axis = axis});
      if constexpr (is_complex_v<T>)
        return real(x) + 2 * imag(x);
      else
        return x.template astype<float>();
    });
}
TEST(IndexingOnGpu, OneHotOfAllSizes) {
  expect_same_one_hot<bool>();
  expect_same_one_hot<std::int8_t>();
  expect_same_one_hot<nax::half>();
  expect_same_one_hot<bfloat16>();
  expect_same_one_hot<float>();
  expect_same_one_hot<double>();
  const Array<std::uint64_t> large{1ull << 63, 1, ~0ull};
  expect_same([&](auto put) { return nn::one_hot(put(large), 2); });
  expect_same([&](auto put) { return nn::one_hot(put(Array<std::int8_t>{-128, 5, 127}), 6); });
  expect_same([&](auto put) { return nn::one_hot(put(rows()), 0); });
  expect_same([&](auto put) { return nn::one_hot(put(Array<int>(2)), 4); });
  expect_same([&](auto put) {
    return vmap([](const Array<int>& i) { return nn::one_hot(i, 4, {.axis = 0}); })(
        put(Array<int>{{1, 2}, {3, 9}}));
  });
}

// Where calls wait, errors are the host's.
TEST(IndexingOnGpu, IndicesOutOfRangeAreNamed) {
  const ChecksAtOnce checks;
  expect_same_error<IndexError>([](auto put) { put(matrix())(put(Array<int>{0, 4, 9})); });
  expect_same_error<IndexError>([](auto put) { put(matrix())(put(Array<int>{0, 3, -5})); });
  expect_same_error<IndexError>([](auto put) { put(matrix())(put(Array<std::uint64_t>{0, 1ull << 63})); });
  expect_same_error<IndexError>([](auto put) { put(matrix())(std::vector<int>{1, 7}); });
  expect_same_error<IndexError>([](auto put) { take(put(matrix()), put(Array<int>{24})); });
  expect_same_error<ValueError>([](auto put) { unravel_index(put(Array<std::uint8_t>{1, 13, 99}), {3, 4}); });
}

TEST(IndexingOnGpu, ManyIndicesAreChecked) {
  const ChecksAtOnce checks;
  for (const int n : {511, 513, 3000}) {
    expect_same([=](auto put) { return put(waves(50))(put(eval(arange<int>(n) % 100 - 50))); });
    for (const int bad : {0, 510, n - 1})
      expect_same_error<IndexError>(
          [=](auto put) { put(matrix())(put(eval(where(arange<int>(n) == bad, 9, 2)))); });
  }
}

// Where they do not, the next wait has the error, and the index reads 0 or writes nothing.
void expect_late_error(const std::string& text) {
  EXPECT_EQ(
      text_of<IndexError>([] { block_until_ready(device_put(Array<float>{1}, gpu())); }),
      text +
          "; found while waiting for cuda:0, with NAX_CHECK_INDICES=1 in the environment the call itself "
          "throws");
  EXPECT_NO_THROW(block_until_ready(device_put(Array<float>{1}, gpu())));
}
TEST(IndexingOnGpu, ErrorsComeAtTheNextWait) {
  const Array<float> x = device_put(eval(matrix()), gpu());
  const Array<float> taken = take(x, device_put(Array<int>{1, 24, 25}, gpu()));
  expect_late_error("take: index 24 is out of bounds for axis 0 with size 24");
  EXPECT_EQ(taken.to_vector()[1], 0.f);
  const Array<float> rows = x(device_put(Array<int>{0, -5}, gpu()));
  expect_late_error("index: index -5 is out of bounds for axis 0 with size 4");
  const Array<float> put = x.at(device_put(Array<int>{9}, gpu())).set(7.f);
  expect_late_error("index: index 9 is out of bounds for axis 0 with size 4");
  EXPECT_EQ(put.to_vector(), x.to_vector());
  const Array<float> along =
      take_along_axis(x, device_put(Array<int>{{6}, {0}, {0}, {0}}, gpu()), {.axis = 1});
  expect_late_error("take_along_axis: index 6 is out of bounds for axis 1 with size 6");
}
TEST(IndexingOnGpu, ErrorsComeOnceAndFromAllThreads) {
  const Array<float> x = device_put(eval(matrix()), gpu());
  const Array<int> bad = device_put(Array<int>{4}, gpu()), worse = device_put(Array<int>{5}, gpu());
  const Array<float> first = x(bad), second = x(worse);
  expect_late_error("index: index 4 is out of bounds for axis 0 with size 4");
  std::thread([&] { block_until_ready(x); }).join();
  std::thread([&] { const Array<float> lost = x(worse); }).join();
  expect_late_error("index: index 5 is out of bounds for axis 0 with size 4");
  EXPECT_EQ(text_of<IndexError>([&] { x(bad).to_vector(); }).find("index: index 4 is out of bounds"), 0u);
  EXPECT_EQ(text_of<IndexError>([&] { sum(x(bad)).item(); }).find("index: index 4 is out of bounds"), 0u);
}
TEST(IndexingOnGpu, ErrorsOfNetworksComeLate) {
  const Array<float> table = device_put(eval(matrix()), gpu());
  const Array<int> words = device_put(Array<int>{1, 4}, gpu());
  const auto loss = [&](const Array<float>& t) {
    return mean(nn::softmax_cross_entropy_with_integer_labels(t(words), device_put(Array<int>{0, 6}, gpu())));
  };
  const Array<float> slope = grad(loss)(table);
  expect_late_error("index: index 4 is out of bounds for axis 0 with size 4");
}
// One launch finds what indices mean, another one reads.
TEST(IndexingOnGpu, ReadsAreTwoLaunches) {
  const Array<float> x = device_put(eval(matrix()), gpu());
  const Array<int> places = device_put(Array<int>{1, 0}, gpu());
  Array<float> y;
  expect_launches(2, [&] { y = take(x, places, {.axis = 0}); });
}

TEST(IndexingOnGpu, IndicesElsewhereAreAnError) {
  const std::string text =
      "index: the operands are on different devices, cuda:0 and cpu:0; device_put brings them together, and "
      "pmap takes what its devices share as an argument with in_axes none";
  EXPECT_EQ(text_of<DeviceError>([] { device_put(matrix(), gpu())(rows()); }), text);
  EXPECT_EQ(text_of<DeviceError>([] { matrix()(device_put(rows(), gpu())); }), text);
}

}  // namespace indexing_test
