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
  expect_same_draw(
      [](const random::Key& key) { return random::uniform<half>(key, {30}, {.minval = -2, .maxval = 5}); });
  expect_same_draw([](const random::Key& key) { return random::uniform<bfloat16>(key, {30}); });
  expect_same_draw([](const random::Key& key) { return random::randint(key, {30}, -3, 50); });
  expect_same_draw([](const random::Key& key) { return random::randint<std::uint8_t>(key, {30}, 0, 256); });
  expect_same_draw([](const random::Key& key) {
    return random::randint<std::int64_t>(key, {30}, -5000000000, 5000000000);
  });
  expect_same_draw([](const random::Key& key) { return random::bernoulli(key, 0.3, {30}); });
  expect_same_draw([](const random::Key& key) { return random::rademacher(key, {30}); });
}

TEST(RandomOnGpu, Distributions) {
  expect_same_draw([](const random::Key& key) { return random::normal(key, {300}); }, 1e-6);
  expect_same_draw([](const random::Key& key) { return random::normal<double>(key, {300}); }, 1e-14);
  expect_same_draw([](const random::Key& key) { return random::normal<half>(key, {300}); }, 1e-3);
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
