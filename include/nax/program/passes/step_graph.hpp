#pragma once

#include "nax/program/record/recording.hpp"

NAX_BEGIN
namespace program::detail {

// Drops the steps that are marked, by their place.
inline void erase_marked(std::vector<Step>& steps, const std::vector<char>& marked) {
  std::size_t i = 0;
  std::erase_if(steps, [&](const Step&) { return marked[i++] != 0; });
}

struct SlotUses {
  std::vector<int> writers, readers;
};
// Who writes and who reads each slot.
class StepGraph {
 public:
  StepGraph(const std::vector<Slot>& slots, const std::vector<Step>& steps, const std::vector<int>& results)
      : comes_out_(slots.size(), false), uses_(slots.size()) {
    for (const int slot : results)
      if (slot >= 0) comes_out_[static_cast<std::size_t>(slot)] = true;
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (const Operand& x : steps[i].operands)
        if (x.place.slot >= 0) {
          SlotUses& uses = uses_[static_cast<std::size_t>(x.place.slot)];
          std::vector<int>& list = x.written ? uses.writers : uses.readers;
          if (list.empty() || list.back() != static_cast<int>(i)) list.push_back(static_cast<int>(i));
        }
  }
  const SlotUses& uses(int slot) const { return uses_[static_cast<std::size_t>(slot)]; }
  bool comes_out(int slot) const { return comes_out_[static_cast<std::size_t>(slot)]; }
  // Is the slot written by one step, read by one, and nothing but memory between them?
  bool connects_two(const std::vector<Slot>& slots, int slot) const {
    return slot >= 0 && slots[static_cast<std::size_t>(slot)].kind == Slot::Kind::temporary &&
           !comes_out(slot) && uses(slot).writers.size() == 1 && uses(slot).readers.size() == 1;
  }

 private:
  std::vector<char> comes_out_;
  std::vector<SlotUses> uses_;
};

}  // namespace program::detail
NAX_END
