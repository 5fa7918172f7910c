#include "both_devices.hpp"

// Running sums and products, and order, on a GPU.
namespace scan_and_sort_test {

using namespace nax;
using namespace both_devices;

Array<float> matrix() { return waves(24).reshape({4, 6}); }
Array<float> line() { return waves(1000); }

TEST(ScanOnGpu, RunningSumsAndProducts) {
  expect_same([](auto put) { return cumsum(put(matrix()), {.axis = 0}); }, 1e-5);
  expect_same([](auto put) { return cumsum(put(matrix())); }, 1e-5);
  expect_same([](auto put) { return cumsum(put(line())); }, 1e-4);
  expect_same([](auto put) { return cumsum(put(ones<int>({20000}))); });
  expect_same([](auto put) { return cumsum(put(matrix()) > 0.f); });
  expect_same([](auto put) { return cumsum(put(ones<nax::half>({20, 3})), {.axis = 0}); });
  expect_same([](auto put) { return cumprod(put(matrix()) + 1.f, {.axis = 1}); }, 1e-5);
  expect_same([](auto put) { return cumprod(put(arange<int>(20) + 1).template astype<std::uint8_t>()); });
}

// By a warp, by a block, and in several chunks.
TEST(ScanOnGpu, RowsOfManyLengths) {
  for (const int n : {9, 31, 129, 300, 5000, 8193, 20001}) {
    const auto whole = [n](auto put) { return put(eval(arange<int>(3 * n) * 7)).reshape({3, n}) % 11; };
    expect_same([&](auto put) { return cumsum(whole(put), {.axis = 1}); });
    expect_same([&](auto put) { return cumsum(put(waves(3 * n)).reshape({3, n}), {.axis = 1}); }, 1e-4);
    expect_same([&](auto put) { return cumprod(whole(put) % 2 * 2 + 1, {.axis = 1}); });  // wraps around
    expect_same(
        [&](auto put) {
          return grad([](const Array<float>& x) { return sum(cumsum(x, {.axis = 1})); })(
              put(waves(3 * n)).reshape({3, n}));
        },
        1e-4);
  }
  const auto zeros_of_sign = [](auto put) { return put(eval(full({20}, -0.f))); };
  expect_same([&](auto put) { return signbit(cumsum(zeros_of_sign(put))); });
}

// Rows of whole pieces and others, and columns, from either end, in one chunk and in several.
TEST(ScanOnGpu, SumsOfOneType) {
  const auto check = [&]<class T>(std::type_identity<T>, double tolerance) {
    for (const int n : {9, 12, 300, 8196, 20004, 20001})
      for (const int lines : {1, 2})
        for (const bool reverse : {false, true}) {
          SCOPED_TRACE(n);
          expect_same(
              [&](auto put) {
                const auto x = (waves(lines * n) * 3.f).template astype<T>().reshape({lines, n});
                return lax::cumsum(put(eval(x)), {.axis = 1, .reverse = reverse});
              },
              tolerance);
        }
  };
  const auto check_columns = [&]<class T>(std::type_identity<T>, double tolerance) {
    for (const int n : {1, 7, 128, 300})
      for (const bool reverse : {false, true}) {
        SCOPED_TRACE(n);
        expect_same(
            [&](auto put) {
              const auto x = (waves(6 * n) * 3.f).template astype<T>().reshape({2, n, 3});
              return lax::cumsum(put(eval(x)), {.axis = 1, .reverse = reverse});
            },
            tolerance);
      }
  };
  check_columns(std::type_identity<float>(), 1e-4);
  check_columns(std::type_identity<double>(), 1e-13);
  check_columns(std::type_identity<nax::half>(), 2e-3);
  check_columns(std::type_identity<bfloat16>(), 2e-2);
  check_columns(std::type_identity<std::int64_t>(), 0);
  check(std::type_identity<float>(), 1e-4);
  check(std::type_identity<double>(), 1e-13);
  check(std::type_identity<nax::half>(), 2e-3);
  check(std::type_identity<bfloat16>(), 2e-2);
  check(std::type_identity<std::int64_t>(), 0);
  check(std::type_identity<int>(), 0);
}

TEST(ScanOnGpu, Gradients) {
  expect_same(
      [](auto put) {
        return grad([](const Array<float>& x) { return sum(cumsum(x, {.axis = 1}) * x); })(put(matrix()));
      },
      1e-5);
  expect_same(
      [](auto put) {
        return grad([](const Array<float>& x) { return sum(cumprod(x, {.axis = 1}) * x); })(put(matrix()));
      },
      1e-5);
  expect_same([](auto put) {
    return hessian([](const Array<float>& x) { return sum(cumprod(x) * x); })(put(Array<float>{1, 0, 2, 3}));
  });
}

TEST(ScanOnGpu, RunningMaximaAndMinima) {
  for (const bool reverse : {false, true})
    for (const int axis : {0, 1}) {
      const auto of = [=](const auto& x) {
        return lax::cummax(x, {.axis = axis, .reverse = reverse}) +
               2 * lax::cummin(x, {.axis = axis, .reverse = reverse});
      };
      expect_same([&](auto put) { return of(put(matrix())); });
      expect_same([&](auto put) { return of(put(matrix()).template astype<nax::half>()); });
      expect_same([&](auto put) { return of(put(eval(arange<int>(600) * 7 % 11)).reshape({2, 300})); });
      expect_same([&](auto put) { return of(put(waves(3000)).reshape({3, 1000}).T()); });
      expect_same([&](auto put) {
        return grad([&](const Array<float>& x) { return sum(of(x) * x); })(put(matrix()));
      });
      expect_same([&](auto put) {
        return vmap([&](const Array<float>& x) { return of(x); },
                    {.in_axes = {1}})(put(waves(60)).reshape({4, 5, 3}));
      });
    }
  expect_same([](auto put) { return lax::cummax(put(Array<float>{1, NAN, 3, INFINITY, NAN})); });
  expect_same([](auto put) {
    return lax::cummin(put(Array<float>{INFINITY, 2, NAN, -INFINITY}), {.reverse = true});
  });
  expect_same([](auto put) { return lax::cummax(put(matrix()) > 0.f); });
  expect_same([](auto put) { return lax::cummin(put(Array<std::uint64_t>{3, UINT64_MAX, 2, 0})); });
  // In several chunks, where equal elements are many: the first of them takes the gradient.
  expect_same([](auto put) {
    return grad([](const Array<float>& x) {
      return sum(lax::cummax(x) + lax::cummin(x, {.reverse = true}));
    })(put(eval((arange<int>(20001) * 7 % 11).astype<float>())));
  });
  expect_same([](auto put) { return lax::cummax(put(waves(40002)).reshape({20001, 2})); });
}

TEST(SortOnGpu, SortsLines) {
  expect_same([](auto put) { return sort(put(matrix())); });
  expect_same([](auto put) { return sort(put(matrix()), {.axis = 0, .descending = true}); });
  expect_same([](auto put) { return sort(put(line())); });
  expect_same([](auto put) { return sort(put(Array<float>{3, NAN, -1, INFINITY, -INFINITY, 0})); });
  expect_same([](auto put) { return sort(put(Array<std::int64_t>{3, -1, INT64_MIN, INT64_MAX, 0})); });
  expect_same([](auto put) { return sort(put(matrix()).template astype<nax::half>()); });
  expect_same([](auto put) { return vmap([](const Array<float>& x) { return sort(x); })(put(matrix())); });
}

TEST(SortOnGpu, EqualElementsKeepTheirOrder) {
  expect_same([](auto put) { return argsort(put(arange<int>(500) * 13 % 5)); });
  expect_same([](auto put) { return argsort(put(arange<int>(500) * 13 % 5), {.descending = true}); });
}

TEST(SortOnGpu, OrderStatisticsAndGradients) {
  expect_same([](auto put) { return top_k(put(matrix()), 2).values; });
  expect_same([](auto put) { return median(put(matrix()), {.axis = 0}); });
  expect_same([](auto put) { return quantile(put(line()), 0.3); }, 1e-6);
  expect_same(
      [](auto put) {
        return grad([](const Array<float>& x) { return sum(sort(x, {.axis = 0}) * x); })(put(matrix()));
      },
      1e-6);
}

}  // namespace scan_and_sort_test
