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
  if (detail::on_accelerator(labels)) {
    // The classes, along their axis, against the labels.
    Frame one = detail::layout_of(labels), classes;
    one.shape.insert(at, 1);
    const Array<Label> each =
        nax::detail::typed<Label>(detail::view(labels, Layout::contiguous(std::move(one))));
    classes.shape = Dims(static_cast<std::size_t>(frame.ndim()), 1);
    classes.shape[static_cast<std::size_t>(axis)] = num_classes;
    const ArrayBase numbers =
        detail::generated<std::int64_t>("one_hot", num_classes, [](std::int64_t i) { return i; });
    const Array<std::int64_t> class_of = nax::detail::typed<std::int64_t>(
        detail::view(detail::moved(numbers, labels.device()), Layout::contiguous(std::move(classes))));
    return (detail::evaluate(detail::make_expr<rules::equal>(each, class_of))).template astype<T>();
  }
  Array<T> result = nax::detail::typed<T>(detail::allocate(dtype_of<T>, frame));
  T* out = detail::elements<T>(result);
  for (std::int64_t i = 0, n = frame.size(); i < n; ++i) out[i] = T(0);
  std::int64_t inner = 1;
  for (std::size_t i = at + 1; i < frame.shape.size(); ++i) inner *= frame.shape[i];
  const Label* label = detail::elements<const Label>(labels, detail::transforms_handled);
  for (std::int64_t i = 0, n = detail::layout_of(labels).size(); i < n; ++i) {
    const std::int64_t k = static_cast<std::int64_t>(label[i]);
    if (k >= 0 && k < num_classes) out[(i / inner * num_classes + k) * inner + i % inner] = T(1);
  }
  return result;
}

}  // namespace nn
NAX_END
