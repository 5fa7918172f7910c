#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "support/refusal.hpp"

// Slices at starts that a program learns when it runs: recorded once, with the numbers of plain calls.
namespace dynamic_slices_test {
using namespace nax;
using D = Array<double>;
using I = Array<int>;

const I places[] = {I{0, 0}, I{1, 2}, I{-1, -2}, I{9, 1}, I{-9, 3}};

template <class F>
void expect_recorded(const F& f) {
  int calls = 0;
  const auto program = jit([&](const I& i) { return ++calls, D(f(i)); }, {.required = true});
  for (const I& i : places) {
    const D got = program(i), want = f(i);
    EXPECT_EQ(got.shape(), want.shape());
    EXPECT_TRUE(allclose(got, want, {.rtol = 1e-13, .atol = 1e-13}).item()) << i << got << want;
  }
  EXPECT_EQ(calls, 1);
}
D table() { return D(sin(arange<double>(24.).reshape({4, 6}))); }

TEST(DynamicSlices, AreRecorded) {
  const D x = table(), u = {{7, 8, 9}, {4, 5, 6}};
  expect_recorded([=](const I& i) { return lax::dynamic_slice(x, i, {2, 3}); });
  expect_recorded([=](const I& i) { return lax::dynamic_slice(x, {i(0), 1}, {2, 3}); });
  expect_recorded([=](const I& i) { return lax::dynamic_slice(x, {i(0), i(1)}, {4, 1}); });
  expect_recorded([=](const I& i) { return lax::dynamic_slice(D(x.T()), {i(1), i(0)}, {3, 2}); });
  expect_recorded([=](const I& i) { return lax::dynamic_slice(x, i, {0, 3}); });
  expect_recorded([=](const I& i) { return lax::dynamic_slice_in_dim(x, i(1), 2, 1); });
  expect_recorded([=](const I& i) { return lax::dynamic_index_in_dim(x, i(0)); });
  expect_recorded([=](const I& i) { return lax::dynamic_index_in_dim(x, i(1), 1, false); });
  expect_recorded([=](const I& i) { return lax::dynamic_update_slice(x, u, i); });
  expect_recorded([=](const I& i) { return lax::dynamic_update_slice(x, u, {1, i(1)}); });
  expect_recorded(
      [=](const I& i) { return lax::dynamic_update_slice_in_dim(x, D(u(_, slice(0, 1)) + x(0)), i(0), 0); });
  expect_recorded([=](const I& i) { return lax::dynamic_update_index_in_dim(x, D(x(1) * 2.), i(0), 0); });
}

TEST(DynamicSlices, AreDifferentiatedAndMapped) {
  const D x = table(), u = {{7, 8, 9}, {4, 5, 6}};
  const auto read = [](const I& i) {
    return [i](const D& v) { return D(sum(exp(lax::dynamic_slice(D(v * v), i, {2, 3})))); };
  };
  const auto written = [x](const I& i) {
    return [i, x](const D& v) { return D(sum(sin(lax::dynamic_update_slice(D(x * sum(v)), v, i)))); };
  };
  expect_recorded([=](const I& i) { return grad(read(i))(x); });
  expect_recorded([=](const I& i) { return grad(written(i))(u); });
  expect_recorded([=](const I& i) { return jvp(read(i), std::tuple{x}, std::tuple{cos(x)}).second; });
  expect_recorded([=](const I& i) { return jvp(written(i), std::tuple{u}, std::tuple{cos(u)}).second; });
  expect_recorded([=](const I& i) { return hessian(written(i))(u); });
  // Each example has its own start, in one array or in its own.
  const I offsets = {{0, 0}, {1, 0}, {0, 1}, {-7, 5}};
  const auto starts = [=](const I& i) { return I(offsets + i); };
  expect_recorded([=](const I& i) {
    return vmap([=](const I& at) { return lax::dynamic_slice(x, at, {2, 3}); })(starts(i));
  });
  expect_recorded([=](const I& i) {
    return vmap([=](const I& at) { return lax::dynamic_update_slice(x, u, at); })(starts(i));
  });
  expect_recorded([=](const I& i) {
    return vmap([](const D& row, const I& at) { return lax::dynamic_slice_in_dim(row, at(0), 2); })(
        x, starts(i));
  });
  expect_recorded(
      [=](const I& i) { return vmap([=](const I& at) { return grad(read(at))(x); })(starts(i)); });
  // Windows of several examples meet in the gradient of the array that they share.
  expect_recorded([=](const I& i) {
    return grad([=](const D& v) {
      return D(sum(vmap([=](const I& at) { return D(exp(lax::dynamic_slice(v, at, {2, 3}))); })(starts(i))));
    })(x);
  });
}

TEST(DynamicSlices, OfManyExamplesAddUpInTheGradientOfTheirArray) {
  const std::int64_t n = 5000, size = 700, count = 300;
  const I starts = I(arange<int>(static_cast<int>(count)) * 13 % 4400);
  const auto f = [=](const D& x) {
    return D(sum(vmap([=](const I& at) { return lax::dynamic_slice_in_dim(x, at, size); })(starts)));
  };
  const D got = grad(f)(zeros<double>({n}));
  std::vector<double> want(n, 0.);
  for (const int start : starts.to_vector())
    for (std::int64_t i = 0; i < size; ++i) ++want[static_cast<std::size_t>(start + i)];
  EXPECT_EQ(got.to_vector(), want);
  EXPECT_EQ(jit(grad(f))(zeros<double>({n})).to_vector(), want);
}

TEST(DynamicSlices, InBodiesOfLoopsAreRecorded) {
  const D x = table();
  expect_recorded([=](const I& i) {
    return lax::fori_loop(
        0, 40,
        [=](const I& k, const D& c) {
          const D row = lax::dynamic_index_in_dim(x, I(k % 4), 0, false);
          return lax::dynamic_update_index_in_dim(c, D(row + c(0)), I(k % 3), 0);
        },
        D(zeros<double>({3, 6}) + i(0).astype<double>()));
  });
  expect_recorded([=](const I& i) {
    return lax::while_loop(
               [](const std::pair<I, D>& s) { return s.first < 12; },
               [=](const std::pair<I, D>& s) {
                 return std::pair{I(s.first + 1), D(s.second + lax::dynamic_slice_in_dim(x, s.first, 2))};
               },
               std::pair{I(i(0)), zeros<double>({2, 6})})
        .second;
  });
  expect_recorded([=](const I& i) {
    return grad([=](const D& v) {
      return D(sum(lax::scan(
                       [=](const D& c, const I& k) {
                         const D next = lax::dynamic_update_slice_in_dim(
                             c, D(sin(lax::dynamic_slice_in_dim(c, I(k + i(0)), 1)) * v(0)), k, 0);
                         return std::pair{next, D(sum(next))};
                       },
                       v, I(arange<int>(20) % 4))
                       .second));
    })(x);
  });
}

TEST(DynamicSlices, AttentionWithItsCacheIsRecorded) {
  using F = Array<float>;
  const auto heads = nn::MultiHeadAttention<float>::make(random::key(1), {.features = 12, .heads = 4});
  const F x = random::normal(random::key(3), {2, 7, 12});
  const F want = heads(x, {.is_causal = true});
  using Cache = nn::KeyValueCache<float>;
  int calls = 0;
  const auto step =
      jit([&](const Cache& cache, const F& x) { return ++calls, heads(cache, x); }, {.required = true});
  Cache cache = heads.cache(7, 2);
  for (int i = 0; i < 7; ++i) {
    F y;
    std::tie(cache, y) = step(cache, F(x(_, slice(i, i + 1))));
    EXPECT_TRUE(allclose(y, F(want(_, slice(i, i + 1))), {.atol = 2e-6}).item()) << i;
    EXPECT_EQ(cache.length.item(), i + 1);
  }
  EXPECT_EQ(calls, 1);
  // The cache is full: the function itself is called, and says so.
  EXPECT_EQ(refusal<ValueError>([&] { step(cache, F(x(_, slice(0, 1)))); }),
            "MultiHeadAttention: the cache has no room for 1 more elements: 7 slots");
  // Sequences of their own lengths, and windows.
  const auto each = [heads](const Cache& cache, const F& x) {
    return vmap([&](const Cache& c, const F& row) { return heads(c, row, {.window = 2}).second; })(cache, x);
  };
  const Cache own{random::normal(random::key(5), {2, 7, 4, 3}), random::normal(random::key(6), {2, 7, 4, 3}),
                  I{2, 5}};
  const F rows = F(x(_, slice(0, 2)));
  EXPECT_TRUE(allclose(jit(each, {.required = true})(own, rows), each(own, rows), {.atol = 2e-6}).item());
}

TEST(DynamicSlices, WriteIntoDonatedMemory) {
  const auto f = [](const D& x, const D& row, const Array<int>& at) {
    return D(lax::dynamic_update_slice_in_dim(x, row, at, 0));
  };
  const auto fast = jit(f, {.donate_argnums = {0}, .required = true});
  const D first = random::normal<double>(random::key(0), {8, 3}),
          row = random::normal<double>(random::key(1), {1, 3});
  D x = copy(first), want = copy(first);
  x = fast(std::move(x), row, Array<int>(0));
  want = f(want, row, Array<int>(0));
  const double* const place = x.data();
  for (int at = 1; at < 8; ++at) {
    x = fast(std::move(x), row, Array<int>(at));
    want = f(want, row, Array<int>(at));
    EXPECT_EQ(x.data(), place);
    EXPECT_TRUE(array_equal(x, want).item()) << at;
  }
  // An array that others hold is not written.
  const D kept = x;
  const D next = fast(D(x), D(row * 2.), Array<int>(0));
  EXPECT_TRUE(array_equal(kept, want).item());
  EXPECT_FALSE(array_equal(next, want).item());
}

// Layers one after the other, each with a cache that its step gives back.
struct Layers {
  using Cache = nn::KeyValueCache<float>;
  std::vector<nn::MultiHeadAttention<float>> heads;

