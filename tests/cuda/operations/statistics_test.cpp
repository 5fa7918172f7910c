#include "both_devices.hpp"

// Quantiles with weights or without NaN, covariances, interpolation, counts, and elements put, on a GPU.
namespace statistics_test {

using namespace nax;
using namespace both_devices;

Array<float> holed() { return where(waves(60) > .5f, NAN, waves(60)).reshape({5, 12}); }

TEST(StatisticsOnGpu, QuantilesWithoutNan) {
  for (const char* method : {"inverted_cdf", "closest_observation", "weibull", "linear", "nearest"})
    for (const float q : {0.f, .3f, .5f, 1.f})
      expect_same([=](auto put) { return nanquantile(put(holed()), q, {.axis = 1, .method = method}); },
                  1e-6);
  expect_same([](auto put) { return nanmedian(put(holed()), {.axis = 0}); }, 1e-6);
  expect_same([](auto put) { return nanmedian(put(eval(full({2, 3}, NAN))), {.axis = 1}); });
  expect_same([](auto put) { return nanmedian(put(holed()).template astype<double>()); });
  expect_same(
      [](auto put) {
        return grad([](const Array<float>& x) { return sum(nanquantile(x, .4f, {.axis = 1})); })(
            put(holed()));
      },
      1e-6);
  expect_same(
      [](auto put) { return vmap([](const Array<float>& x) { return nanpercentile(x, 30); })(put(holed())); },
      1e-6);
}

TEST(StatisticsOnGpu, QuantilesWithWeights) {
  const QuantileOptions plain{.axis = 1, .method = "inverted_cdf"};
  const auto weights = [] { return eval(abs(waves(12)) + .1f); };
  const auto with = [=](const auto& w) {
    QuantileOptions options = plain;
    options.weights = w;
    return options;
  };
  for (const float q : {0.f, .4f, 1.f}) {
    expect_same([=](auto put) { return nanquantile(put(holed()), q, with(put(weights()))); });
    expect_same([=](auto put) {
      return quantile(put(waves(60)).reshape({5, 12}), q, with(put(eval(abs(waves(60)))).reshape({5, 12})));
    });
    expect_same([=](auto put) {
      const auto options = with(put(weights()));
      return grad([=](const Array<float>& x) { return sum(quantile(x, q, options)); })(
          put(waves(60)).reshape({5, 12}));
    });
  }
  for (const float bad : {-1.f, NAN, INFINITY})
    expect_same_error<ValueError>([=](auto put) {
      return quantile(put(waves(4)).reshape({1, 4}), .5, with(put(Array<float>{1, bad, 2, 1})));
    });
}

TEST(StatisticsOnGpu, Covariances) {
  expect_same(
      [](auto put) {
        return cov(put(waves(24)).reshape({4, 6}), {.fweights = put(Array<int>{1, 2, 0, 3, 1, 1})});
      },
      1e-5);
  expect_same(
      [](auto put) {
        const auto times = put(Array<int>{1, 2, 0, 3, 1, 1});
        const auto counts = put(eval(abs(waves(6))));
        return grad([&](const Array<float>& x) {
          return sum(cov(x, {.ddof = 0, .fweights = times, .aweights = counts}) * 2.f);
        })(put(waves(24)).reshape({4, 6}));
      },
      1e-5);
  expect_same_error<ValueError>([](auto put) {
    return cov(put(waves(6)).reshape({2, 3}), {.aweights = put(Array<float>{1, -2, 1})});
  });
}

TEST(StatisticsOnGpu, Interpolation) {
  const Array<float> points{-1, 0, .5f, .5f, 2}, values{3, -1, 4, 1, 5},
      at{-2, -1, -.5f, .25f, .5f, 1, 2, 3, NAN};
  expect_same([=](auto put) { return interp(put(at), put(points), put(values)); }, 1e-6);
  expect_same([=](auto put) { return interp(.3f, put(points), put(values)); }, 1e-6);
  expect_same(
      [=](auto put) { return interp(put(at), put(points), put(values), {.left = -9.f, .right = 9.f}); },
      1e-6);
  expect_same([=](auto put) { return interp(put(at), put(points) * .9f, put(values), {.period = 3.}); },
              1e-5);
  expect_same([=](auto put) { return interp(put(at), put(Array<float>{1}), put(Array<float>{7})); });
  for (const int argument : {0, 1, 2})
    expect_same(
        [=](auto put) {
          const Array<float> x[] = {put(waves(20)), put(Array<float>{-1, 0, .5f, .75f, 2}), put(values)};
          return grad([&](const Array<float>& v) {
            const auto pick = [&](int i) { return i == argument ? v : x[i]; };
            return sum(interp(pick(0), pick(1), pick(2)) * 2.f);
          })(x[argument]);
        },
        1e-5);
  expect_same(
      [=](auto put) {
        const auto y = put(values);
        return vmap([&](const Array<float>& x, const Array<float>& p) { return interp(x, p, y); })(
            put(waves(12)).reshape({3, 4}), put(eval(cumsum(abs(waves(15)).reshape({3, 5}), {.axis = 1}))));
      },
      1e-5);
}

TEST(StatisticsOnGpu, ElementsAmongOthers) {
  const auto n = [] { return eval(arange<int>(40) * 7 % 13); };
  expect_same([=](auto put) { return isin(put(n()), put(Array<int>{3, 11, 20, 5})); });
  expect_same([=](auto put) {
    return isin(put(n()), put(Array<int>{3, 11}).reshape({2, 1}), {.invert = true});
  });
  expect_same([=](auto put) { return isin(put(n()), put(zeros<int>({0}))); });
  expect_same([](auto put) { return isin(put(Array<float>{NAN, 1, 2}), put(Array<float>{NAN, 2})); });
}

TEST(StatisticsOnGpu, Counts) {
  const auto n = [] { return eval(arange<int>(400) * 7 % 13); };
  const auto w = [] { return waves(400); };
  for (const BincountOptions& options :
       {BincountOptions{}, {.minlength = 20}, {.length = 5}, {.length = 0}}) {
    expect_same([=](auto put) { return bincount(put(n()), options); });
    expect_same([=](auto put) { return bincount(put(n()), put(w()), options); }, 1e-5);
    expect_same(
        [=](auto put) {
          const auto at = put(n());
          return grad([&](const Array<float>& x) { return sum(square(bincount(at, x, options))); })(put(w()));
        },
        1e-5);
  }
  expect_same([=](auto put) {
    return vmap([](const Array<int>& x) { return bincount(x, {.length = 9}); })(put(n()).reshape({4, 100}));
  });
  expect_same(
      [=](auto put) {
        return vmap([](const Array<int>& x, const Array<float>& y) { return bincount(x, y, {.length = 9}); })(
            put(n()).reshape({4, 100}), put(w()).reshape({4, 100}));
      },
      1e-5);
  expect_same([=](auto put) {
    return jit([](const Array<int>& x) { return bincount(x, {.length = 9}); })(put(n()));
  });
  expect_same_error<ValueError>([](auto put) { return bincount(put(Array<int>{1, -2, 3})); });
}

TEST(StatisticsOnGpu, ElementsPut) {
  const std::vector<int> places{0, -1, 5, 0};
  expect_same([=](auto put) { return nax::put(put(waves(6)), places, put(Array<float>{7, 8, 9})); });
  expect_same([=](auto put) { return nax::put(put(waves(6)), places, std::vector<float>{7, 8}); });
  expect_same([=](auto put) {
    return nax::put(put(waves(6)), put(Array<int>{13, -2}), 1.f, {.mode = "wrap"});
  });
  expect_same([=](auto put) {
    const auto v = put(Array<float>{7, 8});
    return grad([&](const Array<float>& x) { return sum(nax::put(x, places, v) * x); })(put(waves(6)));
  });
  expect_same([=](auto put) { return place(put(waves(6)), put(waves(6)) > 0.f, std::vector<float>{7, 8}); });
  const ChecksAtOnce checks;
  expect_same_error<IndexError>([](auto put) { return nax::put(put(waves(6)), std::vector<int>{6}, 1.f); });
}

TEST(StatisticsOnGpu, DistancesToTheNextNumber) {
  expect_same([](auto put) {
    return spacing(put(Array<float>{0, -0.f, 1, -2.5f, 1e-40f, 1e30f, INFINITY, -INFINITY, NAN}));
  });
  expect_same([](auto put) { return spacing(put(waves(20)).template astype<double>()); });
}

}  // namespace statistics_test
