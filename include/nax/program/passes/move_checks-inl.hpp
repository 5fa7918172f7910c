#pragma once

#include <algorithm>

#include "nax/program/passes/passes.hpp"

NAX_BEGIN
namespace program::detail {

// The checks and what they need: steps that may go before all others without a change of order among them.
class ForemostSteps {
 public:
  ForemostSteps(const std::vector<Slot>& slots, const std::vector<Step>& steps)
      : slots_(slots), steps_(steps), foremost_(steps.size(), 0) {}

  // Adds a step with all that it needs, if these write little: their results live from the beginning on.
  void add(std::size_t check) {
    std::vector<char> read(slots_.size(), 0), written(slots_.size(), 0);
    std::vector<std::size_t> needed;
    double bytes = 0;
    for (std::size_t i = check + 1; i-- > 0;) {
      if (foremost_[i] || (i != check && !precedes(steps_[i], read, written))) continue;
      needed.push_back(i);
      for (const Operand& x : steps_[i].operands) {
        if (x.place.slot >= 0) (x.written ? written : read)[static_cast<std::size_t>(x.place.slot)] = 1;
        if (x.written) bytes += bytes_of(x);
      }
      if (bytes > most_bytes) return;
    }
    for (const std::size_t i : needed) foremost_[i] = 1;
  }
  bool contains(std::size_t i) const { return foremost_[i] != 0; }

 private:
  static constexpr double most_bytes = 1 << 12;
  // Must it run before steps that read and write these slots?
  static bool precedes(const Step& step, const std::vector<char>& read, const std::vector<char>& written) {
    return std::any_of(step.operands.begin(), step.operands.end(), [&](const Operand& x) {
      if (x.place.slot < 0) return false;
      const std::size_t slot = static_cast<std::size_t>(x.place.slot);
      return written[slot] || (x.written && read[slot]);
    });
  }

  const std::vector<Slot>& slots_;
  const std::vector<Step>& steps_;
  std::vector<char> foremost_;  // by step
};

NAX_ENGINE void move_checks_first(const std::vector<Slot>& slots, std::vector<Step>& steps) {
  ForemostSteps foremost(slots, steps);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].unforeseen) foremost.add(i);
  std::vector<Step> moved;
  for (const bool first : {true, false})
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (foremost.contains(i) == first) moved.push_back(std::move(steps[i]));
  steps = std::move(moved);
}

}  // namespace program::detail
NAX_END
