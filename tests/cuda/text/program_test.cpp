#include <gtest/gtest.h>

#include "nax/devices/cuda/text/text_kernel.hpp"
#include "nax/nax.hpp"

// Expressions on the emulated GPU in a file that is compiled without kernels for it: each runs by its text.
int texts_compiled();  // by the program's compiler of texts

namespace text_program_test {

using namespace nax;

Device gpu() { return devices("cuda")[0]; }

template <class T>
void expect_close(const Array<T>& ours, const Array<T>& cpus, const char* what) {
  ASSERT_EQ(ours.device(), gpu()) << what;
  ASSERT_EQ(ours.shape(), cpus.shape()) << what;
  const auto a = astype<double>(device_put(ours, devices("cpu")[0])).to_vector(),
             b = astype<double>(cpus).to_vector();
  const double part = sizeof(T) == 8 ? 1e-14 : sizeof(T) == 4 ? 1e-6 : std::is_same_v<T, half> ? 1e-3 : 8e-3;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(b[i]) && std::isnan(a[i]))) continue;
    ASSERT_NEAR(a[i], b[i], part * std::max(1.0, std::abs(b[i]))) << what << ", " << i;
  }
}

// f of the same arrays on both devices.
template <class F, class... X>
void compare(const char* what, const F& f, const X&... x) {
  const auto there = f(device_put(x, gpu())...);
  const auto here = f(x...);
  if constexpr (requires { std::get<0>(here); }) [&]<std::size_t... i>(std::index_sequence<i...>) {
      (expect_close(std::get<i>(there), std::get<i>(here), what), ...);
    }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(here)>>>());
  else expect_close(there, here, what);
}

template <class T = float>
Array<T> numbers(Shape shape, double first = -1.7) {
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size *= extent;
  return astype<T>(reshape(sin(linspace<double>(first, first + 9, size) * 3.1), shape));
}

TEST(TextProgram, TakesOperandsThatLieInAnyWay) {
  const auto f = [](const Array<float>& x, const Array<float>& y) -> Array<float> {
    return tanh(x) * y + 1.f - x / 3.f;
  };
  for (std::int64_t n : {1, 3, 4, 1000, 1003}) compare("rows", f, numbers({n}), numbers({n}, 2));
  compare("a row for all", f, numbers({7, 8}), numbers({8}, 2));
  compare("a column for all", f, numbers({7, 8}), numbers({7, 1}, 2));
  compare("an odd row", f, numbers({5, 7}), numbers({7}, 2));
  compare("numbers", f, numbers({}), numbers({}, 2));
  compare("a number", f, numbers({}), numbers({9, 4}, 2));
  compare("no elements", f, numbers({0, 3}), numbers({3}));
  const auto views = [&](const Array<float>& x, const Array<float>& y) {
    return f(transpose(x), y(slice(none, none, -1)));
  };
  compare("views", views, numbers({6, 5}), numbers({5, 6}, 2));
  const auto cubes = [&](const Array<float>& x, const Array<float>& y) {
    return f(transpose(x, {2, 0, 1}), y);
  };
  compare("three axes", cubes, numbers({4, 5, 8}), numbers({4, 1}, 2));
  const auto parts = [&](const Array<float>& x, const Array<float>& y) {
    return f(x(slice(0, 3), slice(1, 9)), y(slice(1, 4)));
  };
  compare("parts at odd addresses", parts, numbers({4, 9}), numbers({4, 8}, 2));
}

