#include "rows.hpp"

namespace bench {
namespace {

// A layer of ResNet-18, images of `size` pixels a side, batch 8, channels first: the value and both
// gradients.
Work convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t kernel,
                 std::int64_t stride) {
  const std::int64_t pad = kernel / 2, after = size / stride;
  const auto conv = [=](const Array<float>& x, const Array<float>& w) {
    return nax::lax::conv_general_dilated(x, w, {stride, stride}, {{pad, pad}, {pad, pad}});
  };
  return values_and_gradients(conv, uniform_array(3, {8, out, after, after}),
                              uniform_array(1, {8, in, size, size}),
                              uniform_array(2, {out, in, kernel, kernel}));
}

constexpr std::int64_t batch = 8, heads = 8, width = 64;
Array<float> heads_of(std::uint32_t seed, std::int64_t length = 256) {
  return uniform_array(seed, {batch, length, heads, width});
}

auto attention(const Array<float>& q, const Array<float>& k, const Array<float>& v) {
  return nax::nn::dot_product_attention(q, k, v);
}
auto causal_attention(const Array<float>& q, const Array<float>& k, const Array<float>& v) {
  return nax::nn::dot_product_attention(q, k, v, {.is_causal = true});
}

// A recurrent cell of 32 numbers over 1000 steps, and the gradient of what is left at the end.
auto recurrence(const Array<float>& w, const Array<float>& h, const Array<float>& xs) {
  const auto cell = [&](const Array<float>& state, const Array<float>& x) {
    const Array<float> next = nax::tanh(nax::matmul(state, w) + x);
    return std::pair{next, nax::none};
  };
  return nax::sum(nax::lax::scan(cell, h, xs).first);
}

template <class F>
Work scan_gradient(F f) {
  return calls([f, w = uniform_array(1, {32, 32}, -.2f, .2f), h = uniform_array(2, {32}),
                xs = uniform_array(3, {1000, 32})] { return f(w, h, xs); });
}

}  // namespace

Rows network_rows() {
  return {
      {"conv_64_56", [] { return convolution(64, 64, 56, 3, 1); }},
      {"conv_512_7", [] { return convolution(512, 512, 7, 3, 1); }},
      {"conv_128_28_stride_2", [] { return convolution(64, 128, 56, 3, 2); }},
      {"attention_8x8x256x64",
       [] {
         return calls([q = heads_of(1), k = heads_of(2), v = heads_of(3)] { return attention(q, k, v); });
       }},
      {"attention_gradient_8x8x256x64",
       [] { return values_and_gradients(attention, heads_of(4), heads_of(1), heads_of(2), heads_of(3)); }},
      {"attention_gradient_8x8x1024x64",
       [] {
         constexpr std::int64_t length = 1024;
         return values_and_gradients(attention, heads_of(4, length), heads_of(1, length), heads_of(2, length),
                                     heads_of(3, length));
       }},
      {"causal_attention_gradient_8x8x1024x64",
       [] {
         constexpr std::int64_t length = 1024;
         return values_and_gradients(causal_attention, heads_of(4, length), heads_of(1, length),
                                     heads_of(2, length), heads_of(3, length));
       }},
      {"scan_gradient_1000", [] { return scan_gradient(nax::grad(recurrence)); }},
      {"jit_scan_gradient_1000", [] { return scan_gradient(nax::jit(nax::grad(recurrence))); }},
  };
}

}  // namespace bench
