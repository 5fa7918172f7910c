#pragma once

#include "nax/program/record/loop.hpp"
#include "nax/program/replay/walks.hpp"

// Products that leave a loop's body. The products of all turns are one product, of longer operands:
//   y_t = x_t W        is Y = X W, computed before the loop
//   s = s + h_t^T g_t  is S = H^T G, computed behind it
NAX_BEGIN
namespace program {
namespace detail {

inline bool contains(const std::vector<int>& slots, int slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

}  // namespace detail

NAX_ENGINE Step* BodyRecording::only(int slot, bool written) {
  Step* found = nullptr;
  for (Step& step : recorder_->steps)
    for (const Operand& x : step.operands) {
      if (x.place.slot != slot || x.written != written) continue;
      if (found && found != &step) return nullptr;
      found = &step;
    }
  return found;
}

NAX_ENGINE bool BodyRecording::is_read(int slot) const {
  for (const Step& step : recorder_->steps)
    for (const Operand& x : step.operands)
      if (x.place.slot == slot && !x.written) return true;
  return false;
}
NAX_ENGINE bool BodyRecording::is_known(int slot) const {
  return std::any_of(known_.begin(), known_.end(), [=](const auto& k) { return k.first == slot; });
}

NAX_ENGINE void BodyRecording::erase(const Step* first, const Step* second) {
  const Step* at = recorder_->steps.data();
  std::erase_if(recorder_->steps, [&](const Step&) {
    const bool gone = at == first || at == second;
    ++at;
    return gone;
  });
}

NAX_ENGINE std::vector<TurnProduct> BodyRecording::take_products_of_rows(const std::vector<int>& rows,
                                                                         std::int64_t turns) {
  constexpr std::size_t most_bytes = std::size_t{1} << 26;  // of all results
  std::vector<TurnProduct> taken;
  for (std::size_t i = 0; i < recorder_->steps.size();) {
    const Step& step = recorder_->steps[i++];
    if (!step.product || step.product->product.k == 0) continue;
    const Operand &a = step.operands[0], &b = step.operands[1], &c = step.operands[2];
    const auto is_outer = [&](const Operand& x) { return x.place.slot < 0 || outer_slot(x.place.slot) >= 0; };
    const bool fits = (detail::contains(rows, a.place.slot) && is_outer(b)) ||
                      (detail::contains(rows, b.place.slot) && is_outer(a));
    if (!fits || is_known(c.place.slot) ||
        bytes(c.place.slot) > most_bytes / static_cast<std::size_t>(turns) ||
        !detail::is_all(c, bytes(c.place.slot)) || only(c.place.slot, true) != &step)
      continue;
    taken.push_back({*step.product, a.place, b.place, c.place.slot});
    erase(&recorder_->steps[--i]);
  }
  return taken;
}

NAX_ENGINE std::optional<TurnProduct> BodyRecording::take_sum(int before, int after,
                                                              const std::vector<int>& rows) {
  // The terms' rows are kept: they may be so many times as large as the sum.
  constexpr std::size_t most_bytes = 8;
  Step* const sum = only(after, true);
  if (!sum || !sum->adds || only(before, false) != sum || is_read(after)) return std::nullopt;
  for (const std::size_t term : {std::size_t{1}, std::size_t{0}}) {
    const Operand &from = sum->operands[1 - term], &added = sum->operands[term];
    if (from.place.slot != before || added.place.slot < 0 || outer_slot(added.place.slot) >= 0) continue;
    if (!detail::is_all(from, bytes(before)) || !detail::is_all(added, bytes(before)) ||
        !detail::is_all(sum->operands[2], bytes(before)))
      continue;
    const int product_slot = added.place.slot;
    Step* const product = only(product_slot, true);
    if (!product || !product->product || only(product_slot, false) != sum || product->product->product.k == 0)
      continue;
    if (!detail::is_all(product->operands[2], bytes(product_slot))) continue;
    bool fits = true;
    for (const Operand* x : {&product->operands[0], &product->operands[1]}) {
      const int slot = x->place.slot;
      if (slot < 0 || outer_slot(slot) >= 0 || slot == before) {
        fits = false;
      } else if (!detail::contains(rows, slot)) {
        bool is_made = false;
        for (const Step& step : recorder_->steps)
          for (const Operand& y : step.operands) is_made = is_made || (y.written && y.place.slot == slot);
        fits = fits && is_made && !is_known(slot) && bytes(slot) <= most_bytes * bytes(before);
      }
    }
    if (!fits) continue;
    TurnProduct taken{*product->product, product->operands[0].place, product->operands[1].place,
                      product_slot};
    erase(sum, product);
    return taken;
  }
  return std::nullopt;
}

}  // namespace program
NAX_END