  explicit Layers(int count) {
    for (int i = 0; i < count; ++i)
      heads.push_back(nn::MultiHeadAttention<float>::make(random::key(i), {.features = 8, .heads = 2}));
  }
  std::vector<Cache> caches(int slots) const {
    std::vector<Cache> made;
    for (const auto& layer : heads) made.push_back(layer.cache(slots));
    return made;
  }
  std::pair<std::vector<Cache>, Array<float>> operator()(std::vector<Cache> caches, Array<float> x) const {
    for (std::size_t i = 0; i < heads.size(); ++i)
      std::tie(caches[i], x) = heads[i].add_to(x, std::move(caches[i]), x);
    return {std::move(caches), x};
  }
};

TEST(DynamicSlices, LayersWriteIntoDonatedCaches) {
  using F = Array<float>;
  const Layers layers(3);
  const auto fast =
      jit([&](std::vector<Layers::Cache> caches, const F& x) { return layers(std::move(caches), x); },
          {.donate_argnums = {0}, .required = true});
  const F x = random::normal(random::key(9), {6, 1, 8});
  std::vector<Layers::Cache> caches = layers.caches(32), same = layers.caches(32);
  F y, want;
  std::vector<const float*> places;
  for (int i = 0; i < 5; ++i) {
    std::tie(caches, y) = fast(std::move(caches), F(x(i)));
    std::tie(same, want) = layers(std::move(same), F(x(i)));
    EXPECT_TRUE(allclose(y, want, {.atol = 2e-6}).item()) << i;
    for (std::size_t l = 0; l < caches.size(); ++l) {
      EXPECT_TRUE(allclose(caches[l].key, same[l].key, {.atol = 2e-6}).item()) << i << ' ' << l;
      if (i == 0) places.push_back(caches[l].key.data()), places.push_back(caches[l].value.data());
      EXPECT_EQ(caches[l].key.data(), places[2 * l]) << i << ' ' << l;
      EXPECT_EQ(caches[l].value.data(), places[2 * l + 1]) << i << ' ' << l;
    }
  }
}

TEST(DynamicSlices, AFullCacheLeavesTheOthersAsTheyWere) {
  using F = Array<float>;
  const Layers layers(3);
  const F x = random::normal(random::key(9), {1, 8});
  std::vector<Layers::Cache> caches = layers.caches(32);
  F y;
  std::tie(caches, y) = layers(std::move(caches), x);
  std::vector<F> was;
  for (const Layers::Cache& cache : caches) was.push_back(copy(cache.key));
  const auto fast = jit(
      [&](std::vector<Layers::Cache> given, const F& x) {
        if (!detail::is_yet_unknown(given[0].length)) {  // called as it is: all caches are as they were given
          for (std::size_t l = 0; l < given.size(); ++l)
            EXPECT_TRUE(array_equal(given[l].key, was[l]).item()) << l;
        }
        return layers(std::move(given), x);
      },
      {.donate_argnums = {0}, .required = true});
  std::vector<Layers::Cache> other = layers.caches(32);
  std::tie(other, y) = fast(std::move(other), x);
  caches[2].length = Array<int>(32);
  EXPECT_EQ(refusal<ValueError>([&] { fast(std::move(caches), x); }),
            "MultiHeadAttention: the cache has no room for 1 more elements: 32 slots");
}

}  // namespace dynamic_slices_test