TEST(TextProgram, TakesAllFloatingTypes) {
  const auto f = [](const auto& x, const auto& y) {
    return std::remove_cvref_t<decltype(x)>(x * y - exp(x) / (y * y + 2));
  };
  compare("double", f, numbers<double>({101}), numbers<double>({101}, 2));
  compare("half", f, numbers<half>({101}), numbers<half>({101}, 2));
  compare("bfloat16", f, numbers<bfloat16>({101}), numbers<bfloat16>({101}, 2));
  const auto special = astype<half>(Array<float>{0.f, -0.f, 7e4f, -7e4f, 6e-8f, 1e-9f, 65504.f, NAN});
  compare(
      "halves of all sizes", [](const Array<half>& x) -> Array<half> { return x * half(1.5f); }, special);
  compare(
      "bfloat16s of all sizes",
      [](const Array<bfloat16>& x) -> Array<bfloat16> { return x * bfloat16(1.5f); },
      astype<bfloat16>(astype<float>(special)));
  compare(
      "truth", [](const Array<float>& x, const Array<float>& y) -> Array<bool> { return x < y * y; },
      numbers({50}), numbers({50}, 2));
  compare(
      "where",
      [](const Array<bool>& mask, const Array<float>& x) -> Array<float> { return where(mask, x * 2.f, -x); },
      Array<bool>(numbers({51}) > 0.f), numbers({51}, 2));
}

TEST(TextProgram, Differentiates) {
  const auto loss = [](const Array<float>& x, const Array<float>& y) {
    return sum(tanh(x * y) * x + where(x > 0.2f, sqrt(abs(y)), y) + x * x);
  };
  const auto both = grad<0, 1>(loss);
  compare("rows", both, numbers({37}), numbers({37}, 2));
  compare("a row for all", both, numbers({6, 8}), numbers({8}, 2));
  compare("a column for all", both, numbers({6, 8}), numbers({6, 1}, 2));
  compare("one array", grad([](const Array<float>& x) { return sum(x * x * exp(x) + x); }), numbers({40}));
  compare("a series", grad([](const Array<float>& x) { return sum(nax::special::gammaln(x * x + 0.5f)); }),
          numbers({40}));
  compare("half", grad([](const Array<half>& x) { return sum(x * tanh(x)); }), numbers<half>({40}));
  compare("second order", grad([](const Array<double>& x) {
            return sum(square(grad([](const Array<double>& v) { return sum(sin(v) * v); })(x)));
          }),
          numbers<double>({40}));
  compare(
      "forward mode",
      [&](const Array<float>& x, const Array<float>& t) {
        return jvp([](const Array<float>& v) -> Array<float> { return exp(v) * sin(v) + v; }, std::tuple(x),
                   std::tuple(t))
            .second;
      },
      numbers({40}), numbers({40}, 2));
}

TEST(TextProgram, RunsUnderVmapAndJit) {
  compare("vmap", vmap([](const Array<float>& x) -> Array<float> { return x * tanh(x) / sum(x * x + 1.f); }),
          numbers({5, 9}));
  const auto f = jit([](const Array<float>& x) -> Array<float> { return cos(x) * x + 2.f; });
  for (double first : {0.0, 1.0, 2.0}) compare("jit", f, numbers({33}, first));
}

TEST(TextProgram, ComputesInPlaceAndWithNumbersThatChange) {
  for (float rate : {0.1f, 0.2f})
    compare(
        "in place",
        [&](const Array<float>& x) {
          Array<float> y = x * 1.f;
          y += rate * sin(x);
          return y;
        },
        numbers({30}));
  for (int power : {2, 3, 5})
    compare(
        "powers", [&](const Array<float>& x) -> Array<float> { return nax::power(x, power) + x; },
        numbers({30}));
  const int before = texts_compiled();
  for (int i = 0; i < 10; ++i) {
    const Array<float> x = device_put(numbers({30}), gpu()), y = x * 1.f + float(i) * sin(x);
  }
  EXPECT_LE(texts_compiled() - before, 1);
}

