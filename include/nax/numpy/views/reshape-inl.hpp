#pragma once

#include "nax/numpy/views/reshape.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Dims resolve_shape(const char* function, const Dims& from, const Dims& to) {
  std::int64_t size = 1;
  int unknown = -1;
  for (std::int64_t d : from) size *= d;
  Dims shape = to;
  const auto fail = [&] {
    raise<ShapeError>(
        {function, ": cannot reshape array of size ", size, " into shape ", to, ", its shape is ", from});
  };
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] >= 0) continue;
    if (shape[i] != -1) fail();
    if (unknown >= 0) raise<ValueError>({function, ": can only specify one unknown dimension, shape ", to});
    unknown = static_cast<int>(i);
    shape[i] = 1;
  }
  const std::int64_t known = count_elements(function, shape);
  if (unknown >= 0) {
    if (known == 0 || size % known != 0) fail();
    shape[static_cast<std::size_t>(unknown)] = size / known;
  } else if (known != size) {
    fail();
  }
  return shape;
}

NAX_ENGINE bool append_reshaped(Layout& out, const Layout& from, const Dims& shape) {
  // Groups of axes with equal products; within a group the old axes must be walked as one.
  Dims extents, strides;
  for (int axis = 0; axis < from.ndim(); ++axis) {
    if (from.visible(axis) == 0) {  // no elements: any strides will do
      std::int64_t stride = 1;
      Dims own(shape.size(), 1);
      for (std::size_t i = shape.size(); i-- > 0;) own[i] = stride, stride *= shape[i] > 0 ? shape[i] : 1;
      for (std::size_t i = 0; i < shape.size(); ++i) append_axis(out, shape[i], own[i]);
      return true;
    }
    if (from.visible(axis) == 1) continue;
    extents.push_back(from.visible(axis));
    strides.push_back(visible_stride(from, axis));
  }
  std::size_t i = 0, begin = 0;
  Dims made(shape.size(), 1);
  for (std::size_t j = 0; j < shape.size();) {
    if (shape[j] == 1) {
      ++j;
      continue;
    }
    const std::size_t first = j;
    std::int64_t want = shape[j++], have = extents[i++];
    while (want != have) {
      if (want < have)
        want *= shape[j++];
      else
        have *= extents[i++];
    }
    for (std::size_t k = begin; k + 1 < i; ++k)
      if (strides[k] != strides[k + 1] * extents[k + 1]) return false;
    std::int64_t stride = strides[i - 1];
    for (std::size_t k = j; k-- > first;) made[k] = stride, stride *= shape[k];
    begin = i;
  }
  for (std::size_t j = 0; j < shape.size(); ++j) append_axis(out, shape[j], made[j]);
  return true;
}

NAX_ENGINE ArrayBase compact(const ArrayBase& x) {
  const Layout& layout = layout_of(x);
  Layout thin = layout;
  bool repeated = false;
  for (int h = 0; h < layout.hidden(); ++h)
    if (layout.strides[h] == 0 && layout.shape[h] > 1) thin.shape[h] = 1, repeated = true;
  if (!repeated) return copy_over(x, layout);
  ArrayBase copied = copy_over(view(x, thin), thin);
  Layout result = layout;
  for (std::size_t axis = 0; axis < result.shape.size(); ++axis)
    result.strides[axis] =
        thin.shape[axis] == 1 && layout.shape[axis] != 1 ? 0 : layout_of(copied).strides[axis];
  return view(std::move(copied), std::move(result));
}

NAX_ENGINE ArrayBase reshape_to(const char* function, const ArrayBase& x, const Dims& to) {
  check_operand(function, x);
  const Dims before = x.shape();
  const Dims shape = resolve_shape(function, before, to);
  const auto pull = [before](const ArrayBase& g) { return reshape_to("reshape", g, before); };
  const auto push = [shape](const ArrayBase& t) { return reshape_to("reshape", t, shape); };
  Layout layout = hidden_part(layout_of(x));
  if (append_reshaped(layout, layout_of(x), shape)) return record_view(x, std::move(layout), 0, pull, push);
  ArrayBase copied = compact(x);
  layout = hidden_part(layout_of(copied));
  append_reshaped(layout, layout_of(copied), shape);
  ArrayBase result = view(std::move(copied), std::move(layout));
  return may_be_recorded(x) ? record(std::move(result), wrt(x, pull, push)) : result;
}

}  // namespace detail
NAX_END
