#pragma once

#include "nax/numpy/views/transpose.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase permute(const ArrayBase& x, const Dims& order) {
  const Layout& from = layout_of(x);
  Layout layout = hidden_part(from);
  Dims inverse(order.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int axis = static_cast<int>(order[i]);
    append_axis(layout, from.visible(axis), visible_stride(from, axis));
    inverse[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(i);
  }
  return record_view(
      x, std::move(layout), 0, [inverse](const ArrayBase& g) { return permute(g, inverse); },
      [order](const ArrayBase& t) { return permute(t, order); });
}

NAX_ENGINE ArrayBase transpose_by(const char* function, const ArrayBase& x, const Dims& axes, bool given) {
  check_operand(function, x);
  const int ndim = x.ndim();
  Dims order;
  if (!given) {
    for (int axis = ndim; axis-- > 0;) order.push_back(axis);
  } else {
    if (static_cast<int>(axes.size()) != ndim)
      raise<ValueError>({function, ": axes don't match array: axes ", axes, ", shape ", x.shape()});
    order = normalize_axes(function, axes, ndim);
  }
  return permute(x, order);
}

NAX_ENGINE ArrayBase transpose_matrices(const ArrayBase& x) {
  Layout layout = layout_of(x);
  const std::size_t last = layout.shape.size() - 1;
  std::swap(layout.shape[last - 1], layout.shape[last]);
  std::swap(layout.strides[last - 1], layout.strides[last]);
  const auto again = [](const ArrayBase& g) { return transpose_matrices(g); };
  return record_view(x, std::move(layout), 0, again, again);
}

}  // namespace detail
NAX_END