template <class T>
Array<T> integers() {
  return astype<T>(
      Array<std::int64_t>{0, 1, 2, 5, -1, -7, 100, 127, -128, 30000, -32768, 2147483647, -2147483648});
}
template <class T>
void compare_integers(const char* what) {
  const Array<T> x = integers<T>(), y = x(slice(none, none, -1)) + T(3);
  const auto both = [&](auto f) { compare(what, f, x, y); };
  both([](const Array<T>& a, const Array<T>& b) -> Array<T> { return a + b * a - b; });
  both([](const Array<T>& a, const Array<T>& b) -> Array<T> { return a % b + floor_divide(a, b) * 2; });
  both([](const Array<T>& a, const Array<T>& b) -> Array<T> {
    return where(a < b, maximum(a, b), -minimum(a, abs(b)));
  });
  both([](const Array<T>& a, const Array<T>& b) -> Array<bool> {
    return logical_and(logical_or(a == b, a >= T(5)), logical_not(b != T(0)));
  });
  both([](const Array<T>& a, const Array<T>& b) -> Array<float> {
    return a.template astype<float>() / 3.f + b.template astype<float>();
  });
  compare(
      what, [](const Array<T>& a) -> Array<double> { return a * 0.5 + square(a.template astype<double>()); },
      x);
  const Array<float> reals =
      Array<float>{-1e30f, -300.5f, -1.5f, -0.f, 0.9f, 127.9f, 255.5f, 70000.f, 3e9f, 1e30f, NAN};
  compare(
      what, [](const Array<float>& a) -> Array<T> { return a.template astype<T>() + T(1); }, reals);
}
TEST(TextProgram, ComputesWithIntegers) {
  compare_integers<std::int8_t>("int8");
  compare_integers<std::uint8_t>("uint8");
  compare_integers<int>("int32");
  compare_integers<std::uint32_t>("uint32");
  compare_integers<std::int64_t>("int64");
  compare_integers<std::uint64_t>("uint64");
  compare(
      "half", [](const Array<int>& a) -> Array<half> { return a.astype<half>() * half(0.5f); },
      integers<int>());
}

TEST(TextProgram, TrainsALayer) {
  const auto losses = [](Device device) {
    const Array<float> x = device_put(numbers({32, 8}), device);
    const Array<int> labels = device_put(astype<int>(numbers({32}) > 0.f), device);
    Array<float> w = device_put(numbers({8, 2}, 1), device);
    const auto rule = optim::adam(0.1);
    auto state = rule.init(w);
    std::vector<float> all;
    for (int i = 0; i < 3; ++i) {
      const auto [loss, gradient] = value_and_grad([&](const Array<float>& v) {
        return mean(nn::softmax_cross_entropy_with_integer_labels(nn::relu(matmul(x, v)), labels));
      })(w);
      auto [updates, next] = rule.update(gradient, state, w);
      w = w + updates;
      state = next;
      all.push_back(loss.item());
      all.push_back(mean(astype<float>(argmax(matmul(x, w), {.axis = 1}) == labels)).item());
    }
    return all;
  };
  const std::vector<float> there = losses(gpu()), here = losses(devices("cpu")[0]);
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(there[i], here[i], 1e-5) << i;
  EXPECT_LT(there[4], there[0]);
}

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return {};
}
TEST(TextProgram, NamesWhatHasNoText) {
  const Array<float> x = device_put(numbers({5}), gpu());
  const Array<int> n = device_put(Array<int>{1, 2}, gpu());
  const std::string integers = message([&] { const Array<int> y = left_shift(n, n) + n; });
  EXPECT_NE(integers.find("has no kernel"), std::string::npos) << integers;
  const std::string function = message([&] { const Array<float> y = nax::special::erfcx(x) + 1.f; });
  EXPECT_NE(function.find("a function of lanes"), std::string::npos) << function;
  EXPECT_NE(function.find(".cu"), std::string::npos) << function;
  cuda::TextCompiler* const compiler = std::exchange(cuda::text_compiler, nullptr);
  const std::string none = message([&] { const Array<float> y = x * 3.f - 1.f; });
  cuda::text_compiler = compiler;
  EXPECT_NE(none.find("subtract: an expression on cuda:0"), std::string::npos) << none;
  EXPECT_NE(none.find("nax::nvrtc"), std::string::npos) << none;
}

}  // namespace text_program_test
