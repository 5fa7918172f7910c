#include <algorithm>
#include <cmath>
#include <limits>

#include "both_devices.hpp"
#include "operations/launches.hpp"

// Attention on a GPU as one kernel, against the host's blocks and the formula.
namespace attention_on_gpu_test {

using namespace nax;
using namespace both_devices;

template <class T>
Array<T> draw(int first, const Shape& shape) {
  const auto count = static_cast<int>(shape.size() == 0 ? 1 : Frame{shape, {}}.size());
  return (waves(first + count)(slice(first, first + count)) * 1.5f).template astype<T>().reshape(shape);
}
// As many queries and keys as make several tiles, the last ones cut short.
struct Sizes {
  int batch, queries, keys, heads, groups, width;
};

template <class T>
class AttentionOnGpu : public testing::Test {
 public:
  static constexpr double tolerance = sizeof(T) == 4 ? 3e-5 : std::is_same_v<T, nax::half> ? 2e-3 : 1.5e-2;

  // `make` gets put, and gives the options.
  template <class Make>
  static void expect_the_hosts(const Sizes& s, const Make& make) {
    SCOPED_TRACE(s.width);
    expect_same(
        [&](auto put) {
          return nn::dot_product_attention(put(draw<T>(0, {s.batch, s.queries, s.heads, s.width})),
                                           put(draw<T>(9, {s.batch, s.keys, s.groups, s.width})),
                                           put(draw<T>(70, {s.batch, s.keys, s.groups, s.width})), make(put));
        },
        tolerance);
  }
};
using Types = testing::Types<float, nax::half, bfloat16>;
TYPED_TEST_SUITE(AttentionOnGpu, Types);

// Rows of pieces and others, of both kernels; one row, and more than a tile of them.
constexpr Sizes sizes[] = {{2, 150, 141, 4, 2, 24}, {1, 1, 1, 1, 1, 1},     {1, 70, 65, 3, 3, 5},
                           {2, 64, 64, 2, 1, 64},   {1, 130, 5, 2, 2, 128}, {1, 3, 200, 4, 1, 100},
                           {1, 129, 128, 1, 1, 71}};

TYPED_TEST(AttentionOnGpu, IsTheHosts) {
  using Options = nn::AttentionOptions<TypeParam>;
  for (const Sizes& s : sizes) {
    this->expect_the_hosts(s, [](auto) { return Options{}; });
    this->expect_the_hosts(s, [](auto) { return Options{.is_causal = true}; });
    this->expect_the_hosts(s, [](auto) { return Options{.scale = -0.3}; });
    this->expect_the_hosts(
        s, [](auto) { return Options{.is_causal = true, .local_window_size = nn::AttentionWindow(7, 20)}; });
  }
}

TYPED_TEST(AttentionOnGpu, TakesLengthsMasksAndBias) {
  using Options = nn::AttentionOptions<TypeParam>;
  const Sizes s = sizes[0];
  this->expect_the_hosts(s, [](auto put) {
    return Options{.query_seq_lengths = put(Array<int>{150, 40}),
                   .key_value_seq_lengths = put(Array<int>{3, 140})};
  });
  this->expect_the_hosts(s, [&](auto put) {
    return Options{.mask = put(Array<bool>(draw<float>(3, {2, 1, 1, s.keys}) > 0.f)), .is_causal = true};
  });
  this->expect_the_hosts(s, [&](auto put) {
    return Options{.bias = put(draw<TypeParam>(5, {1, 4, s.queries, s.keys})),
                   .mask = put(Array<bool>(draw<float>(3, {1, 4, s.queries, s.keys}) > -1.f))};
  });
  this->expect_the_hosts(s, [&](auto put) {
    return Options{.bias = put(draw<TypeParam>(5, {1, 1, 1, s.keys}))};
  });
}

// A row that sees no key weighs all of them alike; a bias of minus infinity hides keys as well.
TYPED_TEST(AttentionOnGpu, WeighsAllKeysAlikeWhereNoneIsVisible) {
  using Options = nn::AttentionOptions<TypeParam>;
  const Sizes s = sizes[0];
  this->expect_the_hosts(s, [](auto put) {
    return Options{.key_value_seq_lengths = put(Array<int>{0, 141})};
  });
  this->expect_the_hosts(s, [&](auto put) {
    return Options{.mask = put(Array<bool>((arange<int>(150) > 100).reshape({1, 1, 150, 1})))};
  });
  this->expect_the_hosts(s,
                         [](auto) { return Options{.local_window_size = nn::AttentionWindow(-130, 140)}; });
  this->expect_the_hosts(s, [&](auto put) {
    const float least = -std::numeric_limits<float>::infinity();
    return Options{.bias = put(Array<TypeParam>(where(arange<int>(141) >= 135, 0.f, least)
                                                    .template astype<TypeParam>()
                                                    .reshape({1, 1, 1, 141})))};
  });
}

// Additive masks of the least number: rows all of it weigh their keys alike; of half it is no great number.
// (Where such a row is causal as well, the host weighs the keys that are ruled out, and a GPU the others.)
TYPED_TEST(AttentionOnGpu, WeighsKeysOfTheLeastBiasAlike) {
  using T = TypeParam;
  using Options = nn::AttentionOptions<T>;
  const Sizes s = sizes[0];
  constexpr auto lowest = static_cast<float>(std::numeric_limits<T>::lowest());
  for (const float least : {lowest, std::max(lowest, -2e38f)}) {
    const auto bias = [&](auto put, int low_rows) {
      const Array<int> row = arange<int>(150).reshape({1, 1, 150, 1}), key = arange<int>(141);
      return put(Array<T>(
          where(logical_or(row < low_rows, key % 3 == 1), static_cast<T>(least), static_cast<T>(0.5f))));
    };
    this->expect_the_hosts(s, [&](auto put) { return Options{.bias = bias(put, 75)}; });
    this->expect_the_hosts(s, [&](auto put) { return Options{.bias = bias(put, 0), .is_causal = true}; });
  }
}

TYPED_TEST(AttentionOnGpu, KeepsNans) {
  using A = Array<TypeParam>;
  expect_same(
      [](auto put) {
        A x = draw<TypeParam>(0, {1, 70, 1, 16});
        x = where((arange<int>(70) == 69).reshape({70, 1, 1}),
                  static_cast<TypeParam>(std::numeric_limits<float>::quiet_NaN()), x);
        const A y = put(draw<TypeParam>(4, {1, 70, 1, 16}));
        return nn::dot_product_attention(put(x), y, y, {.is_causal = true});
      },
      this->tolerance);
}

TYPED_TEST(AttentionOnGpu, HasTheHostsDerivatives) {
  using T = TypeParam;
  using A = Array<T>;
  const auto f = [](const A& q, const A& k, const A& v, const nn::AttentionOptions<T>& options) {
    return A(nn::dot_product_attention(q, k, v, options));
  };
  const auto check = [&](const auto& make) {
    expect_same(
        [&](auto put) {
          const nn::AttentionOptions<T> options = make(put);
          const auto loss = [&](const A& q, const A& k, const A& v) {
            return A(sum(square(f(q, k, v, options))));
          };
          const auto [gq, gk, gv] = grad<0, 1, 2>(loss)(
              put(draw<T>(0, {2, 9, 4, 8})), put(draw<T>(4, {2, 11, 2, 8})), put(draw<T>(8, {2, 11, 2, 8})));
          return concatenate(std::vector<A>{gq.reshape({-1}), gk.reshape({-1}), gv.reshape({-1})});
        },
        10 * this->tolerance);
    expect_same(
        [&](auto put) {
          const nn::AttentionOptions<T> options = make(put);
          const A q = put(draw<T>(0, {2, 9, 4, 8})), k = put(draw<T>(4, {2, 11, 2, 8}));
          return jvp([&](const A& a, const A& b) { return f(a, b, b, options); }, std::tuple{q, k},
                     std::tuple{q, k})
              .second;
        },
        10 * this->tolerance);
  };
  check([](auto) { return nn::AttentionOptions<T>{}; });
  check([](auto) { return nn::AttentionOptions<T>{.is_causal = true}; });
  check([](auto put) {
    return nn::AttentionOptions<T>{.is_causal = true,
                                   .query_seq_lengths = put(Array<int>{9, 4}),
                                   .key_value_seq_lengths = put(Array<int>{3, 11})};
  });
}

// Several tiles of queries and keys, cut short; rows that see no key; rows of pieces and others.
TYPED_TEST(AttentionOnGpu, HasTheHostsGradientsOfManyRows) {
  using T = TypeParam;
  using A = Array<T>;
  const auto check = [&](const Sizes& s, const auto& make) {
    const auto gradient = [&]<int which>(std::integral_constant<int, which>) {
      SCOPED_TRACE(which);
      expect_same(
          [&](auto put) {
            const nn::AttentionOptions<T> options = make(put);
            const A weight = put(draw<T>(31, {s.batch, s.queries, s.heads, s.width}));
            const auto loss = [&](const A& q, const A& k, const A& v) {
              return A(sum(nn::dot_product_attention(q, k, v, options) * weight));
            };
            const auto all = grad<0, 1, 2>(loss)(put(draw<T>(0, {s.batch, s.queries, s.heads, s.width})),
                                                 put(draw<T>(9, {s.batch, s.keys, s.groups, s.width})),
                                                 put(draw<T>(70, {s.batch, s.keys, s.groups, s.width})));
            return std::get<which>(all);
          },
          10 * this->tolerance);
    };
    gradient(std::integral_constant<int, 0>());
    gradient(std::integral_constant<int, 1>());
    gradient(std::integral_constant<int, 2>());
  };
  const Sizes large = {2, 150, 141, 4, 2, 24};
  check(large, [](auto) { return nn::AttentionOptions<T>{}; });
  check(large, [](auto) { return nn::AttentionOptions<T>{.is_causal = true}; });
  check({1, 140, 70, 2, 1, 71}, [](auto) {
    return nn::AttentionOptions<T>{.scale = 0.2, .local_window_size = nn::AttentionWindow(30, 9)};
  });
  check({1, 40, 150, 2, 1, 128}, [](auto put) {
    return nn::AttentionOptions<T>{.bias = put(draw<T>(5, {1, 2, 40, 150})),
                                   .mask = put(Array<bool>(draw<float>(3, {1, 1, 1, 150}) > 0.f)),
                                   .scale = 0.1};
  });
  check(large, [](auto put) {
    return nn::AttentionOptions<T>{.query_seq_lengths = put(Array<int>{150, 40}),
                                   .key_value_seq_lengths = put(Array<int>{0, 141})};
  });
  // Rows all of a great bias, whose weights have the digits of others.
  constexpr auto lowest = static_cast<float>(std::numeric_limits<T>::lowest());
  for (const float least : {lowest, std::max(lowest, -1e9f), -3e4f})
    check({1, 150, 141, 2, 1, 24}, [&](auto put) {
      const Array<bool> hidden =
          logical_or(arange<int>(150).reshape({1, 1, 150, 1}) < 75, arange<int>(141) % 3 == 1);
      return nn::AttentionOptions<T>{
          .bias = put(Array<T>(where(hidden, static_cast<T>(least), static_cast<T>(0.5f))))};
    });
  check({1, 150, 141, 1, 1, 8}, [](auto put) {
    return nn::AttentionOptions<T>{.mask = put(Array<bool>((arange<int>(150) > 100).reshape({1, 1, 150, 1}))),
                                   .is_causal = true};
  });
}

TEST(AttentionOnGpuOfViews, IsTheHosts) {
  const auto part = [](const Array<float>& packed, int i) { return Array<float>(packed(_, _, i)); };
  expect_same(
      [&](auto put) {
        const Array<float> x = put(draw<float>(0, {2, 70, 3, 4, 8}));
        return nn::dot_product_attention(part(x, 0), part(x, 1), part(x, 2), {.is_causal = true});
      },
      1e-5);
  expect_same(
      [](auto put) {
        const Array<float> x = put(draw<float>(0, {2, 4, 6, 70})).transpose({0, 3, 1, 2});
        return nn::dot_product_attention(x, flip(x, {.axis = 1}), flip(x, {.axis = 3}));
      },
      1e-5);
  expect_same(
      [](auto put) {
        return nn::dot_product_attention(put(draw<float>(0, {7, 2, 8})), put(draw<float>(3, {9, 2, 8})),
                                         put(draw<float>(5, {9, 2, 8})));
      },
      1e-5);
}

TEST(AttentionOnGpuUnderTransforms, IsTheHosts) {
  using A = Array<float>;
  const auto f = [](const A& q, const A& k, const A& v, const Array<int>& n) {
    return A(nn::dot_product_attention(q, k, v, {.is_causal = true, .key_value_seq_lengths = n}));
  };
  expect_same(
      [&](auto put) {
        return vmap(f, {.in_axes = {0, none, 2, 0}})(
            put(draw<float>(0, {3, 2, 9, 4, 8})), put(draw<float>(4, {2, 11, 2, 8})),
            put(draw<float>(7, {2, 11, 3, 2, 8})), put(Array<int>{{3, 4}, {11, 0}, {1, 9}}));
      },
      1e-5);
  const auto loss = [](const A& x, const A& y) {
    return A(sum(square(nn::dot_product_attention(x, y, sin(y), {.is_causal = true}))));
  };
  expect_same(
      [&](auto put) {
        const auto [gx, gy] =
            grad<0, 1>(loss)(put(draw<float>(0, {2, 9, 4, 8})), put(draw<float>(4, {2, 11, 2, 8})));
        return concatenate(std::vector<A>{gx.reshape({-1}), gy.reshape({-1})});
      },
      1e-4);
  expect_same(
      [&](auto put) {
        return vmap(grad(loss), {.in_axes = {0, none}})(put(draw<float>(0, {3, 2, 9, 4, 8})),
                                                        put(draw<float>(4, {2, 11, 2, 8})));
      },
      1e-4);
  expect_same(
      [&](auto put) {
        using H = Array<nax::half>;
        const auto of_half = [](const H& x) { return H(nn::dot_product_attention(x, x, x)); };
        return jacrev(of_half)(put(draw<nax::half>(0, {1, 3, 1, 2})));
      },
      2e-2);
  expect_same(
      [&](auto put) {
        const auto square_of = [](const A& x) {
          return A(sum(square(nn::dot_product_attention(x, x, sin(x)))));
        };
        return hessian(square_of)(put(draw<float>(0, {1, 3, 1, 2})));
      },
      1e-3);
  expect_same(
      [&](auto put) {
        const auto of_bias = [](const A& x, const A& bias) {
          return A(sum(square(nn::dot_product_attention(x, x, x, {.bias = bias}))));
        };
        return grad<1>(of_bias)(put(draw<float>(0, {1, 5, 2, 4})), put(draw<float>(6, {1, 2, 5, 5})));
      },
      1e-4);
  expect_same(
      [&](auto put) {
        const auto compiled = jit([](const A& x) { return A(nn::dot_product_attention(x, x, x)); });
        const A x = put(draw<float>(0, {2, 9, 4, 8}));
        compiled(x);
        return compiled(x + 1.f);
      },
      1e-5);
}

TEST(AttentionOnGpuLaunches, AreOne) {
  const auto put = [](const auto& x) { return device_put(eval(x), gpu()); };
  const auto one = [&]<class T>(std::type_identity<T>) {
    const Array<T> q = put(draw<T>(0, {2, 20, 4, 16})), k = put(draw<T>(3, {2, 30, 2, 16}));
    const Array<bool> mask = put(Array<bool>(draw<float>(3, {1, 1, 20, 30}) > 0.f));
    expect_launches(1, [&] { nn::dot_product_attention(q, k, k, {.mask = mask, .is_causal = true}); });
  };
  one(std::type_identity<float>());
  one(std::type_identity<nax::half>());
  one(std::type_identity<bfloat16>());
}

// One kernel for the queries' gradients, and one for those of keys and values.
TEST(AttentionOnGpuLaunches, OfGradientsAreTwo) {
  const auto two = [&]<class T>(std::type_identity<T>) {
    const auto put = [](const auto& x) { return device_put(eval(x), gpu()); };
    const Array<T> q = put(draw<T>(0, {2, 20, 4, 16})), k = put(draw<T>(3, {2, 30, 2, 16}));
    const auto [y, pull] = vjp(
        [](const Array<T>& a, const Array<T>& b, const Array<T>& c) {
          return Array<T>(nn::dot_product_attention(a, b, c, {.is_causal = true}));
        },
        q, k, k);
    expect_launches(2, [&, &pull = pull] { pull(q); });
  };
  two(std::type_identity<float>());
  two(std::type_identity<nax::half>());
  two(std::type_identity<bfloat16>());
}

// Heads of several examples of double are multiplied by one call.
TEST(AttentionOnGpuLaunches, OfDerivativesDoNotGrowWithHeads) {
#if defined(NAX_CUDA_EMULATED)
  using A = Array<double>;
  const auto launches = [](int batch, int heads) {
    const A x = device_put(eval(draw<double>(0, {batch, 40, heads, 8})), gpu());
    const std::int64_t before = nax::cuda::emulated_launches();
    grad([](const A& y) { return A(sum(nn::dot_product_attention(y, y, y))); })(x);
    return nax::cuda::emulated_launches() - before;
  };
  EXPECT_EQ(launches(7, 6), launches(4, 3));
#endif
}

}  // namespace attention_on_gpu_test
