// Pooling, attention and activations: JAX's records and derivatives.

#include "nax/nn/activations.hpp"
#include "nax/nn/attention.hpp"
#include "nax/nn/batch_norm.hpp"
#include "nax/nn/pooling.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "table/harness.hpp"

namespace layers_test {
using namespace table;
using nax::Shape;
namespace nn = nax::nn;

Row of_conv(Row r) {
  r.difference = 1e-5;
  return with_ulps(256, from_suite("conv", std::move(r)));
}

template <class F>
std::vector<Row> extreme(const std::string& name, F f) {
  const auto pool = [&](const char* tag, Shape x, Shape window, nn::PoolOptions options) {
    return of_conv(row(name + tag, [=](const Operands& a) { return f(a[0], window, options); }, {{{x}}}));
  };
  return {pool(".2x2", {2, 4, 5, 3}, {2, 2}, {.strides = {2, 2}}),
          pool(".same", {1, 5, 4, 2}, {3, 2}, {.strides = {2, 1}, .padding = "SAME"}),
          pool(".overlapping", {1, 5, 4, 1}, {3, 3}, {})};
}
const bool max_pool = add(extreme("max_pool", NAX_FUNCTION(nn::max_pool)));
const bool min_pool = add(extreme("min_pool", NAX_FUNCTION(nn::min_pool)));
Row average(const char* tag, Shape x, Shape window, nn::AvgPoolOptions options) {
  return of_conv(row(std::string("avg_pool") + tag,
                     [=](const Operands& a) { return nn::avg_pool(a[0], window, options); }, {{{x}}}));
}
const bool avg_pool = add({average(".2x2", {2, 4, 5, 3}, {2, 2}, {.strides = {2, 2}}),
                           average(".same", {1, 5, 4, 2}, {3, 2}, {.strides = {2, 1}, .padding = "SAME"}),
                           average(".without_pad", {1, 5, 4, 2}, {3, 2},
                                   {.strides = {2, 1}, .padding = "SAME", .count_include_pad = false})});

// JAX takes the softmax in float, whatever the type.
Row in_float(Row r) { return with_ulps(1e10, of_conv(std::move(r))); }
using Attention = nn::AttentionOptions<double>;
Row attention(const char* tag, Shape q, Shape k, Attention options) {
  return in_float(row(std::string("attention") + tag,
                      [=](const Operands& a) { return nn::dot_product_attention(a[0], a[1], a[2], options); },
                      {{{q}, {k}, {k}}}));
}
const Shape q{2, 3, 4, 5}, k{2, 4, 2, 5};
const bool attention_rows =
    add({attention(".plain", {2, 3, 2, 5}, {2, 4, 2, 5}, {}), attention(".grouped", q, k, {}),
         attention(".single", {3, 2, 5}, {4, 2, 5}, {.scale = 0.5}),
         attention(".causal", q, k, {.is_causal = true}),
         attention(".window", q, k, {.local_window_size = nn::AttentionWindow(1, 0)}),
         in_float(row("attention.lengths",
                      [](const Operands& a) {
                        const nax::Array<int> queries = {2, 3}, keys = {4, 1};
                        return nn::dot_product_attention(
                            a[0], a[1], a[2], {.query_seq_lengths = queries, .key_value_seq_lengths = keys});
                      },
                      {{{q}, {k}, {k}}})),
         in_float(row("attention.bias",
                      [](const Operands& a) {
                        return nn::dot_product_attention(a[0], a[1], a[2], {.bias = a[3], .is_causal = true});
                      },
                      {{{q}, {k}, {k}, {{1, 4, 3, 4}}}}))});

Row elementwise(const char* name, Function f, double low, double high, Smooth smooth = Smooth::twice) {
  Row r = row(
      name, [f](const Operands& x) { return f(x); }, {{{{3, 5}, low, high}}}, smooth);
  return with_ulps(64, from_suite("conv", std::move(r)));
}
#define NAX_ACTIVATION(name, low, high, smooth) \
  elementwise(                                  \
      #name, [](const Operands& x) { return real_of(nn::name(x[0])); }, low, high, smooth)
const bool activations = add(
    {NAX_ACTIVATION(hard_sigmoid, -7, 7, Smooth::once), NAX_ACTIVATION(hard_silu, -7, 7, Smooth::once),
     NAX_ACTIVATION(mish, -7, 7, Smooth::twice), NAX_ACTIVATION(squareplus, -7, 7, Smooth::twice),
     NAX_ACTIVATION(sparse_plus, -7, 7, Smooth::once), NAX_ACTIVATION(sparse_sigmoid, -7, 7, Smooth::once),
     NAX_ACTIVATION(log1mexp, 0.1, 4, Smooth::twice)});
const bool halves = add(
    {of_conv(row("glu", [](const Operands& x) { return nn::glu(x[0]); }, {{{{3, 4}}}})),
     of_conv(row("glu.axis=0", [](const Operands& x) { return nn::glu(x[0], {.axis = 0}); }, {{{{4, 3}}}})),
     of_conv(row("logmeanexp", [](const Operands& x) { return nn::logmeanexp(x[0]); }, {{{{3, 4}}}})),
     of_conv(row("logmeanexp.axis=1",
                 [](const Operands& x) { return nn::logmeanexp(x[0], {.axis = 1, .keepdims = true}); },
                 {{{{3, 4}}}}))});

}  // namespace layers_test

#undef NAX_ACTIVATION
