// Convolutions and windows: JAX's records, derivatives to second order, hidden axes on either operand.

#include "nax/lax.hpp"
#include "table/harness.hpp"

namespace lax_conv_test {
using namespace table;
using nax::Shape;
namespace lax = nax::lax;

Row of_conv(Row r) {
  r.difference = 1e-5;
  return with_ulps(256, from_suite("conv", std::move(r)));
}

const lax::DimensionNumbers nhwc{"NHWC", "HWIO", "NHWC"};
Row conv(const char* name, Shape x, Shape w, Shape strides, lax::Padding padding,
         lax::ConvOptions options = {}) {
  return of_conv(
      row(std::string("conv_general_dilated.") + name,
          [=](const Operands& a) { return lax::conv_general_dilated(a[0], a[1], strides, padding, options); },
          {{{x}, {w}}}));
}

const bool plain = add({
    conv("valid", {2, 5, 6, 3}, {3, 2, 3, 4}, {1, 1}, "VALID", {.dimension_numbers = nhwc}),
    conv("same", {2, 5, 6, 3}, {3, 2, 3, 4}, {1, 1}, "SAME", {.dimension_numbers = nhwc}),
    conv("same.strides", {1, 7, 6, 2}, {3, 3, 2, 3}, {2, 3}, "SAME", {.dimension_numbers = nhwc}),
    conv("same_lower", {1, 6, 6, 1}, {2, 4, 1, 2}, {1, 2}, "SAME_LOWER", {.dimension_numbers = nhwc}),
    conv("explicit", {1, 4, 5, 2}, {3, 3, 2, 2}, {1, 2}, {{2, 1}, {0, 3}}, {.dimension_numbers = nhwc}),
    conv("negative", {1, 6, 6, 2}, {2, 2, 2, 2}, {1, 1}, {{-1, 2}, {1, -2}}, {.dimension_numbers = nhwc}),
    conv("rhs_dilation", {1, 7, 8, 2}, {3, 2, 2, 2}, {1, 1}, "VALID",
         {.rhs_dilation = {2, 3}, .dimension_numbers = nhwc}),
    conv("lhs_dilation", {1, 4, 3, 2}, {3, 3, 2, 2}, {1, 2}, {{1, 2}, {2, 1}},
         {.lhs_dilation = {2, 3}, .dimension_numbers = nhwc}),
    conv("both_dilations", {1, 4, 5, 2}, {2, 2, 2, 3}, {2, 1}, {{1, 1}, {1, 0}},
         {.lhs_dilation = {2, 2}, .rhs_dilation = {2, 3}, .dimension_numbers = nhwc}),
    conv("groups", {2, 5, 5, 4}, {3, 3, 2, 6}, {1, 1}, "SAME",
         {.dimension_numbers = nhwc, .feature_group_count = 2}),
    conv("depthwise", {2, 5, 5, 3}, {3, 3, 1, 3}, {2, 1}, "SAME",
         {.dimension_numbers = nhwc, .feature_group_count = 3}),
    conv("multiplier", {2, 5, 5, 3}, {3, 3, 1, 6}, {2, 1}, "SAME",
         {.dimension_numbers = nhwc, .feature_group_count = 3}),
    conv("batch_groups", {4, 5, 5, 2}, {3, 3, 2, 4}, {1, 1}, "SAME",
         {.dimension_numbers = nhwc, .batch_group_count = 2}),
    conv("pointwise", {2, 3, 4, 3}, {1, 1, 3, 5}, {1, 1}, "VALID", {.dimension_numbers = nhwc}),
    conv("pointwise.strides", {2, 5, 4, 3}, {1, 1, 3, 5}, {2, 2}, "VALID", {.dimension_numbers = nhwc}),
    conv("nchw", {2, 3, 5, 4}, {4, 3, 3, 2}, {1, 2}, "SAME"),
    conv("mixed", {3, 5, 2, 4}, {2, 3, 4, 3}, {1, 1}, "SAME",
         {.dimension_numbers = {"HWNC", "OHIW", "CNWH"}}),
    conv("1d", {2, 3, 9}, {4, 3, 3}, {2}, "SAME"),
    conv("1d.nhc", {2, 9, 3}, {3, 3, 4}, {2}, "VALID",
         {.rhs_dilation = {2}, .dimension_numbers = {"NHC", "HIO", "NHC"}}),
    conv("3d", {1, 2, 4, 3, 4}, {2, 2, 2, 3, 2}, {1, 2, 1}, "SAME"),
    conv("3d.groups", {1, 3, 3, 3, 4}, {2, 2, 2, 2, 4}, {1, 1, 2}, "VALID",
         {.dimension_numbers = {"NDHWC", "DHWIO", "NDHWC"}, .feature_group_count = 2}),
    conv("large_window", {1, 2, 2, 2}, {3, 3, 2, 2}, {1, 1}, "VALID", {.dimension_numbers = nhwc}),
    conv("no_images", {0, 4, 4, 2}, {3, 3, 2, 2}, {1, 1}, "VALID", {.dimension_numbers = nhwc}),
});

std::vector<Row> transposed() {
  std::vector<Row> rows;
  for (const char* padding : {"SAME", "VALID"})
    for (const auto& [k, s] : {std::pair{3, 2}, std::pair{2, 3}, std::pair{4, 1}})
      rows.push_back(of_conv(
          row("conv_transpose." + std::string(padding) + "." + std::to_string(k) + "." + std::to_string(s),
              [=, stride = s](const Operands& a) {
                return lax::conv_transpose(a[0], a[1], {stride, 1}, padding);
              },
              {{{{1, 4, 3, 2}}, {{k, 2, 2, 3}}}})));
  rows.push_back(
      of_conv(row("conv_transpose.kernel",
                  [](const Operands& a) {
                    return lax::conv_transpose(a[0], a[1], {2, 2}, "SAME", {.transpose_kernel = true});
                  },
                  {{{{1, 4, 3, 2}}, {{3, 3, 3, 2}}}})));
  rows.push_back(of_conv(row("conv_transpose.explicit",
                             [](const Operands& a) {
                               return lax::conv_transpose(a[0], a[1], {2}, {{1, 2}}, {.rhs_dilation = {2}});
                             },
                             {{{{2, 5, 2}}, {{3, 2, 2}}}})));
  return rows;
}
const bool transpose = add(transposed());

const bool windows = add({
    of_conv(row("reduce_window.max",
                [](const Operands& x) {
                  return lax::reduce_window(x[0], -1e300, NAX_FUNCTION(nax::maximum), {2, 3}, {1, 2}, "SAME");
                },
                {{{{5, 6}}}})),
    of_conv(row("reduce_window.add",
                [](const Operands& x) {
                  return lax::reduce_window(x[0], 0, [](const auto& a, const auto& b) { return a + b; },
                                            {2, 3}, {2, 1}, {{1, 0}, {-1, 2}},
                                            {.base_dilation = {2, 1}, .window_dilation = {1, 2}});
                },
                {{{{4, 6}}}})),
    of_conv(row("reduce_window.mul",
                [](const Operands& x) {
                  return lax::reduce_window(
                      x[0], 1, [](const auto& a, const auto& b) { return a * b; }, {1, 2, 2}, {1, 1, 1},
                      "VALID");
                },
                {{{{2, 3, 3}}}})),
});

}  // namespace lax_conv_test
