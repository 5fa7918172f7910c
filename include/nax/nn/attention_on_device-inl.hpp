#pragma once

#include <optional>

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
  loops::AttentionLengths lengths() const { return {reinterpret_cast<const std::int32_t*>(data()), batch}; }
};

// The operands as kernels take them, while it lives.
class PlacedAttention {
 public:
  static constexpr int operands = 7;
  Frame examples;  // hidden axes and B
  loops::Attention f;

  // False where they are not on one GPU, or there is nothing to compute.
  bool place(const DeviceAttention& of) {
    const Device device = of.query.device();
    if (!on_accelerator(device) || on_program(device)) return false;
    const ArrayBase* const all[operands] = {&of.query, &of.key,          &of.value,     of.bias,
                                            of.mask,   of.query_lengths, of.key_lengths};
    const auto visible_axes = [](int i) { return i < 5 ? 4 : 1; };
    for (int i = 0; i < operands; ++i) {
      if (!all[i]) continue;
      if (all[i]->device() != device) return false;
      Frame own = layout_of(*all[i]);
      for (int axis = 1; axis < visible_axes(i); ++axis) own.shape.pop_back();
      examples = i == 0 ? own : broadcast("dot_product_attention", examples, own);
    }
    const Layout &q = layout_of(of.query), &k = layout_of(of.key);
    if (examples.size() == 0 || q.size() == 0 || k.size() == 0) return false;
    f.batch = examples.size();
    f.heads = q.visible(2), f.groups = k.visible(2);
    f.queries = q.visible(1), f.keys = k.visible(1), f.width = q.visible(3);
    f.scale = of.scale;
    f.causal = of.causal, f.window = of.window;
    f.left = of.left, f.right = of.right;
    for (int i = 0; i < operands; ++i)
      if (all[i]) placed_[i].emplace(*all[i], examples, visible_axes(i), i < 3);
    f.q = placed_[0]->rows(), f.k = placed_[1]->rows(), f.v = placed_[2]->rows();
    if (placed_[3]) f.bias = placed_[3]->plane();
    if (placed_[4]) f.mask = placed_[4]->plane();
    if (placed_[5]) f.query_lengths = placed_[5]->lengths();
    if (placed_[6]) f.key_lengths = placed_[6]->lengths();
    return true;
  }
  // A row-major array over the examples and the visible axes of `like` behind B.
  ArrayBase made_like(const ArrayBase& like, DType dtype) const {
    Frame frame = examples;
    for (int axis = 1; axis < 4; ++axis) frame.shape.push_back(layout_of(like).visible(axis));
    return allocate(dtype, frame, like.device());
  }
  loops::AttentionRows rows_of(const ArrayBase& made) const {
    return OverExamples(made, examples, 4, true).rows();
  }

 private:
  std::optional<OverExamples> placed_[operands];
};

NAX_ENGINE ArrayBase attend_on_device(const DeviceAttention& of, ArrayBase* logarithms) {
  PlacedAttention placed;
  if (!placed.place(of)) return {};
  const Device device = of.query.device();
  const DType dtype = of.query.dtype();
  const ArrayBase result = placed.made_like(of.query, dtype);
  loops::Attention& f = placed.f;
  f.out = placed.rows_of(result);
  if (logarithms && placed.examples.levels.empty() && dtype != DType::float64) {
    Frame two = placed.examples;
    for (int axis = 1; axis < 3; ++axis) two.shape.push_back(layout_of(of.query).visible(axis));
    two.shape.push_back(2);
    *logarithms = allocate(DType::float32, two, device);
    f.logarithms = reinterpret_cast<float*>(device_data(*logarithms));
  }
  if (!backend::accelerator_operations(device).attend(device, dtype, f)) return {};
  check_result("dot_product_attention", result, {&of.query, &of.key, &of.value},
               4. * static_cast<double>(layout_of(result).size()) * static_cast<double>(f.keys));
  return result;
}

NAX_ENGINE bool attention_gradients_on_device(const DeviceAttention& of, const ArrayBase& logarithms,
                                              const ArrayBase& result, const ArrayBase& g,
                                              ArrayBase* const (&shares)[3]) {
  const Device device = of.query.device();
  const DType dtype = of.query.dtype();
  PlacedAttention placed;
  if (g.device() != device || g.dtype() != dtype || !layout_of(g).levels.empty() || !placed.place(of) ||
      !placed.examples.levels.empty())
    return false;
  const OverExamples of_g(g, placed.examples, 4, true), out(result, placed.examples, 4, true);
  const ArrayBase made[] = {placed.made_like(of.query, dtype), placed.made_like(of.key, dtype),
                            placed.made_like(of.value, dtype)};
  loops::AttentionGradient x{placed.f, of_g.rows(), placed.rows_of(made[0]), placed.rows_of(made[1]),
                             placed.rows_of(made[2])};
  x.attention.out = out.rows();
  x.attention.logarithms = reinterpret_cast<float*>(device_data(logarithms));
  if (!backend::accelerator_operations(device).attention_gradient(device, dtype, x)) return false;
  for (int i = 0; i < 3; ++i) *shares[i] = made[i];
  return true;
}

}  // namespace detail
NAX_END
