#pragma once

#include "device/on_device.hpp"

namespace on_device {

using Expressions = OnDevice;

template <class X, class Y, class Z>
auto chain(const X& x, const Y& y, const Z& z) {
  return nax::tanh(x * y + 0.5f) * z - nax::exp(x);
}

// Compares the value and all gradients on both devices, for operands of any layout.
inline void expect_alike(const Array<float>& x, const Array<float>& y, const Array<float>& z,
                         const Array<float>& x_there, const Array<float>& y_there,
                         const Array<float>& z_there) {
  const auto host = nax::devices()[0];
  EXPECT_TRUE(compare::close(nax::device_put(Array<float>(chain(x_there, y_there, z_there)), host),
                             Array<float>(chain(x, y, z)), 1e-5));
  const auto f = [](const Array<float>& a, const Array<float>& b, const Array<float>& c) {
    const Array<float> v = chain(a, b, c);
    return nax::sum(v * v);
  };
  const auto want = nax::grad<0, 1, 2>(f)(x, y, z), got = nax::grad<0, 1, 2>(f)(x_there, y_there, z_there);
  EXPECT_TRUE(compare::close(nax::device_put(std::get<0>(got), host), std::get<0>(want), 1e-4));
  EXPECT_TRUE(compare::close(nax::device_put(std::get<1>(got), host), std::get<1>(want), 1e-4));
  EXPECT_TRUE(compare::close(nax::device_put(std::get<2>(got), host), std::get<2>(want), 1e-4));
}

TEST_F(Expressions, in_a_row) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 1023, 100000}) {
    const Array<float> x = numbers({n}), y = numbers({n}, 2), z = numbers({n}, 3);
    expect_alike(x, y, z, there(x), there(y), there(z));
    expect_alike(x, x, x, there(x), there(x), there(x));
  }
}

TEST_F(Expressions, broadcast_and_strided) {
  using nax::_, nax::slice;
  const Array<float> x = numbers({37, 41}), row = numbers({41}, 2), column = numbers({37, 1}, 3);
  const Array<float> x2 = there(x), row2 = there(row), column2 = there(column);
  expect_alike(x, row, column, x2, row2, column2);
  expect_alike(x.T(), column.T()(0), row.reshape({41, 1}), x2.T(), column2.T()(0), row2.reshape({41, 1}));
  expect_alike(x(_, slice(1, 40, 3)), x(_, slice(_, 13)), Array<float>(2.f), x2(_, slice(1, 40, 3)),
               x2(_, slice(_, 13)), there(Array<float>(2.f)));
}

// One operand of the row kernels is not aligned to 16 bytes, and those of 8 and 2 bytes have their own
// pieces.
TEST_F(Expressions, of_other_sizes) {
  const Array<float> x = numbers({1001}), x2 = there(x);
  EXPECT_TRUE(compare::close(back(Array<float>(x2(nax::slice(1, nax::_)) * 3.f)),
                             Array<float>(x(nax::slice(1, nax::_)) * 3.f), 0));
  const auto both = [&]<class T>(T) {
    const Array<T> a = numbers<T>({1003}), b = there(a);
    EXPECT_TRUE(compare::close(back(Array<T>(nax::sin(b) * b + b)), Array<T>(nax::sin(a) * a + a), 1e-2));
  };
  both(double());
  both(nax::half());
  both(nax::bfloat16());
  const Array<int> i = nax::arange<int>(1003) - 500;
  EXPECT_EQ(back(Array<bool>(there(i) % 7 == 3)).to_vector(), Array<bool>(i % 7 == 3).to_vector());
  EXPECT_EQ(back(there(i).astype<double>()).to_vector(), i.astype<double>().to_vector());
}

TEST_F(Expressions, reduced) {
  const Array<float> x = numbers({50, 60, 7}), y = there(x);
  for (const int axis : {0, 1, 2}) {
    EXPECT_TRUE(compare::close(back(Array<float>(nax::sum(y * y, {.axis = axis}))),
                               Array<float>(nax::sum(x * x, {.axis = axis})), 1e-5));
    EXPECT_TRUE(compare::close(back(nax::max(y, {.axis = axis})), nax::max(x, {.axis = axis}), 0));
    EXPECT_EQ(back(nax::argmax(y, {.axis = axis})).to_vector(), nax::argmax(x, {.axis = axis}).to_vector());
    EXPECT_TRUE(
        compare::close(back(nax::logsumexp(y, {.axis = axis})), nax::logsumexp(x, {.axis = axis}), 1e-5));
  }
  EXPECT_TRUE(compare::close(back(nax::mean(y)), nax::mean(x), 1e-5));
  const Array<float> once = back(nax::sum(y)), again = back(nax::sum(y));
  EXPECT_EQ(once.item(), again.item());
}

TEST_F(Expressions, under_transforms) {
  const Array<float> x = numbers({5, 6}), y = there(x);
  const auto f = [](const Array<float>& v) { return nax::sum(nax::tanh(v) * v * v); };
  EXPECT_TRUE(compare::close(back(nax::vmap(nax::grad(f))(y)), nax::vmap(nax::grad(f))(x), 1e-5));
  EXPECT_TRUE(compare::close(back(nax::hessian(f)(y(0))), nax::hessian(f)(x(0)), 1e-5));
  const auto [v, dv] = nax::jvp(f, std::tuple{y}, std::tuple{y});
  const auto [w, dw] = nax::jvp(f, std::tuple{x}, std::tuple{x});
  EXPECT_TRUE(compare::close(back(v), w, 1e-5));
  EXPECT_TRUE(compare::close(back(dv), dw, 1e-5));
}

}  // namespace on_device
