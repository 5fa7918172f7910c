#include "both_devices.hpp"

// Fourier transforms of real arrays there and back: values, gradients, vmap and jit equal the CPU's.
namespace fft_test {

using namespace nax;
using namespace both_devices;

TEST(FftOnGpu, ThereAndBack) {
  for (const int n : {1, 2, 5, 8, 12}) {
    expect_same([&](auto put) { return fft::irfft(fft::rfft(put(waves(n))), {.n = n}); }, 1e-5);
    expect_same([&](auto put) { return fft::hfft(fft::ihfft(put(waves(n))), {.n = n}); }, 1e-5);
  }
  const Array<float> x = waves(120).reshape({4, 5, 6});
  for (const int axis : {0, 1, 2})
    expect_same(
        [&](auto put) {
          return fft::irfft(fft::fft(fft::rfft(put(x), {.axis = axis, .norm = "ortho"})),
                            {.n = 7, .axis = axis});
        },
        1e-5);
  expect_same([&](auto put) { return fft::irfft2(fft::rfft2(put(x)), {.s = {5, 6}}); }, 1e-5);
  expect_same([&](auto put) { return fft::irfftn(fft::ifftn(fft::rfftn(put(x), {.s = {3, 8, 6}}))); }, 1e-5);
}

TEST(FftOnGpu, Gradients) {
  const auto f = [](const Array<float>& x) {
    const Array<float> y = fft::irfft(fft::ifft(fft::rfft(x, {.axis = 0})), {.n = 5, .axis = 0});
    return sum(y * y * y);
  };
  const Array<float> x = waves(20).reshape({4, 5});
  expect_same([&](auto put) { return grad(f)(put(x)); }, 1e-5);
  expect_same(
      [&](auto put) { return grad([&](const Array<float>& v) { return sum(square(grad(f)(v))); })(put(x)); },
      1e-4);
  expect_same([&](auto put) { return vmap(grad(f))(put(waves(60).reshape({3, 4, 5}))); }, 1e-5);
}

TEST(FftOnGpu, Jit) {
  const auto f = [](const Array<float>& x) { return fft::irfft(fft::rfft(x * 2.f), {.n = 9}) + 1.f; };
  expect_same(
      [&](auto put) {
        const auto fast = jit([&](const Array<float>& x) { return Array<float>(f(x)); });
        fast(put(waves(9) + 1.f));
        return fast(put(waves(9)));
      },
      1e-5);
  expect_same(
      [&](auto put) {
        const auto fast = jit(grad([&](const Array<float>& x) { return sum(square(f(x))); }));
        fast(put(waves(9) + 1.f));
        return fast(put(waves(9)));
      },
      1e-5);
}

}  // namespace fft_test
