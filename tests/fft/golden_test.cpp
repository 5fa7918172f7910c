// Transforms against NumPy's and JAX's, and the cotangents that JAX pulls through them.

#include <functional>
#include <nax/nax.hpp>

#include "elementwise/support.hpp"
#include "support/expect_close.hpp"

namespace golden_test {

using elementwise::array_of, elementwise::code, elementwise::numbers, elementwise::tolerance;
using nax::Array;
using Real = Array<double>;
using support::expect_close;
namespace ft = nax::fft;

template <class X, class F>
void check(const std::string& name, const F& f) {
  using Y = std::remove_cvref_t<decltype(f(std::declval<Array<X>>()))>;
  const std::string record = name + "/" + code<X>();
  const auto& all = golden::goldens("fft");
  if (!all.count(record + "/out")) return;
  const auto& want = golden::get("fft", record + "/out");
  const Array<X> x = array_of<X>(golden::get("fft", record + "/in0"));
  const Y y = f(x);
  using T = typename Y::value_type;
  EXPECT_EQ(y.shape(), nax::Shape(want.shape)) << record;
  EXPECT_EQ(want.dtype, code<T>()) << record;
  const double most = tolerance<T>(16) * 100;  // sums of up to a hundred numbers of size 2
  expect_close(record, numbers(y), want.values, most, 1);
  if (!all.count(record + "/pulled")) return;
  const Y g = array_of<T>(golden::get("fft", record + "/cotangent"));
  const auto [value, pull] = nax::vjp([&](const Array<X>& a) { return f(a); }, x);
  expect_close(record + " pulled", numbers(Array<X>(std::get<0>(pull(g)))),
               golden::get("fft", record + "/pulled").values, most, 1);
}
template <class F>
void of_complex(const std::string& name, const F& f) {
  ASSERT_TRUE(golden::goldens("fft").count(name + "/c128/out")) << name;
  check<std::complex<double>>(name, f);
  check<std::complex<float>>(name, f);
}
template <class F>
void of_real(const std::string& name, const F& f) {
  ASSERT_TRUE(golden::goldens("fft").count(name + "/f64/out")) << name;
  check<double>(name, f);
  check<float>(name, f);
}
#define OF(...) [](const auto& x) { return ft::__VA_ARGS__; }

TEST(Fft, OneAxis) {
  of_complex("fft", OF(fft(x)));
  of_real("fft.real", OF(fft(x)));
  of_complex("fft.n=5", OF(fft(x, {.n = 5})));
  of_complex("fft.n=11", OF(fft(x, {.n = 11})));
  of_complex("fft.axis=0.ortho", OF(fft(x, {.axis = 0, .norm = "ortho"})));
  of_complex("fft.axis=-2.forward", OF(fft(x, {.axis = -2, .norm = "forward"})));
  of_complex("fft.1", OF(fft(x)));
  of_complex("fft.empty", OF(fft(x)));
  of_complex("fft.67", OF(fft(x)));
  of_complex("ifft", OF(ifft(x)));
  of_complex("ifft.axis=1.forward", OF(ifft(x, {.axis = 1, .norm = "forward"})));
  of_complex("ifft.n=16.ortho", OF(ifft(x, {.n = 16, .norm = "ortho"})));
}

TEST(Fft, RealNumbers) {
  of_real("rfft", OF(rfft(x)));
  of_real("rfft.odd", OF(rfft(x)));
  of_real("rfft.n=7.axis=0", OF(rfft(x, {.n = 7, .axis = 0})));
  of_real("rfft.n=6.ortho", OF(rfft(x, {.n = 6, .norm = "ortho"})));
  of_real("rfft.1", OF(rfft(x)));
  of_real("rfft.2", OF(rfft(x)));
  of_complex("irfft", OF(irfft(x)));
  of_complex("irfft.n=9", OF(irfft(x, {.n = 9})));
  of_complex("irfft.n=4.axis=0.forward", OF(irfft(x, {.n = 4, .axis = 0, .norm = "forward"})));
  of_complex("irfft.n=20.ortho", OF(irfft(x, {.n = 20, .norm = "ortho"})));
  of_complex("hfft", OF(hfft(x)));
  of_complex("hfft.n=7.ortho", OF(hfft(x, {.n = 7, .norm = "ortho"})));
  of_real("ihfft", OF(ihfft(x)));
  of_real("ihfft.n=5.axis=0.forward", OF(ihfft(x, {.n = 5, .axis = 0, .norm = "forward"})));
}

TEST(Fft, SeveralAxes) {
  of_complex("fft2", OF(fft2(x)));
  of_complex("fft2.s=(3,8)", OF(fft2(x, {.s = {3, 8}})));
  of_complex("ifft2.axes=(0,2)", OF(ifft2(x, {.axes = {0, 2}})));
  of_real("rfft2", OF(rfft2(x)));
  of_complex("irfft2", OF(irfft2(x)));
  of_complex("irfft2.s=(5,7)", OF(irfft2(x, {.s = {5, 7}})));
  of_complex("fftn", OF(fftn(x)));
  of_complex("fftn.axes=(1,-1).ortho", OF(fftn(x, {.axes = {1, -1}, .norm = "ortho"})));
  of_complex("ifftn.s=(4,2)", OF(ifftn(x, {.s = {4, 2}, .axes = {0, 1}})));
  of_real("rfftn", OF(rfftn(x)));
  of_real("rfftn.axes=(2,0)", OF(rfftn(x, {.axes = {2, 0}})));
  of_complex("irfftn", OF(irfftn(x)));
  of_complex("irfftn.s=(4,9).forward", OF(irfftn(x, {.s = {4, 9}, .axes = {0, 1}, .norm = "forward"})));
}

TEST(Fft, Frequencies) {
  of_real("fftshift", OF(fftshift(x)));
  of_complex("fftshift.axes=1", OF(fftshift(x, {.axes = 1})));
  of_real("ifftshift", OF(ifftshift(x)));
  of_complex("ifftshift.axes=(0,)", OF(ifftshift(x, {.axes = {0}})));
  const auto same = [](const std::string& name, const Real& got) {
    const auto& want = golden::get("fft", name + "/f64");
    EXPECT_EQ(got.shape(), nax::Shape(want.shape)) << name;
    expect_close(name, numbers(got), want.values, 1e-15, 1e-9);
  };
  same("fftfreq.1", ft::fftfreq<double>(1));
  same("fftfreq.8", ft::fftfreq<double>(8, {.d = 0.1}));
  same("fftfreq.9", ft::fftfreq<double>(9, {.d = 2}));
  same("rfftfreq.1", ft::rfftfreq<double>(1));
  same("rfftfreq.8", ft::rfftfreq<double>(8, {.d = 0.1}));
  same("rfftfreq.9", ft::rfftfreq<double>(9, {.d = 2}));
  static_assert(std::is_same_v<decltype(ft::fftfreq(4)), Array<float>>);
}

}  // namespace golden_test

#undef OF
