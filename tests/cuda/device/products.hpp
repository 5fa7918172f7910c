#pragma once

#include "device/on_device.hpp"

namespace on_device {

using Products = OnDevice;

template <class T>
void expect_product(const Array<T>& a, const Array<T>& b, const Device device, double tolerance) {
  const Array<T> want = nax::matmul(a, b);
  const Array<T> got = nax::matmul(nax::device_put(a, device), nax::device_put(b, device));
  EXPECT_EQ(got.device(), device);
  EXPECT_TRUE(compare::close(nax::device_put(got, nax::devices()[0]), want, tolerance))
      << nax::to_string(a.shape()) << " x " << nax::to_string(b.shape());
}

TEST_F(Products, of_all_floating_types) {
  expect_product(numbers<float>({33, 70}), numbers<float>({70, 19}, 2), gpu(), 1e-5);
  expect_product(numbers<double>({33, 70}), numbers<double>({70, 19}, 2), gpu(), 1e-13);
  expect_product(numbers<nax::half>({33, 70}), numbers<nax::half>({70, 19}, 2), gpu(), 2e-3);
  expect_product(numbers<nax::bfloat16>({33, 70}), numbers<nax::bfloat16>({70, 19}, 2), gpu(), 2e-2);
}

TEST_F(Products, of_integers) {
  const Array<int> a = nax::arange<int>(6).reshape({2, 3}), b = nax::arange<int>(12).reshape({3, 4});
  EXPECT_EQ(back(nax::matmul(there(a), there(b))).to_vector(), nax::matmul(a, b).to_vector());
}

// Transposed, sliced, flipped and broadcast operands; each on either side.
TEST_F(Products, of_any_strides) {
  using nax::_, nax::slice;
  const Array<float> x = numbers({40, 40}), y = there(x);
  const auto views = [](const Array<float>& m) {
    return std::vector<Array<float>>{m,
                                     m.T(),
                                     m(slice(0, 20), slice(3, 23)),
                                     m(slice(0, 20), slice(3, 23)).T(),
                                     m(slice(_, _, 2), slice(_, _, 2)),
                                     m(slice(_, _, -1)),
                                     m(_, slice(_, _, -1)).T(),
                                     nax::broadcast_to(m(0), {40, 40}),
                                     nax::broadcast_to(m(0), {40, 40}).T(),
                                     m(slice(0, 1)),
                                     m(_, slice(1, 2))};
  };
  const auto on_host = views(x), on_gpu = views(y);
  for (std::size_t i = 0; i < on_host.size(); ++i)
    for (std::size_t j = 0; j < on_host.size(); ++j) {
      if (on_host[i].shape(1) != on_host[j].shape(0)) continue;
      EXPECT_TRUE(compare::close(back(nax::matmul(on_gpu[i], on_gpu[j])),
                                 Array<float>(nax::matmul(on_host[i], on_host[j])), 1e-5))
          << i << " x " << j;
    }
}

TEST_F(Products, of_batches) {
  expect_product(numbers({5, 6, 7}), numbers({5, 7, 8}, 2), gpu(), 1e-5);
  expect_product(numbers({5, 6, 7}), numbers({7, 8}, 2), gpu(), 1e-5);
  expect_product(numbers({6, 7}), numbers({5, 7, 8}, 2), gpu(), 1e-5);
  expect_product(numbers({3, 1, 6, 7}), numbers({2, 7, 8}, 2), gpu(), 1e-5);
  expect_product(numbers({7}), numbers({4, 7, 8}, 2), gpu(), 1e-5);
}

TEST_F(Products, have_gradients) {
  const Array<float> a = numbers({4, 6, 7}), b = numbers({7, 5}, 2);
  const auto f = [](const Array<float>& x, const Array<float>& w) {
    return nax::sum(nax::tanh(nax::matmul(x, w)));
  };
  const auto [ga, gb] = nax::grad<0, 1>(f)(a, b);
  const auto [da, db] = nax::grad<0, 1>(f)(there(a), there(b));
  EXPECT_TRUE(compare::close(back(da), ga, 1e-5));
  EXPECT_TRUE(compare::close(back(db), gb, 1e-5));
}

// Full precision by default: with TF32 the error would be a thousand times as large.
TEST_F(Products, are_of_full_precision_by_default) {
  const Array<float> a = numbers({128, 512}), b = numbers({512, 128}, 2);
  const Array<double> exact = nax::matmul(a.astype<double>(), b.astype<double>());
  const auto error = [&] {
    const Array<double> difference = back(nax::matmul(there(a), there(b))).astype<double>() - exact;
    return nax::max(nax::abs(difference)).item();
  };
  EXPECT_EQ(nax::matmul_precision(), "float32");
  EXPECT_LT(error(), 1e-4);
  nax::set_matmul_precision("tensorfloat32");
  EXPECT_EQ(nax::matmul_precision(), "tensorfloat32");
  EXPECT_LT(error(), 1e-1);
  nax::set_matmul_precision("highest");
  EXPECT_LT(error(), 1e-4);
  EXPECT_THROW(nax::set_matmul_precision("tf32"), nax::ValueError);
}

}  // namespace on_device
