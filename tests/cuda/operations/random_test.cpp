#include "both_devices.hpp"

// Draws on a GPU equal those of the CPU, bit for bit if no mathematical function takes part. Keys may be on
// the host.
namespace random_test {

using namespace nax;
using namespace both_devices;

// Compares a draw from a key on the host with one from a key on the device.
template <class F>
void expect_same_draw(const F& f, double tolerance = 0) {
  expect_same([&](auto put) { return f(random::Key(put(random::key(3).words()))); }, tolerance);
  const auto expected = f(random::key(3));
  const nax::detail::ComputeOn there(gpu());
  const auto actual = f(random::key(3));
  EXPECT_EQ(actual.device(), gpu());
  expect_near(actual, expected, tolerance);
}

TEST(RandomOnGpu, Keys) {
  expect_same_draw([](const random::Key& key) { return random::key_data(key); });
  expect_same_draw([](const random::Key& key) { return random::key_data(random::split(key, {2, 3})); });
  expect_same_draw([](const random::Key& key) { return random::key_data(random::fold_in(key, -7)); });
  expect_same_draw([](const random::Key& key) {
    return random::key_data(random::wrap_key_data(random::key_data(random::split(key, 3))));
  });
}

TEST(RandomOnGpu, Bits) {
  expect_same_draw([](const random::Key& key) { return random::bits(key, {3, 4}); });
  expect_same_draw([](const random::Key& key) { return random::bits<std::uint8_t>(key, {3, 4}); });
  expect_same_draw([](const random::Key& key) { return random::bits<std::uint64_t>(key, {3, 4}); });
}

TEST(RandomOnGpu, NumbersOfAllTypes) {
  expect_same_draw([](const random::Key& key) { return random::uniform(key, {30}); });
  expect_same_draw(
      [](const random::Key& key) { return random::uniform<double>(key, {30}, {.minval = -2, .maxval = 5}); });
  expect_same_draw([](const random::Key& key) {
    return random::uniform<nax::half>(key, {30}, {.minval = -2, .maxval = 5});
  });
  expect_same_draw([](const random::Key& key) { return random::uniform<bfloat16>(key, {30}); });
  expect_same_draw([](const random::Key& key) { return random::randint(key, {30}, -3, 50); });
  expect_same_draw([](const random::Key& key) { return random::randint<std::uint8_t>(key, {30}, 0, 256); });
  expect_same_draw([](const random::Key& key) {
    return random::randint<std::int64_t>(key, {30}, -5000000000, 5000000000);
  });
  expect_same_draw([](const random::Key& key) { return random::bernoulli(key, 0.3, {30}); });
  expect_same_draw([](const random::Key& key) { return random::rademacher(key, {30}); });
}

// Threads draw several elements, of one key or of two.
TEST(RandomOnGpu, OfManyKeysAndSizes) {
  for (const int n : {1, 3, 4, 5, 1001}) {
    SCOPED_TRACE(n);
    const auto of_keys = [n](const auto& draw) {
      expect_same_draw([&](const random::Key& key) { return draw(key, Shape{n}); });
      expect_same_draw([&](const random::Key& key) {
        return vmap([&](const random::Key& one) { return draw(one, Shape{n}); })(random::split(key, 3));
      });
    };
    of_keys([](const random::Key& key, const Shape& shape) { return random::uniform(key, shape); });
    of_keys([](const random::Key& key, const Shape& shape) { return random::uniform<double>(key, shape); });
    of_keys(
        [](const random::Key& key, const Shape& shape) { return random::bits<std::uint8_t>(key, shape); });
    of_keys([](const random::Key& key, const Shape& shape) { return random::bernoulli(key, 0.3, shape); });
  }
}

TEST(RandomOnGpu, Distributions) {
  expect_same_draw([](const random::Key& key) { return random::normal(key, {300}); }, 1e-6);
  expect_same_draw([](const random::Key& key) { return random::normal<double>(key, {300}); }, 1e-14);
  expect_same_draw([](const random::Key& key) { return random::normal<nax::half>(key, {300}); }, 1e-3);
  expect_same_draw([](const random::Key& key) { return random::gumbel(key, {300}); }, 1e-6);
  expect_same_draw([](const random::Key& key) { return random::exponential(key, {300}); }, 1e-6);
  expect_same_draw([](const random::Key& key) { return random::laplace(key, {300}); }, 1e-6);
  expect_same_draw([](const random::Key& key) { return random::logistic(key, {300}); }, 1e-6);
  expect_same_draw([](const random::Key& key) { return random::truncated_normal(key, -1, 2, {300}); }, 1e-6);
}

TEST(RandomOnGpu, Permutations) {
  expect_same_draw([](const random::Key& key) { return random::permutation(key, 20); });
  expect_same_draw([](const random::Key& key) { return random::permutation(key, 3000); });
  expect_same_draw([](const random::Key& key) { return random::permutation(key, 1); });
  expect_same([](auto put) {
    return random::permutation(random::key(2), put(arange<float>(12).reshape({3, 4})),
                               {.axis = 1, .independent = true});
  });
  expect_same_draw([](const random::Key& key) { return random::choice(key, 20, {4}, {.replace = false}); });
  expect_same([](auto put) {
    return random::categorical(random::key(2), put(Array<float>{{1, 2, 3}, {3, 2, 1}}));
  });
}

TEST(RandomOnGpu, ChoiceWithProbabilities) {
  const Array<float> p{.1f, .4f, 0.f, .3f, .2f};
  for (const bool replace : {true, false}) {
    expect_same(
        [&](auto put) { return random::choice(random::key(5), 5, {4}, {.replace = replace, .p = put(p)}); });
    expect_same([&](auto put) {
      return random::choice(random::key(5), put(arange<float>(10).reshape({5, 2})), {2, 2},
                            {.replace = replace, .p = put(p)});
    });
    expect_same_draw(
        [&](const random::Key& key) { return random::choice(key, 5, {3}, {.replace = replace, .p = p}); });
    expect_same([&](auto put) {
      return vmap([&](const Array<float>& w) {
        return random::choice(random::key(6), 5, {3}, {.replace = replace, .p = w});
      })(put(stack({p, 1.f - p})));
    });
  }
}

TEST(RandomOnGpu, Categorical) {
  const Array<float> logits = waves(60).reshape({3, 4, 5});
  for (const int axis : {0, 1, -1})
    expect_same([&](auto put) { return random::categorical(random::key(2), put(logits), {.axis = axis}); });
  expect_same([&](auto put) {
    return random::categorical(random::key(2), put(logits), {.shape = Shape{7, 3, 4}});
  });
}

// Draws by rejection: all the numbers of the CPU, for parameters on the device and on the host.
TEST(RandomOnGpu, Rejection) {
  const Array<float> alpha = {.05f, .5f, 1.f, 3.f, 400.f}, rate = {0.f, .3f, 9.f, 12.f, 1e4f, -1.f},
                     count = {0.f, 5.f, 40.f, 1e5f, -1.f}, chance = {.3f, .9f, .5f, .01f, .5f};
  expect_same_draw([](const random::Key& key) { return random::gamma(key, 2.5, {200}); }, 1e-5);
  expect_same_draw([](const random::Key& key) { return random::gamma<double>(key, .2, {200}); }, 1e-12);
  expect_same_draw([](const random::Key& key) { return random::poisson(key, 3, {200}); });
  expect_same_draw([](const random::Key& key) { return random::poisson<std::int64_t>(key, 50, {200}); });
  expect_same_draw([](const random::Key& key) { return random::binomial(key, 7, .2, {200}); });
  expect_same_draw([](const random::Key& key) { return random::binomial<double>(key, 1000, .4, {200}); });
  expect_same([&](auto put) { return random::gamma(random::key(1), put(alpha), {40, 5}); }, 1e-5);
  expect_same([&](auto put) { return random::loggamma(random::key(1), put(alpha), {40, 5}); }, 1e-5);
  expect_same([&](auto put) { return random::poisson(random::key(1), put(rate), {40, 6}); });
  expect_same([&](auto put) { return random::binomial(random::key(1), put(count), put(chance), {40, 5}); });
  expect_same([&](auto put) { return random::dirichlet(random::key(1), put(alpha), {3}); }, 1e-5);
  expect_same([&](auto put) { return random::beta(random::key(1), put(alpha), 2., {3, 5}); }, 1e-5);
  expect_same([&](auto put) { return random::t(random::key(1), put(alpha), {3, 5}); }, 1e-4);
  expect_same([&](auto put) {
    return random::multinomial(random::key(1), 20, put(Array<float>{.2f, .3f, .5f}), {4, 3});
  });
}

TEST(RandomOnGpu, RejectionUnderTransforms) {
  const Array<float> alpha = {.5f, 1.f, 3.f};
  expect_same(
      [&](auto put) {
        return vmap([](const random::Key& k, const Array<float>& a) { return random::gamma(k, a, {4}); })(
            random::split(random::key(4), 3), put(alpha));
      },
      1e-5);
  expect_same([&](auto put) {
    return vmap([](const random::Key& k) { return random::poisson(k, 20, {4}); })(
        random::Key(put(random::split(random::key(4), 3).words())));
  });
  expect_same(
      [&](auto put) {
        return grad([](const Array<float>& a) { return sum(random::gamma(random::key(4), a)); })(put(alpha));
      },
      1e-4);
  expect_same(
      [&](auto put) {
        const auto f = jit([](const Array<float>& a) {
          return random::gamma(random::key(4), a) + random::poisson(random::key(5), a * 9.f);
        });
        f(put(alpha * 2.f));
        return f(put(alpha));
      },
      1e-5);
}

TEST(RandomOnGpu, RejectionOnDifferentDevices) {
  const Array<float> count = {3.f, 4.f}, chance = {.5f, .5f};
  EXPECT_NE(text_of<DeviceError>([&] {
              random::binomial(random::key(1), device_put(count, gpu()), chance, {2});
            }).find("binomial: the operands are on different devices"),
            std::string::npos);
}

TEST(RandomOnGpu, IntegersBetweenArrays) {
  const Array<int> low = {-5, 0, 7}, high = {5, 1, 2'000'000'000};
  expect_same([&](auto put) { return random::randint(random::key(1), {50, 3}, put(low), put(high)); });
  expect_same([&](auto put) {
    return random::randint<std::int64_t>(random::key(1), {50, 3}, put(low), put(Array<int>(9)));
  });
  expect_same([&](auto put) {
    return vmap([](const Array<int>& a) {
      return random::randint(random::key(1), {4}, a, Array<int>(a + 10));
    })(put(low));
  });
  expect_same([&](auto put) {
    const auto f = jit([](const Array<int>& a) {
      return random::randint(random::key(1), {2, 3}, a, Array<int>(a + 10));
    });
    f(put(high - 10));
    return f(put(low));
  });
}

TEST(RandomOnGpu, BatchedKeys) {
  expect_same_draw([](const random::Key& key) {
    return vmap([](const random::Key& k) {
      const auto [a, b] = random::split(k);
      return random::uniform(a, {2}) + random::uniform(random::fold_in(b, 3), {2});
    })(random::split(key, 3));
  });
  expect_same_draw([](const random::Key& key) {
    return vmap([](const random::Key& k) { return random::permutation(k, 5); })(random::split(key, 3));
  });
}

TEST(RandomOnGpu, KeysStayOnTheHost) {
  const nax::detail::ComputeOn there(gpu());
  EXPECT_EQ(random::key(0).words().device(), Device{});
  EXPECT_EQ(random::split(random::key(0))[1].words().device(), Device{});
  EXPECT_EQ(random::normal(random::key(0), {3}).device(), gpu());
}

}  // namespace random_test
