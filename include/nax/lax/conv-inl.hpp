#pragma once

#include "nax/lax/conv.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ConvAxes conv_axes(const char* function, const lax::DimensionNumbers& names, int ndim) {
  const auto check = [&](const std::string& spec, char first, char second) {
    bool good = static_cast<int>(spec.size()) == ndim;
    for (std::size_t i = 0; i < spec.size(); ++i) good = good && spec.find(spec[i]) == i;
    good = good && spec.find(first) != spec.npos && spec.find(second) != spec.npos;
    for (const char letter : spec)
      good = good && (letter == first || letter == second ||
                      (names.rhs.find(letter) != names.rhs.npos && letter != 'I' && letter != 'O'));
    if (!good)
      raise<ValueError>({function, ": dimension_numbers must name each of ", ndim, " axes once: '", names.lhs,
                         "', '", names.rhs, "', '", names.out, "'"});
  };
  check(names.lhs, 'N', 'C');
  check(names.rhs, 'I', 'O');
  check(names.out, 'N', 'C');
  ConvAxes axes;
  const auto at = [](const std::string& spec, char letter) { return static_cast<int>(spec.find(letter)); };
  axes.lhs.push_back(at(names.lhs, 'N'));
  axes.out.push_back(at(names.out, 'N'));
  for (const char letter : names.rhs)
    if (letter != 'I' && letter != 'O') {
      axes.lhs.push_back(at(names.lhs, letter));
      axes.rhs.push_back(at(names.rhs, letter));
      axes.out.push_back(at(names.out, letter));
    }
  axes.lhs.push_back(at(names.lhs, 'C'));
  axes.rhs.push_back(at(names.rhs, 'I'));
  axes.rhs.push_back(at(names.rhs, 'O'));
  axes.out.push_back(at(names.out, 'C'));
  return axes;
}

NAX_ENGINE lax::DimensionNumbers conv_names(const lax::DimensionNumbers& given, int ndim,
                                            bool channels_last) {
  if (!given.lhs.empty() || !given.rhs.empty() || !given.out.empty()) return given;
  const std::string spatial = ndim == 3 ? "W" : ndim == 4 ? "HW" : "DHW";
  if (channels_last) return {"N" + spatial + "C", spatial + "IO", "N" + spatial + "C"};
  return {"NC" + spatial, "OI" + spatial, "NC" + spatial};
}

NAX_ENGINE ConvRef conv_spec(const char* function, const Shape& x, const Shape& w, const Dims& window_strides,
                             const lax::Padding& padding, const Dims& lhs_dilation, const Dims& rhs_dilation,
                             std::int64_t groups) {
  const std::size_t spatial = x.size() - 2;
  const Dims strides = each_axis(function, "window_strides", window_strides, spatial),
             lhs = each_axis(function, "lhs_dilation", lhs_dilation, spatial),
             rhs = each_axis(function, "rhs_dilation", rhs_dilation, spatial);
  if (groups < 1) raise<ValueError>({function, ": feature_group_count must be at least 1, not ", groups});
  const std::int64_t c = x[spatial + 1], in = w[spatial], o = w[spatial + 1];
  if (c != in * groups)
    raise<ShapeError>({function, ": the input has ", c, " channels, the kernel takes ", in, " in each of ",
                       groups, " groups: shapes (batch, spatial..., channels) ", x,
                       " and (spatial..., in, out) ", w});
  if (o % groups != 0)
    raise<ShapeError>(
        {function, ": feature_group_count ", groups, " does not divide the ", o, " output channels"});
  auto spec = std::make_shared<ConvSpec>();
  spec->spatial = static_cast<int>(spatial);
  loops::ConvGeometry& g = spec->geometry;
  g.n = x[0], g.c = c, g.o = o, g.groups = groups;
  Dims sizes, windows;
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    sizes.push_back(x[axis + 1]);
    windows.push_back(dilated(w[axis], rhs[axis]));
  }
  const auto pads = padding.over(function, sizes, windows, strides);
  Dims out(1, g.n);
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    const std::size_t to = axis + 3 - spatial;
    if (w[axis] == 0) raise<ShapeError>({function, ": the kernel has an axis without elements: ", w});
    g.in[to] = x[axis + 1], g.kernel[to] = w[axis], g.stride[to] = strides[axis];
    g.lhs[to] = lhs[axis], g.rhs[to] = rhs[axis], g.low[to] = pads[axis].first;
    g.out[to] =
        window_count(function, dilated(x[axis + 1], lhs[axis]), windows[axis], strides[axis], pads[axis]);
    out.push_back(g.out[to]);
  }
  out.push_back(o);
  count_elements(function, out);
  return spec;
}

}  // namespace detail
NAX_END
