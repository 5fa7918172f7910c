#pragma once

#include "nax/loops/attention.hpp"
#include "nax/nn/attention_on_device.hpp"
#include "nax/numpy/views/copy.hpp"

NAX_BEGIN
namespace detail {

// An operand with one step from example to example; a copy where its own steps are others.
struct OverExamples {
  ArrayBase array;
  std::int64_t batch;

  OverExamples(const ArrayBase& x, const Frame& examples, int visible, bool in_rows) : array(constant(x)) {
    Layout leading = layout_of(x);
    Frame whole = examples;
    for (int axis = 1; axis < visible; ++axis) {
      leading.shape.pop_back(), leading.strides.pop_back();
      whole.shape.push_back(layout_of(x).visible(axis));
    }
    Dims shape = examples.shape;
    loops::Operand steps{nullptr, strides_over(leading, examples)};
    loops::collapse(shape, &steps, 1);
    batch = shape.empty() ? 0 : steps.strides[0];
    if (shape.size() <= 1 && (!in_rows || layout_of(x).strides.back() == 1)) return;
    array = copy_over(x, whole);
    batch = layout_of(array).size() / examples.size();
  }
  char* data() const { return device_data(array); }
  // Along an axis from the end; 0 where it is broadcast.
  std::int64_t step(std::size_t from_end) const {
    const Layout& layout = layout_of(array);
    const std::size_t axis = layout.shape.size() - from_end;
    return layout.shape[axis] == 1 ? 0 : layout.strides[axis];
  }
  loops::AttentionRows rows() const { return {data(), batch, step(3), step(2)}; }
  loops::AttentionPlane plane() const { return {data(), batch, step(3), step(2), step(1)}; }
};

NAX_ENGINE ArrayBase attend_on_device(const DeviceAttention& of) {
  const Device device = of.query.device();
  if (!on_accelerator(device) || on_program(device)) return {};
  const ArrayBase* const all[] = {&of.query, &of.key,          &of.value,     of.bias,
                                  of.mask,   of.query_lengths, of.key_lengths};
  const auto visible_axes = [&](const ArrayBase* x) {
    return x == of.query_lengths || x == of.key_lengths ? 1 : 4;
  };
  Frame examples;
  for (const ArrayBase* x : all) {
    if (!x) continue;
    if (x->device() != device) return {};
    Frame own = layout_of(*x);
    for (int axis = 1; axis < visible_axes(x); ++axis) own.shape.pop_back();
    examples = x == all[0] ? own : broadcast("dot_product_attention", examples, own);
  }
  const Layout &q = layout_of(of.query), &k = layout_of(of.key);
  Frame frame = examples;
  for (int axis = 1; axis < 4; ++axis) frame.shape.push_back(q.visible(axis));
  if (frame.size() == 0 || k.size() == 0) return {};

  loops::Attention f;
  f.batch = examples.size();
  f.heads = q.visible(2), f.groups = k.visible(2);
  f.queries = q.visible(1), f.keys = k.visible(1), f.width = q.visible(3);
  f.scale = of.scale;
  f.causal = of.causal, f.window = of.window;
  f.left = of.left, f.right = of.right;
  std::optional<OverExamples> placed[std::size(all)];
  for (std::size_t i = 0; i < std::size(all); ++i)
    if (all[i]) placed[i].emplace(*all[i], examples, visible_axes(all[i]), i < 3);
  f.q = placed[0]->rows(), f.k = placed[1]->rows(), f.v = placed[2]->rows();
  if (placed[3]) f.bias = placed[3]->plane();
  if (placed[4]) f.mask = placed[4]->plane();
  const auto lengths = [](const OverExamples& x) {
    return loops::AttentionLengths{reinterpret_cast<const std::int32_t*>(x.data()), x.batch};
  };
  if (placed[5]) f.query_lengths = lengths(*placed[5]);
  if (placed[6]) f.key_lengths = lengths(*placed[6]);
  const ArrayBase result = allocate(of.query.dtype(), frame, device);
  f.out = OverExamples(result, examples, 4, true).rows();
  if (!backend::accelerator_operations(device).attend(device, of.query.dtype(), f)) return {};
  check_result("dot_product_attention", result, {&of.query, &of.key, &of.value},
               4. * static_cast<double>(frame.size()) * static_cast<double>(f.keys));
  return result;
}

}  // namespace detail
NAX_END
