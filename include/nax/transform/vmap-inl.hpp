#pragma once

#include "nax/transform/vmap.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void MappedSize::add(const ArrayBase& leaf, const Axes& axes, std::size_t argument) {
  check_operand(function_.c_str(), leaf);
  if (axes.is_none()) return;
  if (leaf.ndim() == 0)
    raise<ValueError>({function_, ": argument ", argument, " is mapped over axis ", axes.axis(),
                       " but has rank 0; give it in_axes none"});
  const int axis = checked(leaf, axes.axis(), argument);
  const std::int64_t extent = layout_of(leaf).visible(axis);
  if (mapped_.size() < 8 || (!differ_ && extent != *size_))
    mapped_.push_back({argument, axes.axis(), extent, leaf.shape()});
  if (size_ && *size_ != extent) differ_ = true;
  if (!size_) size_ = extent;
}

NAX_ENGINE void check_in_axes(const char* function, const InAxes& in_axes, std::size_t arguments) {
  if (in_axes.each() && in_axes.count() != arguments)
    raise<ValueError>(
        {function, ": in_axes has ", in_axes.count(), " entries for ", arguments, " arguments"});
}

NAX_ENGINE int result_axis(const char* function, int axis, int ndim) {
  if (axis < -ndim || axis >= ndim)
    raise<IndexError>(
        {function, ": out_axes is ", axis, ", out of bounds for a mapped result of dimension ", ndim});
  return axis < 0 ? axis + ndim : axis;
}

}  // namespace detail
NAX_END
