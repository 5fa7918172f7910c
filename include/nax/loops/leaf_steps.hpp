#pragma once

#include <cstdint>

#include "nax/core/dtype.hpp"

// Steps of an optimiser for many arrays of one dtype, as a device does them in one launch.
NAX_BEGIN
namespace loops {

enum class StepRule : std::uint8_t { sgd, momentum, nesterov, adam };

// A leaf's arrays, each of `size` elements in a row. `to` may be `from`.
struct LeafStep {
  static constexpr int most_averages = 2;

  std::int64_t size;
  const char* gradient;
  const char* params;  // null where they are neither stepped nor decay
  char* result;        // the next params, or the updates
  const char* from[most_averages];
  char* to[most_averages];
};

// Numbers of the rule, the same for all leaves. Doubles are rounded to the dtype before they are used.
struct StepNumbers {
  StepRule rule;
  bool adds_to_params;  // else the result is the update
  bool decays;          // adam: adds weight_decay times the params to the update
  double momentum, weight_decay;
  double b1, b2, eps, eps_root;
  // The rate, of the dtype, where it lies on the device; else `rate` has it.
  const char* rate_at;
  double rate;
  // adam: the steps done with this one, where the number lies on the device; else `count` has it.
  const std::int32_t* count_at;
  std::int32_t count;
};

}  // namespace loops
NAX_END
