#include "both_devices.hpp"

// Complex numbers on a GPU compute in a type of nax's own (rules/complex_number.hpp): its functions next to
// std::complex's, which the CPU uses.
namespace complex_test {

using namespace nax;
using both_devices::expect_same;
using both_devices::gpu;

template <class R>
using Complex = Array<std::complex<R>>;

// Both parts, which expect_same can compare.
template <class R>
Array<R> parts(const Complex<R>& x) {
  return stack({real(x), imag(x)});
}

// Points in all quadrants, near 0 and 1, large ones, and ones on the axes with zeros of both signs.
template <class R>
Complex<R> points() {
  std::vector<std::complex<R>> values;
  for (const R size : {R(0.1), R(0.75), R(1.25), R(3), R(20)})
    for (int i = 0; i < 12; ++i) values.push_back(std::polar(size, R(0.3) + R(i) * R(0.5235)));
  for (const R a : {R(0.5), R(1.5), R(-0.5), R(-1.5)})
    for (const R zero : {R(0), R(-0.0)}) {
      values.emplace_back(a, zero);
      values.emplace_back(zero, a);
    }
  return asarray(values.data(), {static_cast<std::int64_t>(values.size())});
}

template <class R, class F>
void expect_same_function(const F& f, double tolerance) {
  expect_same([&](auto put) { return parts<R>(f(put(points<R>()))); }, tolerance);
}

template <class R>
void expect_same_functions(double tolerance){
#define SAME(f)                                                                                          \
  {                                                                                                      \
    SCOPED_TRACE(#f);                                                                                    \
    expect_same_function<R>([](const Complex<R>& x) { return f(x).template astype<std::complex<R>>(); }, \
                            tolerance);                                                                  \
  }
    SAME(exp) SAME(exp2) SAME(expm1) SAME(log) SAME(log2) SAME(log10) SAME(log1p) SAME(sqrt) SAME(square)
        SAME(sin) SAME(cos) SAME(tan) SAME(sinh) SAME(cosh) SAME(tanh) SAME(arcsin) SAME(arccos) SAME(arctan)
            SAME(arcsinh) SAME(arccosh) SAME(arctanh) SAME(reciprocal) SAME(negative) SAME(conj) SAME(sign)
                SAME(rint) SAME(abs) SAME(angle)
#undef SAME
}

TEST(ComplexOnGpu, FunctionsOfFloats) {
  expect_same_functions<float>(4e-6);
}
TEST(ComplexOnGpu, FunctionsOfDoubles) { expect_same_functions<double>(1e-13); }

TEST(ComplexOnGpu, ArithmeticOfBroadcastAndMixedOperands) {
  const auto all = [](const Complex<float>& x, const Complex<float>& y, const Array<float>& r) {
    const std::complex<float> i(0, 1);
    Complex<float> a = x * y + r, b = (x - 2.f) / (y + i) * r, c = power(x, y / 16.f), d = where(r > 0, a, b);
    return parts<float>(concatenate({a, b, c, d}));
  };
  const Complex<float> x = points<float>();
  const Array<float> r = both_devices::waves(static_cast<int>(x.size()));
  expect_same([&](auto put) { return all(put(x), put(flip(x)), put(r)); }, 1e-5);
  expect_same([&](auto put) { return all(put(x), put(x[3]) + put(x), put(r)); }, 1e-5);
  expect_same(
      [&](auto put) {
        return all(put(x)[slice(none, none, 2)], put(x)[slice(none, none, 2)], put(r)[slice(none, none, 2)]);
      },
      1e-5);
}

TEST(ComplexOnGpu, Predicates) {
  const Complex<float> x = points<float>();
  expect_same([&](auto put) { return Array<bool>((put(x) == put(flip(x))) | isfinite(put(x) / 0.f)); });
  expect_same([&](auto put) { return Array<bool>(isnan(put(x) / 0.f) != isinf(put(x) / 0.f)); });
  expect_same([&](auto put) { return Array<bool>(isclose(put(x), put(x) + 1e-6f)); });
  expect_same([&](auto put) { return allclose(put(x), put(x)); });
}

TEST(ComplexOnGpu, Conversions) {
  const Complex<float> x = points<float>();
  expect_same([&](auto put) { return parts<double>(put(x).template astype<std::complex<double>>()); });
  expect_same([&](auto put) { return put(x).template astype<double>(); });
  expect_same([&](auto put) { return put(x).template astype<bool>(); });
  expect_same(
      [&](auto put) { return parts<float>(put(arange(-3, 4)).template astype<std::complex<float>>()); });
  expect_same(
      [&](auto put) { return parts<float>(put(arange(5) > 2).template astype<std::complex<float>>()); });
}

TEST(ComplexOnGpu, SumsMeansAndScans) {
  const Complex<float> x = Complex<float>(points<float>() / 20.f)[slice(0, 60)].reshape({5, 4, 3});
  for (const int axis : {0, 1, 2}) {
    expect_same([&](auto put) { return parts<float>(sum(put(x), {.axis = axis})); }, 1e-5);
    expect_same([&](auto put) { return parts<float>(mean(put(x), {.axis = axis, .keepdims = true})); }, 1e-5);
    expect_same([&](auto put) { return parts<float>(cumsum(put(x), {.axis = axis})); }, 1e-5);
  }
  expect_same([&](auto put) { return parts<float>(sum(put(x))); }, 1e-5);
  expect_same([&](auto put) { return parts<float>(sum(put(x) * conj(put(x)))); }, 1e-5);
  expect_same([&](auto put) { return var(put(x)); }, 1e-5);
}

// Values, gradients, tangents and second derivatives; zeros among the factors, and lines in several chunks.
template <class R>
void expect_same_products(double tolerance) {
  const Complex<R> some = points<R>() / abs(points<R>());
  const Complex<R> x = Complex<R>(some[slice(0, 60)]).reshape({5, 4, 3}).at(1, 2, 0).set(std::complex<R>());
  for (const int axis : {0, 1, 2}) {
    SCOPED_TRACE(axis);
    expect_same([&](auto put) { return parts<R>(prod(put(x), {.axis = axis})); }, tolerance);
    expect_same([&](auto put) { return parts<R>(cumprod(put(x), {.axis = axis})); }, tolerance);
    const auto loss = [axis](const Complex<R>& z) -> Array<R> {
      return sum(square(abs(prod(z, {.axis = axis}) + R(2)))) + sum(real(cumprod(z, {.axis = axis}) * z));
    };
    expect_same([&](auto put) { return parts<R>(grad(loss)(put(x))); }, tolerance);
    expect_same([&](auto put) { return jvp(loss, std::tuple{put(x)}, std::tuple{put(flip(x))}).second; },
                tolerance);
    const auto slope = [&](const Complex<R>& z) -> Array<R> { return sum(real(grad(loss)(z) * conj(z))); };
    expect_same([&](auto put) { return parts<R>(grad(slope)(put(x))); }, 10 * tolerance);
    const auto of_row = [](const Complex<R>& z) { return prod(z); };
    expect_same([&](auto put) { return parts<R>(vmap(of_row, {.in_axes = {axis}})(put(x))); }, tolerance);
  }
  expect_same([&](auto put) { return parts<R>(prod(put(x))); }, tolerance);
  const Complex<R> row = tile(some, {600}), turned = row.reshape({12, -1}).at(3, 5).multiply(R(2));
  expect_same([&](auto put) { return parts<R>(prod(put(row))); }, 100 * tolerance);
  expect_same([&](auto put) { return parts<R>(cumprod(put(row))); }, 100 * tolerance);
  expect_same([&](auto put) { return parts<R>(cumprod(put(turned.T()), {.axis = 0})); }, 100 * tolerance);
}
TEST(ComplexOnGpu, ProductsOfElements) {
  expect_same_products<float>(2e-5);
  expect_same_products<double>(1e-13);
}

TEST(ComplexOnGpu, SelectionAndRearrangement) {
  const Complex<float> x = points<float>()[slice(0, 60)].reshape({12, 5});
  const Array<int> rows = {3, 3, 0, 11};
  expect_same([&](auto put) { return parts<float>(take(put(x), put(rows), {.axis = 0})); });
  expect_same([&](auto put) { return parts<float>(put(x).at(put(rows)).add(put(x)[slice(0, 4)])); }, 1e-6);
  expect_same([&](auto put) { return parts<float>(put(x).at(put(rows), 2).set(std::complex<float>(1, 2))); });
  expect_same([&](auto put) { return parts<float>(nax::sort(put(x), {.axis = 0})); });
  expect_same([&](auto put) { return parts<float>(roll(pad(transpose(put(x)), {1, 2}), 3)); });
}

TEST(ComplexOnGpu, Products) {
  const Complex<double> x = points<double>()[slice(0, 60)].reshape({3, 4, 5});
  expect_same([&](auto put) { return parts<double>(matmul(put(x), conj(swapaxes(put(x), 1, 2)))); }, 1e-12);
  expect_same([&](auto put) { return parts<double>(matmul(put(x)[0], put(x)[1][0])); }, 1e-12);
  expect_same([&](auto put) { return parts<double>(einsum("bij,bkj->ik", put(x), put(x))); }, 1e-12);
  const Complex<float> y = points<float>()[slice(0, 60)].reshape({12, 5});
  expect_same([&](auto put) { return parts<float>(outer(put(y)[0], put(y)[1])); }, 1e-5);
  expect_same([&](auto put) { return parts<float>(tensordot(put(y), put(y), {.axes = 2})); }, 1e-4);
}

// grad of a real function of complex numbers, tangents, and second derivatives.
TEST(ComplexOnGpu, Derivatives) {
  const Complex<double> x = points<double>()[slice(0, 40)];
  const auto f = [](const Complex<double>& z) -> Array<double> {
    Complex<double> w = exp(z / 10.) * sqrt(z) + conj(z) * z;
    return sum(abs(w) + real(w) * imag(z) + angle(z));
  };
  expect_same([&](auto put) { return parts<double>(grad(f)(put(x))); }, 1e-12);
  expect_same([&](auto put) { return jvp(f, std::tuple{put(x)}, std::tuple{put(flip(x))}).second; }, 1e-12);
  const auto g = [&](const Complex<double>& z) -> Array<double> { return sum(real(grad(f)(z) * conj(z))); };
  expect_same([&](auto put) { return parts<double>(grad(g)(put(x))); }, 1e-11);
  const auto holomorphic = [](const Complex<double>& z) { return sum(sin(z) * z); };
  expect_same(
      [&](auto put) {
        return parts<double>(std::get<0>(vjp(holomorphic, put(x)).second(std::complex<double>(1, 2))));
      },
      1e-10);
}

TEST(ComplexOnGpu, VmapAndJit) {
  const Complex<float> x = points<float>()[slice(0, 60)].reshape({12, 5});
  const auto f = [](const Complex<float>& z) -> Complex<float> {
    return sum(z * z, {.axis = -1}) + exp(z[0]);
  };
  expect_same([&](auto put) { return parts<float>(vmap(f)(put(x))); }, 1e-4);
  expect_same(
      [&](auto put) {
        auto fast = jit([&](const Complex<float>& z) { return vmap(f)(z); });
        fast(put(x));
        return parts<float>(fast(put(flip(x))));
      },
      1e-4);
}

}  // namespace complex_test
