#pragma once

#include <optional>

#include "nax/expr/evaluation/device_compute.hpp"
#include "nax/nn/attention_call.hpp"
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

// The operands as the form and its call have them, while it lives.
class PlacedAttention {
 public:
  static constexpr int operands = 7;
  Device device;
  Frame examples;  // hidden axes and B
  loops::Attention f;
  bool is_empty = false;  // is there nothing to compute?

  // `others`: arrays (B, rows, heads, width) over whose examples the call goes, too.
  PlacedAttention(const AttentionOperands& of, std::initializer_list<const ArrayBase*> others) {
    const ArrayBase* const all[operands] = {&of.query, &of.key,          &of.value,     of.bias,
                                            of.mask,   of.query_lengths, of.key_lengths};
    SmallVector<const ArrayBase*, operands + 1> given(others.begin(), others.end());
    const auto visible_axes = [](int i) { return i < 5 ? 4 : 1; };
    examples = examples_of(of.query, 4);
    const auto join = [&](const ArrayBase& x, int visible) {
      examples = broadcast("dot_product_attention", examples, examples_of(x, visible));
    };
    for (const ArrayBase* x : others) join(*x, 4);
    for (int i = 0; i < operands; ++i)
      if (all[i]) given.push_back(all[i]), join(*all[i], visible_axes(i));
    const ArrayBase* const* const arrays = given.data();
    device = device_for("dot_product_attention", arrays, static_cast<int>(given.size()));
    const Layout &q = layout_of(of.query), &k = layout_of(of.key);
    is_empty = examples.size() == 0 || q.size() == 0 || k.size() == 0;
    if (is_empty) return;
    f.batch = examples.size();
    f.heads = q.visible(2), f.groups = k.visible(2);
    f.queries = q.visible(1), f.keys = k.visible(1), f.width = q.visible(3);
    f.scale = of.scale;
    f.causal = of.causal, f.window = of.window;
    f.left = of.left, f.right = of.right;
    for (int i = 0; i < operands; ++i)
      if (all[i]) placed_[i].emplace(beside(device, *all[i]), examples, visible_axes(i), i < 3);
    f.q = placed_[0]->rows(), f.k = placed_[1]->rows(), f.v = placed_[2]->rows();
    if (placed_[3]) f.bias = placed_[3]->plane();
    if (placed_[4]) f.mask = placed_[4]->plane();
    if (placed_[5]) f.query_lengths = placed_[5]->lengths();
    if (placed_[6]) f.key_lengths = placed_[6]->lengths();
  }

  // Operand i of the call.
  const void* data(int i) const { return placed_[i] ? placed_[i]->data() : nullptr; }
  // A row-major array over the examples and the visible axes of `like` behind B.
  ArrayBase made_like(const ArrayBase& like, DType dtype) const {
    return allocate(dtype, over(like), device);
  }
  // x (B, ...), row-major over the examples.
  ArrayBase packed(const ArrayBase& x) const {
    const Frame whole = over(x);
    return layout_of(x).shape == whole.shape ? contiguous(x, transforms_handled) : copy_over(x, whole);
  }
  ArrayBase made_for_rows(const ArrayBase& query, DType dtype) const {
    Frame two = examples;
    for (int axis = 1; axis < 3; ++axis) two.shape.push_back(layout_of(query).visible(axis));
    two.shape.push_back(2);
    return allocate(dtype, two, device);
  }

 private:
  static Frame examples_of(const ArrayBase& x, int visible) {
    Frame own = layout_of(x);
    for (int axis = 1; axis < visible; ++axis) own.shape.pop_back();
    return own;
  }
  Frame over(const ArrayBase& like) const {
    Frame frame = examples;
    for (int axis = 1; axis < 4; ++axis) frame.shape.push_back(layout_of(like).visible(axis));
    return frame;
  }

  std::optional<OverExamples> placed_[operands];
};

NAX_ENGINE ArrayBase attend(const AttentionOperands& of, ArrayBase* kept) {
  const PlacedAttention placed(of, {});
  if (placed.is_empty) return {};
  const Device device = placed.device;
  const ops::Attend form{{placed.f, of.query.dtype()}};
  if (!backend::has(device, form)) return {};
  const ArrayBase result = placed.made_like(of.query, form.dtype);
  ops::AttendGradient gradient;
  gradient.what = form.what, gradient.dtype = form.dtype;
  if (kept && backend::has(device, gradient)) *kept = placed.made_for_rows(of.query, form.kept());
  const auto at = [&](int i) { return placed.data(i); };
  backend::run(device, form,
               {at(0), at(1), at(2), at(3), at(4), at(5), at(6), device_data(result),
                kept && holds_value(*kept) ? device_data(*kept) : nullptr});
  check_result("dot_product_attention", result, {&of.query, &of.key, &of.value}, form.flops());
  return result;
}

NAX_ENGINE std::array<ArrayBase, 3> attention_gradients(const AttentionOperands& of, const ArrayBase& kept_,
                                                        const ArrayBase& result_, const ArrayBase& g_) {
  const PlacedAttention placed(of, {&g_});
  const Device device = placed.device;
  ops::AttendGradient form;
  form.what = placed.f, form.dtype = of.query.dtype();
  const OverExamples result(beside(device, result_), placed.examples, 4, true),
      g(beside(device, g_), placed.examples, 4, true);
  form.out = result.rows(), form.g = g.rows();
  const ArrayBase kept = placed.packed(beside(device, kept_));
  std::array<ArrayBase, 3> made{placed.made_like(of.query, form.dtype), placed.made_like(of.key, form.dtype),
                                placed.made_like(of.value, form.dtype)};
  const auto at = [&](int i) { return placed.data(i); };
  backend::run(device, form,
               {at(0), at(1), at(2), at(3), at(4), at(5), at(6), result.data(), device_data(kept), g.data(),
                device_data(made[0]), device_data(made[1]), device_data(made[2])});
  return made;
}

}  // namespace detail
NAX_END
