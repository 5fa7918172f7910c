// Fourier transforms by nax's code for cuFFT, on a stand-in of it (fft.cpp).

#include <complex>

#include "cuda/runtime/on_stand_in.hpp"

namespace fft_test {
using namespace on_stand_in;
using nax::ArrayBase, nax::Shape;
using nax::detail::HalfLines;

struct Fft : OnStandIn {};

template <class T>
std::vector<double> numbers(const Array<T>& x) {
  std::vector<double> out;
  for (const T& value : x.to_vector()) {
    out.push_back(static_cast<double>(std::real(value)));
    out.push_back(static_cast<double>(std::imag(value)));
  }
  return out;
}
template <class T>
Array<T> ramp(const Shape& shape) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    const double t = static_cast<double>(i);
    if constexpr (nax::is_complex_v<T>)
      values.push_back(
          T(static_cast<nax::real_t<T>>(std::sin(t)), static_cast<nax::real_t<T>>(std::cos(3 * t))));
    else
      values.push_back(static_cast<T>(std::sin(t)));
  }
  return nax::reshape(Array<T>(nax::array(values)), shape);
}

// f, a function of an array, gives on the GPU what it gives on the CPU.
template <class T, class F>
void expect_same(const char* what, const Array<T>& x, const F& f) {
  SCOPED_TRACE(what);
  const auto cpu = nax::devices("cpu")[0];
  nax::set_default_device(cpu);
  const auto want = f(nax::device_put(x, cpu));
  nax::set_default_device(nax::devices("cuda")[0]);
  const auto got = f(nax::device_put(x, nax::devices("cuda")[0]));
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape()));
  const auto a = numbers(got), b = numbers(want);
  const double bound = sizeof(nax::real_t<T>) == 4 ? 1e-4 : 1e-11;
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], bound) << "number " << i;
}

// The kinds of transform along an axis.
template <class R, class View>
void expect_kinds(const Shape& shape, std::int64_t axis, const View& view) {
  using C = std::complex<R>;
  const Array<C> z = ramp<C>(shape);
  const Array<R> x = ramp<R>(shape);
  namespace ft = nax::fft;
  expect_same("fft", z, [&](const Array<C>& v) { return ft::fft(view(v), {.axis = axis}); });
  expect_same("ifft", z, [&](const Array<C>& v) { return ft::ifft(view(v), {.axis = axis}); });
  expect_same("ortho", z,
              [&](const Array<C>& v) { return ft::ifft(view(v), {.axis = axis, .norm = "ortho"}); });
  expect_same("rfft", x,
              [&](const Array<R>& v) { return ft::rfft(view(v), {.axis = axis, .norm = "forward"}); });
  expect_same("ihfft", x, [&](const Array<R>& v) { return ft::ihfft(view(v), {.axis = axis}); });
  const std::int64_t places = view(z).shape(static_cast<int>(axis));
  if (places > 1) {
    expect_same("irfft", z, [&](const Array<C>& v) { return ft::irfft(view(v), {.axis = axis}); });
    expect_same("hfft", z, [&](const Array<C>& v) { return ft::hfft(view(v), {.axis = axis}); });
  }
  expect_same("odd irfft", z,
              [&](const Array<C>& v) { return ft::irfft(view(v), {.n = 2 * places - 1, .axis = axis}); });
}
template <class View>
void expect_both(const Shape& shape, std::int64_t axis, const View& view) {
  SCOPED_TRACE(nax::to_string(shape) + ", axis " + std::to_string(axis));
  expect_kinds<float>(shape, axis, view);
  expect_kinds<double>(shape, axis, view);
}

TEST_F(Fft, TransformsEveryAxis) {
  const auto same = [](const auto& x) { return x; };
  for (const Shape& shape : {Shape{8}, Shape{7}, Shape{1}, Shape{2, 3}, Shape{3, 4, 5}, Shape{2, 1, 3, 2}})
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis)
      expect_both(shape, axis, same);
}

