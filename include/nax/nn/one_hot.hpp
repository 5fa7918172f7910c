#pragma once

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/rules/comparison.hpp"

NAX_BEGIN
namespace nn {

struct OneHotOptions {
  std::int64_t axis = -1;  // where the classes go, in the result
};

// Ones where the class is the label, zeros elsewhere, of type T; a label outside 0 ... num_classes - 1 gives
// zeros. The result has one axis more than the labels, which are integers. Labels of shape (m, n) give (m, n,
// num_classes) for axis -1. Throws ValueError if `num_classes` is negative, and IndexError if `axis` is out
// of bounds.
template <Dtype T = float, detail::ArrayLike X>
Array<T> one_hot(const X& x, std::int64_t num_classes, const OneHotOptions& options = {}) {
  using Label = typename X::value_type;
  static_assert(is_integer_v<Label>, "one_hot: labels must be integers");
  if (num_classes < 0) raise<ValueError>({"one_hot: num_classes must not be negative, got ", num_classes});
  const Array<Label> given = detail::materialise(x);
  detail::check_operand("one_hot", given);
  const ArrayBase labels = detail::contiguous(given);
  const int axis = detail::normalize_axis("one_hot", options.axis, given.ndim() + 1);
  Frame frame = detail::layout_of(labels);
  const std::size_t at = static_cast<std::size_t>(frame.hidden() + axis);
  frame.shape.insert(at, num_classes);
  detail::count_elements("one_hot", frame.shape);
  Array<T> result = nax::detail::typed<T>(detail::allocate(dtype_of<T>, frame, labels.device()));
  std::int64_t inner = 1, outer = 1;
  for (std::size_t i = 0; i < at; ++i) outer *= frame.shape[i];
  for (std::size_t i = at + 1; i < frame.shape.size(); ++i) inner *= frame.shape[i];
  if (frame.size() > 0)
    backend::run(labels.device(), ops::OneHot{{outer, num_classes, inner}, labels.dtype(), dtype_of<T>},
                 {detail::device_data(labels), detail::device_data(result)});
  return result;
}

}  // namespace nn
NAX_END
