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

// Rows that are taken in pieces of 16 bytes, and rows that are not.
TEST(ScatterOnGpu, RowsOfAnyLength) {
  for (const int n : {1, 3, 4, 7, 8, 20}) {
    const auto x = [=](auto put) { return put(waves(4 * n)).reshape({4, n}); };
    const auto y = [=](auto put) { return put(waves(300 * n + 1)); };
    expect_same([&](auto put) { return x(put).at(put(many_rows())).add(1.f); });
    for (const int start : {0, 1})
      expect_same([&](auto put) {
        return x(put).at(put(many_rows())).add(y(put)(slice(start, start + 300 * n)).reshape({300, n}));
      });
    expect_same([&](auto put) {
      return x(put).at(put(many_rows())).set(y(put)(slice(none, -1)).reshape({300, n}));
    });
    expect_same([&](auto put) { return x(put).at(put(many_rows())).set(put(waves(n))); });
    expect_same([&](auto put) {
      return x(put).at(put(many_rows())).add(y(put)(slice(none, -1)).reshape({n, 300}).T());
    });
    expect_same([&](auto put) {
      return put(zeros({3, 4, n})).at(_, put(many_rows())).add(y(put)(slice(none, -1)).reshape({300, n}));
    });
  }
}

// Of 8 columns, some of pieces, 7 have the bits that they have alone.
template <class T>
void expect_bits_of_narrower_rows() {
  const auto on_gpu = [](const Array<float>& x) {
    return device_put(eval(x.template astype<T>()), gpu()).reshape({-1, 8});
  };
  const Array<T> x = on_gpu(waves(32) * 9.f), y = on_gpu(waves(2400) * 9.f);
  const Array<int> at = device_put(eval(many_rows()), gpu());
  const auto columns = [](const Array<T>& a) { return eval(a(_, slice(0, 7)) + T(0)); };
  const auto added = columns(x.at(at).add(y)), set = columns(x.at(at).set(y));
  EXPECT_EQ(added.to_vector(), columns(x).at(at).add(columns(y)).to_vector());
  EXPECT_EQ(set.to_vector(), columns(x).at(at).set(columns(y)).to_vector());
}
TEST(ScatterOnGpu, PiecesOfAllTypes) {
  expect_bits_of_narrower_rows<std::int8_t>();
  expect_bits_of_narrower_rows<int>();
  expect_bits_of_narrower_rows<std::int64_t>();
  expect_bits_of_narrower_rows<nax::half>();
  expect_bits_of_narrower_rows<bfloat16>();
  expect_bits_of_narrower_rows<float>();
  expect_bits_of_narrower_rows<double>();
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