TEST_F(Fft, TransformsViews) {
  using nax::slice;
  expect_both({4, 6}, 1, [](const auto& x) { return nax::swapaxes(x, 0, 1); });
  expect_both({3, 4, 5}, 1, [](const auto& x) { return nax::transpose(x, {.axes = {2, 0, 1}}); });
  expect_both({5, 9}, 1, [](const auto& x) { return x(nax::_, slice(1, 8, 2)); });
  expect_both({5, 9}, 1, [](const auto& x) { return x(nax::_, slice(1, nax::none)); });
  expect_both({4, 6}, 1, [](const auto& x) { return nax::flip(x, {.axis = 1}); });
  expect_both({4, 6}, 0, [](const auto& x) { return nax::flip(x, {.axis = 1}); });
  expect_both({1, 6}, 1, [](const auto& x) { return nax::broadcast_to(x, {5, 6}); });
  expect_both({6, 1}, 1, [](const auto& x) { return nax::broadcast_to(x, {6, 5}); });
}

TEST_F(Fft, CutsOffAndFillsUp) {
  const Array<std::complex<float>> z = ramp<std::complex<float>>({3, 5});
  for (const std::int64_t n : {1, 3, 5, 8}) {
    expect_same("n", z, [&](const auto& v) { return nax::fft::fft(v, {.n = n}); });
    expect_same("n, axis 0", z, [&](const auto& v) { return nax::fft::ifft(v, {.n = n, .axis = 0}); });
  }
  expect_same("2", z, [&](const auto& v) { return nax::fft::fft2(v, {.s = {4, 4}}); });
}

// The transposes of half transforms.
TEST_F(Fft, AdjustsHalves) {
  using C = std::complex<double>;
  nax::cpu::provide<nax::cpu::FftKernel, double>();  // as the typed functions do
  for (const std::int64_t n : {1, 2, 5, 6}) {
    expect_same("from real", ramp<double>({3, n}), [&](const Array<double>& x) {
      return nax::detail::typed<C>(
          nax::detail::lines_from_real(static_cast<const ArrayBase&>(x), 1, 0.5, HalfLines{2, true}));
    });
    expect_same("to real", ramp<C>({n / 2 + 1, 3}), [&](const Array<C>& x) {
      return nax::detail::typed<double>(
          nax::detail::lines_to_real(static_cast<const ArrayBase&>(x), 0, n, 0.5, HalfLines{0.5, true}));
    });
  }
}

// ---- plans

TEST_F(Fft, KeepsPlans) {
  const Array<float> x = there(nax::ones<float>({3, 10}));
  nax::fft::rfft(x).to_vector();
  const long before = stand_in::fft_plans();
  for (int i = 0; i < 5; ++i) nax::fft::rfft(x + static_cast<float>(i)).to_vector();
  in_thread([&] { nax::fft::rfft(x).to_vector(); });
  EXPECT_EQ(stand_in::fft_plans(), before);
}

// Plans are dropped while calls that use them wait in their streams.
TEST_F(Fft, BoundsItsPlans) {
  const Array<float> x = there(nax::ones<float>({400}));
  std::vector<Array<std::complex<float>>> results;
  for (std::int64_t n = 2; n < 360; ++n) {
    results.push_back(nax::fft::rfft(x(nax::slice(0, n))));
    ASSERT_LE(stand_in::fft_plans(), 256);
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_NEAR(results[i].to_vector()[0].real(), static_cast<double>(i + 2), 1e-3);
}

// A graph's plan outlives its place among the kept ones.
TEST_F(Fft, GraphsHoldTheirPlans) {
  const Array<float> x = there(nax::arange<float>(101));
  const auto f =
      nax::jit([](const Array<float>& v) { return nax::fft::irfft(nax::fft::rfft(v * 2.f), {.n = 101}); });
  const auto expect = [&](float factor) {
    const std::vector<float> got = f(x * factor).to_vector();
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], 2 * factor * static_cast<float>(i), 1e-3 * static_cast<double>(factor));
  };
  expect(1);
  expect(1);  // recorded
  const Array<float> other = there(nax::ones<float>({400}));
  for (std::int64_t n = 2; n < 300; ++n) nax::fft::rfft(other(nax::slice(0, n)));
  expect(2);
  expect(3);
}

