#pragma once

#include "nax/nn/linear_product.hpp"
#include "nax/numpy/products/contraction_plan.hpp"

NAX_BEGIN
namespace detail {

// Does `added` lie on x's device as the elements of `target` do, row by row?
inline bool lies_as(const ArrayBase& added, const ArrayBase& x, const Frame& target) {
  const Layout& layout = layout_of(added);
  return added.device() == x.device() && added.dtype() == x.dtype() && layout.is_contiguous() &&
         static_cast<const Frame&>(layout) == target;
}

NAX_ENGINE LinearProduct linear_product(const LinearParts& parts, loops::Activation activation, bool keeps) {
  const auto& [x, w, b, added] = parts;
  const Device device = x.device();
  if (!backend::has<ops::Linear>(device, x.dtype()) || w.device() != device || b.device() != device)
    return {};
  check_operand("matmul", x);
  check_operand("matmul", w);
  check_operand("add", b);
  const Layout &lx = layout_of(x), &lw = layout_of(w), &lb = layout_of(b);
  if (x.ndim() != 2 || w.ndim() != 2 || b.ndim() != 1 || !lw.levels.empty() || !lb.levels.empty() ||
      x.shape(1) != w.shape(0) || b.shape(0) != w.shape(1) || !lb.is_contiguous())
    return {};
  const Frame target = product_frame("linear", lx, lw);
  if (added && !lies_as(*added, x, target)) return {};
  const ContractionPlan plan = contraction_plan(lx, lw, target);
  if (!plan.batch.empty() || !is_dense(plan, target)) return {};
  LinearProduct made{allocate(x.dtype(), target, device), {}};
  if (keeps && (activation == loops::Activation::gelu || activation == loops::Activation::gelu_exact))
    made.before = allocate(x.dtype(), target, device);
  const bool stored = static_cast<bool>(ArrayAccess::buffer(made.before));
  const ops::Linear form{x.dtype(), plan.product, activation};
  const std::initializer_list<const void*> data = {device_data(x),
                                                   device_data(w),
                                                   device_data(made.result),
                                                   device_data(b),
                                                   added ? device_data(*added) : nullptr,
                                                   stored ? device_data(made.before) : nullptr};
  if (!backend::has(device, form, data)) return {};
  backend::run(device, form, data);
  if (added)
    check_result("linear", made.result, {&x, &w, &b, added}, form.flops());
  else
    check_result("linear", made.result, {&x, &w, &b}, form.flops());
  if (!stored) made.before = made.result;
  return made;
}

class LinearLayerNode final : public ResultNode {
 public:
  LinearLayerNode(const LinearParts& parts, const Frame& target)
      : x_(parts.x),
        w_(parts.w),
        bias_(layout_of(parts.b)),
        target_(target),
        to_x_(serial(parts.x)),
        to_w_(serial(parts.w)),
        to_b_(serial(parts.b)),
        to_added_(parts.added ? serial(*parts.added) : 0) {}

  void pull(const ArrayBase& g, Reverse& sweep) override {
    if (const std::size_t added = sweep.place(to_added_); added != Tape::npos)
      sweep.add_at(added, ArrayBase(g));
    const std::size_t x = sweep.place(to_x_), w = sweep.place(to_w_), b = sweep.place(to_b_);
    if (w != Tape::npos && b != Tape::npos) {
      ArrayBase of_w, of_b;
      if (!pull_together(g, of_w, of_b)) of_w = share_of_w(g), of_b = sum_to(g, bias_, target_);
      sweep.add_at(b, std::move(of_b));
      sweep.add_at(w, std::move(of_w));
    } else if (b != Tape::npos) {
      sweep.add_at(b, sum_to(g, bias_, target_));
    } else if (w != Tape::npos) {
      sweep.add_at(w, share_of_w(g));
    }
    if (x == Tape::npos) return;
    const ArrayBase turned = transpose_matrices(w_);
    const Frame target = with_new_levels(layout_of(x_), target_, layout_of(g));
    ArrayBase* const sum = sweep.sum_at(x);
    if (!sum || !contract_into(*sum, g, turned, target)) sweep.add_at(x, contract(g, turned, target));
  }

  void push(Forward& sweep, std::size_t self) override {
    ArrayBase total;
    const auto give = [&](ArrayBase share) {
      if (ArrayAccess::buffer(total))
        add_to(total, share);
      else
        total = std::move(share);
    };
    if (const ArrayBase* const t = sweep.find(to_x_))
      give(contract(*t, w_, with_new_levels(target_, layout_of(x_), layout_of(*t))));
    if (const ArrayBase* const t = sweep.find(to_w_))
      give(contract(x_, *t, with_new_levels(target_, layout_of(w_), layout_of(*t))));
    if (const ArrayBase* const t = sweep.find(to_b_))
      give(broadcast_frame(*t, broadcast("linear", target_, layout_of(*t))));
    if (const ArrayBase* const t = sweep.find(to_added_)) give(*t);
    if (ArrayAccess::buffer(total)) sweep.put(self, std::move(total));
  }

  Watchers watchers(const Tape& tape) const override {
    return tape.watchers(to_x_) | tape.watchers(to_w_) | tape.watchers(to_b_) | tape.watchers(to_added_);
  }

 private:
  static std::uint64_t serial(const ArrayBase& a) { return is_recorded(a) ? serial_of(a) : 0; }
  ArrayBase share_of_w(const ArrayBase& g) const {
    return contract(transpose_matrices(x_), g, with_new_levels(layout_of(w_), target_, layout_of(g)));
  }
  // The gradients of w and b as one launch; false where no kernel does this, or another transform watches.
  bool pull_together(const ArrayBase& g, ArrayBase& of_w, ArrayBase& of_b) const {
    const Device device = x_.device();
    if (recording.tape || g.device() != device || g.dtype() != x_.dtype() ||
        !(static_cast<const Frame&>(layout_of(g)) == target_))
      return false;
    const ArrayBase x = transpose_matrices(x_);
    const ContractionPlan plan = contraction_plan(layout_of(x), layout_of(g), layout_of(w_));
    if (!plan.batch.empty() || !is_dense(plan, layout_of(w_))) return false;
    of_w = allocate(g.dtype(), layout_of(w_), device);
    of_b = allocate(g.dtype(), bias_, device);
    const ops::ProductAndSums form{g.dtype(), plan.product};
    const std::initializer_list<const void*> data = {device_data(x), device_data(g), device_data(of_w),
                                                     device_data(of_b)};
    if (!backend::has(device, form, data)) return false;
    backend::run(device, form, data);
    check_result("linear", of_w, {&x, &g}, form.flops());
    check_result("linear", of_b, {&g}, static_cast<double>(target_.size()));
    return true;
  }

  ArrayBase x_, w_;
  Frame bias_, target_;
  std::uint64_t to_x_, to_w_, to_b_, to_added_;
};

NAX_ENGINE void record_linear(ArrayBase& z, const LinearParts& parts) {
  ArrayAccess::serial(z) = recording.tape->emplace<LinearLayerNode>(parts, layout_of(z));
}

}  // namespace detail
NAX_END
