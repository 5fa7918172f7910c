#pragma once

#include <cstring>

#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/step_graph.hpp"
#include "nax/program/record/call_work.hpp"
#include "nax/program/replay/walks.hpp"

NAX_BEGIN
namespace program::detail {

struct AddedProductWork final : Work {
  AddedProductWork(ops::Matmul form, std::size_t size) : product(std::move(form)), bytes(size) {
    product.accumulate = true;
  }
  void run(void* const* at) const override {
    if (at[3] != at[2]) std::memcpy(at[3], at[2], bytes);
    backend::run(Device(), product, {at[0], at[1], at[3]});
  }
  ops::Matmul product;
  std::size_t bytes;
};

// The sum `s` of what the product `p` gives and of its operand `before`.
inline Step added_product(const Step& p, const Step& s, const Operand& before) {
  Step made;
  made.name = "matmul_add";
  made.operands = {p.operands[0], p.operands[1], before, s.operands[2]};
  made.operands[0].across = made.operands[1].across = true;
  made.in_place = true;
  const std::size_t bytes = static_cast<std::size_t>(size_of(before.shape)) * dtype_size(before.dtype);
  made.work = std::make_shared<const AddedProductWork>(*p.product, bytes);
  made.flops = p.flops + s.flops;
  return made;
}

NAX_ENGINE void accumulate_products(const std::vector<Slot>& slots, std::vector<Step>& steps,
                                    const std::vector<int>& results) {
  const StepGraph graph(slots, steps, results);
  const auto written_once = [&](const Operand& x) {
    return x.place.slot < 0 || graph.uses(x.place.slot).writers.size() <= 1;
  };
  // Is the product's operand not written over after the product x?
  const auto is_ready = [&](const Operand& operand, const Operand& x) {
    if (operand.place.slot < 0) return true;
    const std::vector<int>& writers = graph.uses(operand.place.slot).writers;
    return writers.empty() || writers.back() < graph.uses(x.place.slot).writers[0];
  };
  // All of an array, in the order of its memory.
  const auto is_whole = [&](const Operand& x) {
    return x.place.slot >= 0 && x.place.offset == 0 && is_run(x.strides, x.shape) && written_once(x);
  };
  const auto is_fitting_product = [&](const Operand& x) {
    if (!is_whole(x) || !graph.connects_two(slots, x.place.slot)) return false;
    const Step& p = steps[static_cast<std::size_t>(graph.uses(x.place.slot).writers[0])];
    return p.product != nullptr && p.product->dtype == x.dtype && p.product->product.k > 0 &&
           size_of(p.operands[2].shape) == size_of(x.shape) && p.operands[2].place == x.place &&
           is_run(p.operands[2].strides, p.operands[2].shape) && is_ready(p.operands[0], x) &&
           is_ready(p.operands[1], x);
  };
  // Is it memory that no step after i reads?
  const auto is_free_after = [&](const Operand& x, int i) {
    return is_whole(x) && slots[static_cast<std::size_t>(x.place.slot)].kind == Slot::Kind::temporary &&
           !graph.comes_out(x.place.slot) && graph.uses(x.place.slot).readers.back() == i;
  };
  std::vector<char> gone(steps.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    if (!s.adds || !is_whole(s.operands[2]) || s.operands[0].place == s.operands[1].place) continue;
    for (const std::size_t term : {std::size_t{1}, std::size_t{0}}) {
      const Operand &product = s.operands[term], &before = s.operands[1 - term];
      if (!is_fitting_product(product) || !is_run(before.strides, before.shape) || !written_once(before))
        continue;
      // Elsewhere a map that reads the sum adds for nothing.
      if (!is_free_after(before, static_cast<int>(i)) && !graph.comes_out(s.operands[2].place.slot)) continue;
      const std::size_t p = static_cast<std::size_t>(graph.uses(product.place.slot).writers[0]);
      if (gone[p]) continue;
      gone[p] = 1;
      steps[i] = added_product(steps[p], Step(s), Operand(before));
      break;
    }
  }
  erase_marked(steps, gone);
}

}  // namespace program::detail
NAX_END
