#pragma once

#include "nax/numpy/manipulation/join.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Selection JoinPlan::part(const Frame& result, std::size_t i) const {
  Selection s;
  for (int a = 0; a < result.ndim(); ++a) {
    if (a == axis)
      s.append(starts[i], 1, starts[i + 1] - starts[i], !stacked);
    else
      s.append(0, 1, result.visible(a), true);
  }
  return s;
}

NAX_ENGINE Device device_of(const char* function, const ArrayList& list) {
  return device_for(function, list.data(), static_cast<int>(list.size()));
}

// Joins arrays that lie contiguous on the host, have no hidden axes and are so small that nothing pays but to
// copy it; false otherwise.
NAX_ENGINE bool join_small(const ArrayList& list, const JoinPlan& plan, ArrayBase& result) {
  const std::int64_t item = static_cast<std::int64_t>(dtype_size(list[0]->dtype()));
  std::int64_t outer = 1, inner = item;
  for (std::size_t a = 0; a < plan.shape.size(); ++a)
    if (static_cast<int>(a) != plan.axis) (static_cast<int>(a) < plan.axis ? outer : inner) *= plan.shape[a];
  const std::int64_t row = plan.starts.back() * inner;
  if (outer * row > most_bytes_of_small) return false;
  for (const ArrayBase* x : list)
    if (!layout_of(*x).levels.empty() || !layout_of(*x).is_contiguous()) return false;
  const Device device = device_of("concatenate", list);
  if (on_accelerator(device)) return false;
  Frame frame;
  frame.shape = plan.shape;
  result = allocate(list[0]->dtype(), frame, device);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::int64_t piece = (plan.starts[i + 1] - plan.starts[i]) * inner;
    if (piece == 0 || outer == 0) continue;
    const char* from = elements<const char>(*list[i], transforms_handled);
    char* to = elements<char>(result, transforms_handled) + plan.starts[i] * inner;
    const auto copy = [&](auto bytes) {  // of a known size, which needs no call
      for (std::int64_t o = 0; o < outer; ++o, from += piece, to += row)
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
    };
    if (piece == 8)
      copy(std::integral_constant<std::size_t, 8>());
    else if (piece == 4)
      copy(std::integral_constant<std::size_t, 4>());
    else
      copy(piece);
  }
  return true;
}

NAX_ENGINE ArrayBase join_values(const ArrayList& list, const JoinPlan& plan) {
  if (ArrayBase little; join_small(list, plan, little)) return little;
  Frame frame;
  for (const ArrayBase* x : list) frame = merge_frames({&frame, &layout_of(*x)}, Dims());
  frame.shape.append(plan.shape.begin(), plan.shape.end());
  ArrayBase result = allocate(list[0]->dtype(), frame, device_of("concatenate", list));
  for (std::size_t i = 0; i < list.size(); ++i) {
    Layout layout;
    const std::int64_t offset = plan.part(frame, i).view(layout_of(result), layout);
    copy_into(beside(result, *list[i]), sub_array(result, std::move(layout), offset));
  }
  return result;
}

NAX_ENGINE void check_join(const char* function, const ArrayList& list) {
  if (list.empty()) raise<ValueError>({function, ": need at least one array"});
  for (const ArrayBase* x : list) check_operand(function, *x);
}

NAX_ENGINE JoinPlan concatenate_plan(const char* function, const ArrayList& list, std::int64_t axis) {
  check_join(function, list);
  if (list[0]->ndim() == 0) raise<ShapeError>({function, ": zero-dimensional arrays cannot be concatenated"});
  JoinPlan plan{normalize_axis(function, axis, list[0]->ndim()), false, {}, list[0]->shape()};
  plan.starts.reserve(list.size() + 1);
  plan.starts.push_back(0);
  const std::size_t along = static_cast<std::size_t>(plan.axis);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Shape shape = list[i]->shape();
    bool fits = shape.size() == plan.shape.size();
    for (std::size_t a = 0; fits && a < shape.size(); ++a) fits = a == along || shape[a] == plan.shape[a];
    if (!fits)
      raise<ShapeError>({function, ": all dimensions but that of axis ", plan.axis,
                         " must match: ", list[0]->shape(), " at 0, ", shape, " at ", i});
    plan.starts.push_back(add_extents(plan.starts.back(), shape[along]));
  }
  plan.shape[along] = plan.starts.back();
  count_elements(function, plan.shape);
  return plan;
}

NAX_ENGINE JoinPlan stack_plan(const char* function, const ArrayList& list, std::int64_t axis) {
  check_join(function, list);
  JoinPlan plan{normalize_axis(function, axis, list[0]->ndim() + 1), true, {}, list[0]->shape()};
  plan.starts.reserve(list.size() + 1);
  plan.starts.push_back(0);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!(list[i]->shape() == plan.shape))
      raise<ShapeError>({function, ": all input arrays must have the same shape: ", plan.shape, " at 0, ",
                         list[i]->shape(), " at ", i});
    plan.starts.push_back(static_cast<std::int64_t>(i) + 1);
  }
  plan.shape.insert(static_cast<std::size_t>(plan.axis), static_cast<std::int64_t>(list.size()));
  count_elements(function, plan.shape);
  return plan;
}

NAX_ENGINE ArrayBase join(const ArrayList& list, const JoinPlan& plan) {
  ArrayBase result = join_values(list, plan);
  if (!any_of_list_recorded(list)) return result;
  const auto pull = [plan](std::size_t i, const ArrayBase& g) { return get(g, plan.part(layout_of(g), i)); };
  const DType dtype = result.dtype();
  const Device device = result.device();
  const auto push = [plan, dtype, device](const ArrayList& tangents) {
    std::vector<ArrayBase> zeros;
    zeros.reserve(tangents.size());
    ArrayList parts = tangents;
    const Frame own{plan.shape, {}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i]) continue;
      zeros.push_back(zeros_over(dtype, Frame{plan.part(own, i).result_shape(), {}}, device));
      parts[i] = &zeros.back();
    }
    return join(parts, plan);
  };
  return record_list(std::move(result), list, pull, push);
}

NAX_ENGINE ArrayBase concatenate_on(const char* function, const ArrayList& list, std::int64_t axis) {
  return join(list, concatenate_plan(function, list, axis));
}
NAX_ENGINE ArrayBase stack_on(const char* function, const ArrayList& list, std::int64_t axis) {
  return join(list, stack_plan(function, list, axis));
}

}  // namespace detail
NAX_END
