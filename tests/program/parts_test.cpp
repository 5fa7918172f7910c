#include <gtest/gtest.h>

#include <nax/nax.hpp>

// Transforms, convolutions, windows and updates at repeated places as steps of a program.
namespace parts_test {
using namespace nax;
using D = Array<double>;

// f is called once, for the recording, and its program gives f's own numbers.
template <class Function>
void expect_recorded(const Function& f, const D& x, const D& y) {
  int calls = 0;
  const auto fast = jit([&](const D& v) { return ++calls, f(v); });
  for (const D& v : {x, y, x}) {
    const D got = fast(v), want = f(v);
    ASSERT_EQ(got.shape(), want.shape());
    const auto a = got.to_vector(), b = want.to_vector();
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12 * (1 + std::abs(b[i])));
  }
  EXPECT_EQ(calls, 1);
}
template <class Function>
void expect_all_recorded(const Function& f, const D& x, const D& y) {
  expect_recorded(f, x, y);
  expect_recorded([&](const D& v) { return grad([&](const D& u) { return sum(sin(f(u))); })(v); }, x, y);
}
D draw(int seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape); }

TEST(Parts, TransformsAreSteps) {
  const D x = draw(1, {3, 8}), y = draw(2, {3, 8});
  expect_all_recorded([](const D& v) { return D(real(fft::fft(v)) + imag(fft::fft(v, {.axis = 0}))(0, 0)); },
                      x, y);
  expect_all_recorded([](const D& v) { return fft::irfft(fft::rfft(v) * std::complex<double>(0, 1)); }, x, y);
  expect_all_recorded([](const D& v) { return D(abs(fft::ifft2(v))); }, x, y);
  expect_all_recorded([](const D& v) { return vmap([](const D& r) { return D(real(fft::rfft(r))); })(v); }, x,
                      y);
}

TEST(Parts, ConvolutionsAreSteps) {
  const D x = draw(3, {2, 6, 6, 3}), y = draw(4, {2, 6, 6, 3}), w = draw(5, {3, 3, 3, 4});
  const auto conv = [](const D& v, const D& k) {
    return lax::conv_general_dilated(v, k, {1, 1}, "SAME", {.dimension_numbers = {"NHWC", "HWIO", "NHWC"}});
  };
  expect_all_recorded([&](const D& v) { return conv(v, w); }, x, y);
  const D image = x;
  expect_all_recorded([&](const D& k) { return conv(image, k); }, w, draw(6, {3, 3, 3, 4}));
  // Each example with its own kernel: parts of a batch, which add up where the weights are shared.
  expect_all_recorded(
      [&](const D& v) { return vmap([&](const D& a) { return conv(expand_dims(a, 0), w); })(v); }, x, y);
  expect_all_recorded([](const D& v) { return nn::avg_pool(v, {2, 2}); }, x, y);
}

TEST(Parts, WindowsAreSteps) {
  const D x = draw(7, {2, 4, 4, 2}), y = draw(8, {2, 4, 4, 2});
  expect_all_recorded([](const D& v) { return nn::max_pool(v, {2, 2}, {.strides = {2, 2}}); }, x, y);
  expect_all_recorded([](const D& v) { return nn::min_pool(v, {3, 3}, {.padding = "SAME"}); }, x, y);
}

TEST(Parts, LabelsAndWeightedDrawsAreSteps) {
  const D x = draw(11, {4, 5}), y = draw(12, {4, 5});
  expect_recorded([](const D& v) { return nn::one_hot<double>(argmax(v, {.axis = 1}), 3, {.axis = 0}); }, x,
                  y);
  expect_recorded([](const D& v) { return D(random::categorical(random::key(1), v).astype<double>()); }, x,
                  y);
  for (const bool replace : {true, false})
    expect_recorded(
        [=](const D& v) {
          const Array<float> p = abs(v(0)).astype<float>();
          return D(random::choice(random::key(2), 5, {3}, {.replace = replace, .p = p}).astype<double>());
        },
        x, y);
}

TEST(Parts, IndicesOutOfRangeOfARecordingAreNamed) {
  const auto rows = jit([](const D& v, const Array<int>& i) { return v(i); });
  const D v = draw(13, {4, 2});
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(rows(v, Array<int>{3, -4}).shape(), (Shape{2, 2}));
    try {
      rows(v, Array<int>{1, 7});
      FAIL() << "no error";
    } catch (const IndexError& e) {
      EXPECT_EQ(std::string(e.what()), "index: index 7 is out of bounds for axis 0 with size 4");
    }
  }
}

TEST(Parts, UpdatesAtRepeatedPlacesAreSteps) {
  const D x = draw(9, {5}), y = draw(10, {5});
  const Array<int> places = {1, 3, 1, 0, 1};
  expect_all_recorded([&](const D& v) { return zeros<double>({4}).at(places).add(v); }, x, y);
  expect_all_recorded([&](const D& v) { return zeros<double>({4}).at(places).set(D(v * v)); }, x, y);
  expect_all_recorded([&](const D& v) { return ones<double>({4}).at(places).multiply(v); }, x, y);
  expect_all_recorded([&](const D& v) { return v.at(places).max(D(v * 0.5)); }, x, y);
  // Places that are arguments, and of each example.
  const auto f = [](const D& v, const Array<int>& at) { return v.at(at).set(D(at.astype<double>() * v)); };
  const auto slope = jit([&](const D& v, const Array<int>& at) {
    return grad([&](const D& u) { return sum(square(f(u, at))); })(v);
  });
  for (const Array<int>& at : {places, Array<int>{0, 0, 0, 0, 0}, Array<int>{4, 3, 2, 1, 0}})
    EXPECT_EQ(slope(x, at).to_vector(),
              grad([&](const D& u) { return sum(square(f(u, at))); })(x).to_vector());
}

TEST(Parts, ManyRepeatedPlacesAreCounted) {
  // How often a place may come up decides how many rounds there are: too many are not recorded.
  const Array<int> places = zeros<int>({40});
  const auto f = [&](const D& v) { return v.at(places).multiply(v); };
  EXPECT_THROW(make_program(f)(ones<double>({40})), DeviceError);
  EXPECT_EQ(jit(f)(full<double>({40}, 1.5)).to_vector(), f(full<double>({40}, 1.5)).to_vector());
}

}  // namespace parts_test
