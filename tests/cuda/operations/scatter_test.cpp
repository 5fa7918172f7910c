#include "both_devices.hpp"

// Writing and adding at indices on a GPU, and the gradients of reading.
namespace scatter_test {

using namespace nax;
using namespace both_devices;

Array<float> matrix() { return arange<float>(24).reshape({4, 6}); }
Array<int> rows() { return {3, -1, 0, 3}; }
// Longer than the lists that are searched as they are: these are sorted.
Array<int> many_rows() { return arange<int>(300) * 7 % 4; }

TEST(ScatterOnGpu, SetsTheLastOfSeveral) {
  expect_same([](auto put) { return put(matrix()).at(1).set(7); });
  expect_same([](auto put) { return put(matrix()).at(1, _).set({1, 2, 3, 4, 5, 6}); });
  expect_same([](auto put) {
    return put(matrix()).at(put(rows())).set(put(Array<float>{{1}, {2}, {3}, {4}}));
  });
  expect_same([](auto put) { return put(matrix()).at(put(many_rows()), 1).set(put(arange<float>(300))); });
  expect_same([](auto put) { return put(matrix()).at(put(matrix()) > 5.f).set(0); });
  expect_same([](auto put) {
    return put_along_axis(put(matrix()), put(Array<int>{{1}, {2}, {0}, {5}}), 99, 1);
  });
}

TEST(ScatterOnGpu, AddsAllOfSeveral) {
  expect_same([](auto put) { return put(matrix()).at(put(rows())).add(1.f); });
  expect_same([](auto put) { return put(matrix()).at(_, put(many_rows())).add(1.f); });
  expect_same([](auto put) {
    return put(matrix()).at(put(many_rows()), put(many_rows())).add(put(arange<float>(300)));
  });
  expect_same([](auto put) { return put(arange<std::int8_t>(4)).at(put(many_rows())).add(3); });
  expect_same([](auto put) {
    return put(zeros<bool>({4})).at(put(rows())).add(put(Array<bool>{1, 0, 0, 1}));
  });
  expect_same([](auto put) { return put(matrix()).at(slice(0, 2), slice(_, _, 2)).add(100); });
}

TEST(ScatterOnGpu, OtherOperationsCountEachIndex) {
  expect_same([](auto put) { return put(matrix()).at(put(rows())).multiply(2.f); });
  expect_same([](auto put) { return put(matrix()).at(put(many_rows()), 2).max(put(arange<float>(300))); });
  expect_same([](auto put) { return put(matrix()).at(put(Array<int>{1, 2})).divide({2, 2, 2, 4, 4, 4}); });
}

TEST(ScatterOnGpu, SumsAreTheSameEachTime) {
  const Array<float> x = device_put(waves(3000), gpu());
  const Array<int> at = device_put(arange<int>(3000) * 7 % 11, gpu());
  const Array<float> once = zeros_like(x).at(at).add(x), again = zeros_like(x).at(at).add(x);
  EXPECT_EQ(once.to_vector(), again.to_vector());
}

TEST(ScatterOnGpu, Gradients) {
  for (const Array<int>& index : {rows(), many_rows()}) {
    expect_same([&](auto put) {
      return grad([&](const Array<float>& x) { return sum(x(put(index)) * x(put(index))); })(put(matrix()));
    });
    expect_same([&](auto put) {
      return grad<1>([&](const Array<float>& x, const Array<float>& v) {
        return sum(x.at(put(index)).set(v) * x);
      })(put(matrix()), put(ones({index.shape(0), 1})));
    });
    expect_same([&](auto put) {
      return grad<1>([&](const Array<float>& x, const Array<float>& v) {
        return sum(x.at(put(index)).add(v) * x);
      })(put(matrix()), put(ones({6})));
    });
  }
  expect_same([](auto put) {
    return grad<1>([](const Array<float>& x, const Array<float>& s) { return sum(x.at(2).set(s) * x); })(
        put(matrix()), put(Array<float>(3.f)));
  });
}

TEST(ScatterOnGpu, HigherDerivativesAndBatches) {
  expect_same([](auto put) {
    const Array<int> i = put(Array<int>{0, 0, 2}), j = put(Array<int>{1, 0, 2});
    return hessian([=](const Array<float>& x) { return sum(x(i) * x(j) * x(0)); })(
        put(Array<float>{1, 2, 3}));
  });
  expect_same([](auto put) {
    return vmap([](const Array<float>& x, const Array<int>& i) { return x.at(i).add(1.f); },
                {.in_axes = {none, 0}})(put(matrix()), put(rows()));
  });
  expect_same(
      [](auto put) {
        return grad([&](const Array<float>& x) {
          return sum(vmap([&](const Array<int>& i) { return sin(x(i)); })(put(many_rows())));
        })(put(matrix()));
      },
      1e-5);
}

TEST(ScatterOnGpu, ValuesElsewhereAreAnError) {
  EXPECT_EQ(
      text_of<DeviceError>([] { device_put(matrix(), gpu()).at(0).set(arange<float>(6)); }),
      "at.set: the operands are on different devices, cuda:0 and cpu:0; device_put brings them together, and "
      "pmap takes what its devices share as an argument with in_axes none");
}

}  // namespace scatter_test