// Threads set the stream and the work area of one plan.
TEST_F(Fft, ThreadsShareAPlan) {
  const Array<float> x = there(nax::arange<float>(33));
  const std::vector<double> want = numbers(nax::fft::rfft(x));
  std::vector<std::vector<double>> got(4);
  std::vector<std::thread> threads;
  for (auto& result : got)
    threads.emplace_back([&] {
      nax::set_default_device(gpu());
      for (int i = 0; i < 20; ++i) result = numbers(nax::fft::rfft(x));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : got) EXPECT_EQ(result, want);
}

TEST_F(Fft, RunsOnEachDevice) {
  for (int d = 0; d < 2; ++d) {
    const Array<float> x = there(nax::ones<float>({6}), d);
    const auto y = nax::fft::rfft(x);
    EXPECT_EQ(y.device(), gpu(d));
    EXPECT_NEAR(y.to_vector()[0].real(), 6, 1e-6);
  }
}

// ---- errors

// Each call fails once, those of cuFFT among them.
TEST_F(Fft, FailuresOfAnyCall) {
  std::int64_t n = 50;
  const auto program = [&] {
    const Array<float> x = there(nax::ones<float>({3, n}));
    return nax::fft::rfft(x, {.axis = 0}).to_vector()[0].real();
  };
  program();
  stand_in::fail_at(-1, cudaSuccess);
  ++n;
  program();
  const long calls = stand_in::calls();
  int threw = 0;
  for (long k = 0; k < calls; ++k) {
    ++n;  // a plan that is not there yet
    stand_in::fail_at(k, cudaErrorUnknown);
    try {
      program();
    } catch (const nax::DeviceError&) {
      ++threw;
    }
    stand_in::fail_at(-1, cudaSuccess);
  }
  EXPECT_GT(threw, 5);
  EXPECT_NEAR(program(), 3, 1e-6);
}

TEST_F(Fft, ErrorsNameTheCallAndTheCode) {
  std::set<std::string> seen;
  for (long k = 0; k < 40; ++k) {
    const Array<float> x = there(nax::ones<float>({2, 600 + k}));
    x.to_vector();
    stand_in::fail_at(k, cudaErrorUnknown);
    try {
      nax::fft::rfft(x);
    } catch (const nax::DeviceError& error) {
      const std::string text = error.what();
      if (text.rfind("cufft", 0) == 0) {
        seen.insert(text.substr(0, text.find(':')));
        EXPECT_NE(text.find(": CUFFT_INTERNAL_ERROR (5): 2 transforms of length " + std::to_string(600 + k)),
                  std::string::npos)
            << text;
      }
    }
    stand_in::fail_at(-1, cudaSuccess);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"cufftCreate", "cufftExecR2C", "cufftMakePlanMany64",
                                         "cufftSetAutoAllocation", "cufftSetStream", "cufftSetWorkArea"}));
}

// nax's pool gives back what it caches where cuFFT finds no memory.
TEST_F(Fft, ReleasesMemoryForPlans) {
  const Array<float> x = there(nax::ones<float>({2, 700}));
  x.to_vector();
  int passed = 0;
  for (long k = 0; k < 10; ++k) {
    stand_in::fail_at(k, cudaErrorMemoryAllocation);
    try {
      nax::fft::rfft(x(nax::_, nax::slice(0, 650 + k))).to_vector();
      ++passed;
    } catch (const nax::DeviceError&) {
    }
    stand_in::fail_at(-1, cudaSuccess);
  }
  EXPECT_GT(passed, 0);
}

}  // namespace fft_test
