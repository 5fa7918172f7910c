#include <limits>

#include "both_devices.hpp"
#include "operations/launches.hpp"

// Normalised rows, variances and cross entropies on a GPU: values, gradients and launches.
namespace norms_on_gpu_test {

using namespace nax;
using namespace both_devices;

// Rows of one element, of several elements a thread, and of a block; 0 rows are empty arrays.
struct Size {
  int rows, n;
};
constexpr Size sizes[] = {{0, 7}, {4, 1}, {9, 8}, {3, 33}, {3, 1000}, {2, 5000}, {700, 3}};

template <class T>
Array<T> numbers(const Size& size, int first = 0) {
  const int count = size.rows * size.n;
  return (waves(first + count)(slice(first, first + count)) * 2.f + 0.3f)
      .template astype<T>()
      .reshape({size.rows, size.n});
}
template <class T>
Array<T> parameter(int n, int first) {
  return (waves(first + n)(slice(first, first + n)) + 0.5f).template astype<T>();
}

template <class T>
class NormsOnGpu : public testing::Test {
 public:
  static constexpr double tolerance = sizeof(T) == 8 ? 1e-11 : sizeof(T) == 4 ? 2e-4 : 4e-2;
};
using Types = testing::Types<float, double, nax::half, bfloat16>;
TYPED_TEST_SUITE(NormsOnGpu, Types);

// f(x, scale, bias) has the values and the gradients of the host's.
template <class T, class F>
void expect_alike(const F& f, const Size& size, double tolerance) {
  SCOPED_TRACE(size.n);
  expect_same(
      [&](auto put) {
        return f(put(numbers<T>(size)), put(parameter<T>(size.n, 5)), put(parameter<T>(size.n, 50)));
      },
      tolerance);
  const auto loss = [&](const Array<T>& x, const Array<T>& scale, const Array<T>& bias) {
    const Array<T> y = f(x, scale, bias);
    return Array<T>(sum(y * y * x));
  };
  const auto gradient = [&]<int which>(std::integral_constant<int, which>) {
    expect_same(
        [&](auto put) {
          return std::get<which>(grad<0, 1, 2>(loss)(put(numbers<T>(size)), put(parameter<T>(size.n, 5)),
                                                     put(parameter<T>(size.n, 50))));
        },
        tolerance * (1 + size.rows / 20));
  };
  gradient(std::integral_constant<int, 0>());
  gradient(std::integral_constant<int, 1>());
  gradient(std::integral_constant<int, 2>());
}

TYPED_TEST(NormsOnGpu, LayerNormIsTheHosts) {
  using A = Array<TypeParam>;
  for (const Size& size : sizes)
    expect_alike<TypeParam>(
        [](const A& x, const A& scale, const A& bias) { return A(nn::layer_norm(x, scale, bias)); }, size,
        this->tolerance);
}
TYPED_TEST(NormsOnGpu, RmsNormIsTheHosts) {
  using A = Array<TypeParam>;
  for (const Size& size : sizes)
    expect_alike<TypeParam>(
        [](const A& x, const A& scale, const A& bias) { return A(nn::rms_norm(x, scale) + bias); }, size,
        this->tolerance);
}
TYPED_TEST(NormsOnGpu, StandardizeAndVarianceAreTheHosts) {
  using A = Array<TypeParam>;
  for (const Size& size : sizes) {
    if (size.n == 1) continue;  // nothing but rounding
    expect_alike<TypeParam>(
        [](const A& x, const A& scale, const A& bias) { return A(nn::standardize(x) * scale + bias); }, size,
        this->tolerance);
    expect_same([&](auto put) { return var(put(numbers<TypeParam>(size)), {.axis = -1, .ddof = 1}); },
                this->tolerance);
  }
}
TYPED_TEST(NormsOnGpu, CrossEntropyIsTheHosts) {
  using A = Array<TypeParam>;
  const auto f = [](const A& x, const A& labels) {
    return A(nn::softmax_cross_entropy(x * TypeParam(3), labels));
  };
  for (const Size& size : sizes) {
    SCOPED_TRACE(size.n);
    const auto labels = [&] { return A(nn::softmax(numbers<TypeParam>(size, 100))); };
    expect_same([&](auto put) { return f(put(numbers<TypeParam>(size)), put(labels())); }, this->tolerance);
    const auto squares = [&](const A& x, const A& y) { return A(sum(square(f(x, y)))); };
    const auto average = [&](const A& x, const A& y) { return A(mean(f(x, y))); };
    const auto check = [&](const auto& loss) {
      expect_same([&](auto put) { return grad(loss)(put(numbers<TypeParam>(size)), put(labels())); },
                  this->tolerance);
      expect_same([&](auto put) { return grad<1>(loss)(put(numbers<TypeParam>(size)), put(labels())); },
                  this->tolerance);
    };
    check(squares);
    if (size.rows > 0) check(average);
  }
}

// Rows that are cut into parts, of pieces and others.
template <class T>
class LongRowsOnGpu : public NormsOnGpu<T> {};
using LongTypes = testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(LongRowsOnGpu, LongTypes);
constexpr Size long_sizes[] = {{3, 20000}, {2, 16401}, {1, 16388}};

TYPED_TEST(LongRowsOnGpu, HaveTheHostsNorms) {
  using A = Array<TypeParam>;
  for (const Size& size : long_sizes) {
    expect_alike<TypeParam>(
        [](const A& x, const A& scale, const A& bias) { return A(nn::layer_norm(x, scale, bias)); }, size,
        this->tolerance);
    expect_alike<TypeParam>(
        [](const A& x, const A& scale, const A& bias) { return A(nn::rms_norm(x, scale) + bias); }, size,
        this->tolerance);
    expect_alike<TypeParam>(
        [](const A& x, const A& scale, const A& bias) { return A(nn::standardize(x) * scale + bias); }, size,
        this->tolerance);
    // Far from zero, where a sum of squares would lose its digits.
    expect_same(
        [&](auto put) { return var(put(A(numbers<TypeParam>(size) + TypeParam(1000))), {.axis = -1}); },
        this->tolerance);
  }
}
TYPED_TEST(LongRowsOnGpu, HaveTheHostsCrossEntropy) {
  using A = Array<TypeParam>;
  const TypeParam inf(std::numeric_limits<float>::infinity());
  const auto f = [](const A& x, const A& labels) { return A(nn::softmax_cross_entropy(x, labels)); };
  for (const Size& size : long_sizes) {
    const auto labels = [&] { return A(nn::softmax(numbers<TypeParam>(size, 100))); };
    const auto x = [&] { return A(numbers<TypeParam>(size) * TypeParam(3)); };
    expect_same([&](auto put) { return f(put(x()), put(labels())); }, this->tolerance);
    const auto loss = [&](const A& a, const A& b) { return A(sum(square(f(a, b)))); };
    expect_same([&](auto put) { return grad(loss)(put(x()), put(labels())); }, this->tolerance);
    // Logits that are infinite: without a label, with one, and a whole part of them.
    const auto odd = [&] { return A(x().at(0, slice(0, 9000)).set(-inf).at(size.rows - 1, 7).set(inf)); };
    expect_same([&](auto put) { return f(put(odd()), put(labels())); }, this->tolerance);
    const auto one = [&] {
      return A(nn::one_hot(Array<int>(arange<int>(size.rows) + 9500), size.n).template astype<TypeParam>());
    };
    expect_same([&](auto put) { return f(put(x()), put(one())); }, this->tolerance);
  }
}

// Shares of many runs of rows are joined by tiles.
TEST(NormsOnGpuOfManyRows, GradientsOfParametersAreTheHosts) {
  const auto loss = [](const Array<float>& x, const Array<float>& scale, const Array<float>& bias) {
    return Array<float>(sum(sin(nn::layer_norm(x, scale, bias)) * x) + sum(nn::rms_norm(x, scale) * x));
  };
  const Size size{3000, 40};
  const auto of = [&](auto put) {
    return grad<0, 1, 2>(loss)(put(numbers<float>(size)), put(parameter<float>(40, 5)),
                               put(parameter<float>(40, 50)));
  };
  expect_same([&](auto put) { return std::get<0>(of(put)); }, 1e-3);
  expect_same([&](auto put) { return std::get<1>(of(put)); }, 1e-3);
  expect_same([&](auto put) { return std::get<2>(of(put)); }, 1e-3);
}

TEST(NormsOnGpuUnderTransforms, AreTheHosts) {
  const auto norm = [](const Array<double>& x, const Array<double>& s, const Array<double>& b) {
    return Array<double>(nn::layer_norm(nn::rms_norm(x, s), s, b));
  };
  const auto entropy = [](const Array<double>& x, const Array<double>& y) {
    return Array<double>(nn::softmax_cross_entropy(x, Array<double>(nn::softmax(y))));
  };
  const Size size{3, 6};
  const auto x = [&] { return numbers<double>(size); };
  const auto s = [] { return parameter<double>(6, 5); };
  expect_same(
      [&](auto put) {
        return vmap(norm, {.in_axes = {0, none, none}})(put(x()), put(s()), put(s()));
      },
      1e-11);
  expect_same(
      [&](auto put) {
        const auto loss = [&](const Array<double>& row, const Array<double>& scale) {
          return Array<double>(sum(norm(row, scale, scale) * sin(row)));
        };
        return vmap(grad<1>(loss), {.in_axes = {0, none}})(put(x()), put(s()));
      },
      1e-10);
  expect_same(
      [&](auto put) {
        const Array<double> scale = put(s());
        return hessian([&](const Array<double>& row) {
          return Array<double>(sum(norm(row, scale, scale) * sin(row)) + entropy(row, scale));
        })(put(s()));
      },
      1e-9);
  expect_same([&](auto put) { return vmap(entropy)(put(x()), put(numbers<double>(size, 9))); }, 1e-11);
  expect_same(
      [&](auto put) {
        return jvp(entropy, std::tuple{put(x()), put(x())}, std::tuple{put(x()), put(x())}).second;
      },
      1e-10);
  expect_same([&](auto put) { return nn::layer_norm(put(x()).T().T(), put(s()), put(s())); }, 1e-11);
  expect_same(
      [&](auto put) {
        const Array<double> three = put(parameter<double>(3, 5));
        return grad([&](const Array<double>& a) {
          return Array<double>(sum(nn::layer_norm(a.T(), three, three) * cos(a.T())));
        })(put(x()));
      },
      1e-10);
}

// Half types take as many as float.
template <class T>
class NormsOnGpuLaunches : public testing::Test {};
using LaunchTypes = testing::Types<float, nax::half, bfloat16>;
TYPED_TEST_SUITE(NormsOnGpuLaunches, LaunchTypes);
TYPED_TEST(NormsOnGpuLaunches, OfValuesAndGradients) {
  using A = Array<TypeParam>;
  const auto put = [](const auto& x) { return device_put(eval(x), gpu()); };
  const Size size{60, 40};
  const A x = put(numbers<TypeParam>(size)), g = put(numbers<TypeParam>(size, 3)),
          scale = put(parameter<TypeParam>(40, 5)), bias = put(parameter<TypeParam>(40, 50));
  expect_launches(1, [&] { nn::softmax(x); });
  expect_launches(1, [&] { nn::log_softmax(x); });
  expect_launches(1, [&] { logsumexp(x, {.axis = -1}); });
  expect_launches(1, [&] { nn::layer_norm(x, scale, bias); });
  expect_launches(1, [&] { nn::rms_norm(x, scale); });
  expect_launches(1, [&] { nn::softmax_cross_entropy(x, g); });

  const auto [y, pull] =
      vjp([](const A& a, const A& s, const A& b) { return A(nn::layer_norm(a, s, b)); }, x, scale, bias);
  expect_launches(2, [&, &pull = pull] { pull(g); });
  const auto [z, pull_x] = vjp([&](const A& a) { return A(nn::layer_norm(a, scale, bias)); }, x);
  expect_launches(1, [&, &pull_x = pull_x] { pull_x(g); });
  const auto [r, pull_rms] = vjp([](const A& a, const A& s) { return A(nn::rms_norm(a, s)); }, x, scale);
  expect_launches(2, [&, &pull_rms = pull_rms] { pull_rms(g); });
  const auto [p, pull_softmax] = vjp([](const A& a) { return A(nn::softmax(a)); }, x);
  expect_launches(1, [&, &pull_softmax = pull_softmax] { pull_softmax(g); });
  const auto [l, pull_log] = vjp([](const A& a) { return A(nn::log_softmax(a)); }, x);
  expect_launches(1, [&, &pull_log = pull_log] { pull_log(g); });
  const auto [e, pull_entropy] = vjp([&](const A& a) { return A(nn::softmax_cross_entropy(a, g)); }, x);
  const A one_a_row = put(parameter<TypeParam>(60, 0));
  expect_launches(1, [&, &pull_entropy = pull_entropy] { pull_entropy(one_a_row); });
}

TEST(NormsOnGpuLaunchesOfFloat, OfSumsAndVariances) {
  const auto put = [](const auto& x) { return device_put(eval(x), gpu()); };
  using A = Array<float>;
  const A x = put(numbers<float>({60, 40})), many = put(waves(40000));
  expect_launches(1, [&] { nn::standardize(x); });
  expect_launches(1, [&] { var(x, {.axis = -1}); });
  expect_launches(1, [&] { sum(x); });
  expect_launches(1, [&] { sum(x, {.axis = 0}); });
  expect_launches(2, [&] { sum(many); });
  const auto [s, pull] = vjp([](const A& a) { return A(nn::standardize(a)); }, x);
  expect_launches(1, [&, &pull = pull] { pull(put(x)); });
}

// Statistics are float: means that a half type does not have, and epsilons that it rounds to 0.
TYPED_TEST(NormsOnGpuLaunches, StatisticsAreFloat) {
  using A = Array<TypeParam>;
  const auto put = [](const auto& x) { return device_put(eval(x), gpu()); };
  const A x = put((arange<float>(2048) * 0.f + 1000.f).template astype<TypeParam>().reshape({2, 1024}));
  const A y = x.at(0, 0).set(TypeParam(1008.f)), one = put(ones<TypeParam>({1024})),
          zero = put(zeros<TypeParam>({1024}));
  const A z = nn::layer_norm(y, one, zero);
  EXPECT_NEAR(static_cast<float>(z(0, 0).item()), 32.f, .2f);  // sqrt(1023)
  EXPECT_NEAR(static_cast<float>(z(0, 1).item()), -1.f / 32, 1e-3f);
  EXPECT_EQ(static_cast<float>(z(1, 5).item()), 0.f);
  EXPECT_NEAR(static_cast<float>(sum(nn::softmax(zero)).item()), 1.f, 1e-2f);
}
TYPED_TEST(NormsOnGpuLaunches, HaveDerivativesOfSecondOrder) {
  using A = Array<TypeParam>;
  const auto loss = [](const A& row, const A& scale) {
    const A y = nn::layer_norm(nn::rms_norm(row, scale), scale, scale);
    return A(sum(y * sin(row)) + nn::softmax_cross_entropy(row, nn::softmax(scale)));
  };
  const auto slope = [&](const A& row, const A& scale) { return A(sum(square(grad(loss)(row, scale)))); };
  expect_same(
      [&](auto put) { return grad(slope)(put(parameter<TypeParam>(6, 3)), put(parameter<TypeParam>(6, 5))); },
      sizeof(TypeParam) == 4 ? 1e-3 : .15);
}

#if defined(NAX_CUDA_EMULATED)
TEST(RowsOnGpuWithoutAKernel, Throw) {
  char none[8] = {};
  const auto run = [&](const ops::Rows& form) {
    backend::run(gpu(), form, {none, none, nullptr, nullptr, nullptr, none, nullptr, nullptr});
  };
  EXPECT_EQ(text_of<DeviceError>([&] {
              run({{static_cast<loops::RowFunction>(99), 1, 1}, DType::float32});
            }),
            "rows: function 99 has no kernel on cuda:0");
  EXPECT_EQ(text_of<DeviceError>([&] {
              run({{loops::RowFunction::softmax, 1, 1}, DType::int32});
            }),
            "softmax: rows of int32 have no kernel on cuda:0");
}
#endif

}  // namespace norms_on_gpu_test
