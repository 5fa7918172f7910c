#include "rows.hpp"

namespace bench {
namespace {

Work product(const nax::Shape& a, const nax::Shape& b) {
  const auto x = uniform_array(1, a), y = uniform_array(2, b);
  return calls([=] { return nax::matmul(x, y); });
}

// Of bfloat16; the result is cast to float.
Work half_product(const nax::Shape& a, const nax::Shape& b) {
  const auto x = uniform_array(1, a).astype<nax::bfloat16>(), y = uniform_array(2, b).astype<nax::bfloat16>();
  return calls([=] { return nax::matmul(x, y).astype<float>(); });
}

// The product, and both gradients of a cotangent that is given.
Work gradients(std::int64_t m, std::int64_t k, std::int64_t n) {
  const auto x = uniform_array(1, {m, k}), y = uniform_array(2, {k, n}), g = uniform_array(3, {m, n});
  return calls([=] {
    auto [value, pullback] =
        nax::vjp([](const Array<float>& a, const Array<float>& b) { return nax::matmul(a, b); }, x, y);
    return std::pair{value, pullback(g)};
  });
}

}  // namespace

Rows matmul_rows() {
  return {
      {"matmul_128x784x1024",
       [] {
         return product({128, 784}, {784, 1024});
       }},
      {"matmul_1024",
       [] {
         return product({1024, 1024}, {1024, 1024});
       }},
      {"matmul_bfloat16_1024",
       [] {
         return half_product({1024, 1024}, {1024, 1024});
       }},
      {"matmul_batched_64x128",
       [] {
         return product({64, 128, 128}, {64, 128, 128});
       }},
      {"matmul_and_gradients_128x784x1024", [] { return gradients(128, 784, 1024); }},
  };
}

}  // namespace bench
