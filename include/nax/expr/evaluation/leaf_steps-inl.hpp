#pragma once

#include "nax/backend/operations.hpp"
#include "nax/expr/evaluation/leaf_steps.hpp"
#include "nax/tape/tape.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE LeafSteps::LeafSteps(const loops::StepNumbers& numbers, const ArrayBase* rate,
                                const ArrayBase* count)
    : numbers_(numbers), rate_(rate), count_(count) {}

NAX_ENGINE LeafSteps::Group& LeafSteps::group_of(Device device, DType dtype) {
  for (Group& group : groups_)
    if (group.device == device && group.dtype == dtype) return group;
  groups_.push_back({device, dtype, {}});
  return groups_.back();
}

NAX_ENGINE char* LeafSteps::target(ArrayBase& old, bool reads, const ArrayBase& like) {
  const BufferRef& buffer = ArrayAccess::buffer(old);
  if (!buffer || buffer->source || !buffer.unique()) {
    if (reads) held_.push_back(old);
    old = allocate(like.dtype(), layout_of(like), like.device());
  }
  ArrayAccess::serial(old) = 0;
  return device_data(old);
}

NAX_ENGINE bool LeafSteps::take(const ArrayBase& gradient, const ArrayBase* params, ArrayBase& result,
                                ArrayBase* const* averages, int average_count) {
  if (!backend::has<ops::StepLeaves>(gradient.device(), gradient.dtype()) || watches_operations())
    return false;
  const auto is_number = [&](const ArrayBase* a) {
    return !a || (layout_of(*a).size() == 1 && !is_batched(*a) && !is_recorded(*a) &&
                  (known_number(*a) || a->device() == gradient.device()));
  };
  const auto fits = [&](const ArrayBase& a) {
    return a.device() == gradient.device() && a.dtype() == gradient.dtype() &&
           layout_of(a) == layout_of(gradient) && layout_of(a).is_contiguous() && !is_recorded(a);
  };
  if (!is_number(rate_) || !is_number(count_) || !fits(gradient) || (params && !fits(*params))) return false;
  for (int a = 0; a < average_count; ++a)
    if (!fits(*averages[a])) return false;

  loops::LeafStep leaf{layout_of(gradient).size(), device_data(gradient), nullptr, nullptr, {}, {}};
  held_.push_back(gradient);
  if (params) leaf.params = device_data(*params);
  for (int a = 0; a < average_count; ++a) {
    leaf.from[a] = device_data(*averages[a]);
    leaf.to[a] = target(*averages[a], true, gradient);
  }
  if (params && params != &result) held_.push_back(*params);
  leaf.result = target(result, params == &result, gradient);
  if (leaf.size > 0) group_of(gradient.device(), gradient.dtype()).leaves.push_back(leaf);
  return true;
}

NAX_ENGINE void LeafSteps::run() {
  for (const Group& group : groups_) {
    loops::StepNumbers numbers = numbers_;
    ArrayBase rate;
    if (const void* const known = rate_ ? known_number(*rate_) : nullptr) {
      numbers.rate = *static_cast<const float*>(known);
    } else if (rate_) {
      rate = as_dtype(*rate_, group.dtype);
      numbers.rate_at = device_data(rate);
    }
    if (const void* const known = count_ ? known_number(*count_) : nullptr)
      numbers.count = *static_cast<const std::int32_t*>(known);
    else if (count_)
      numbers.count_at = reinterpret_cast<const std::int32_t*>(device_data(*count_));
    backend::run(
        group.device,
        ops::StepLeaves{group.dtype, numbers, group.leaves.data(), static_cast<int>(group.leaves.size())},
        {});
  }
}

}  // namespace detail
NAX_END
