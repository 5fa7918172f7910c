#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "nax/formula/recorder.hpp"

// Steps of a formula that are multiples of others.
NAX_BEGIN
namespace program::detail {

// Factors of a product; a missing number stands for a change of sign.
using Factors = std::vector<std::optional<double>>;

struct Multiple {
  int of = -1;      // a step of the formula
  Factors factors;  // the last first
};
// Walks from a step down to the first one that `ends` holds for. A cotangent's shares are zero where it is,
// whatever it is multiplied by; finite factors give zero there, too.
template <class Ends>
std::optional<Multiple> multiple_of(const formula::Formula& f, int at, const Ends& ends) {
  using formula::Operation;
  const auto step = [&](int i) -> const formula::Step& { return f.steps[static_cast<std::size_t>(i)]; };
  const auto is_finite = [&](int i) {
    return step(i).operation == Operation::constant && std::isfinite(step(i).number());
  };
  Multiple found;
  std::vector<int> cotangents;  // that are still to come on the way
  for (;;) {
    std::erase(cotangents, at);
    if (cotangents.empty() && ends(at)) {
      found.of = at;
      return found;
    }
    const formula::Step& s = step(at);
    const int first = s.operand[0], second = s.operand[1];
    if (s.operation == Operation::negative) {
      found.factors.push_back(std::nullopt);
      at = first;
    } else if (s.operation == Operation::multiply && is_finite(second)) {
      found.factors.push_back(step(second).number());
      at = first;
    } else if (s.operation == Operation::multiply && is_finite(first)) {
      found.factors.push_back(step(first).number());
      at = second;
    } else if (s.operation == Operation::unless_ended && step(first).operation == Operation::not_equal &&
               is_finite(step(first).operand[1]) && step(step(first).operand[1]).number() == 0) {
      cotangents.push_back(step(first).operand[0]);
      at = second;
    } else {
      return std::nullopt;
    }
  }
}
// The product of an operand of that type with the factors.
inline formula::Formula product_with(const Factors& factors, DType type) {
  formula::Recorder recorder(type);
  int last = recorder.input(0);
  for (std::size_t k = factors.size(); k-- > 0;)
    last = factors[k] ? recorder.record(formula::Operation::multiply, {last, recorder.constant(*factors[k])})
                      : recorder.record(formula::Operation::negative, {last});
  formula::Formula f = recorder.finish({last});
  f.inputs = 1;
  return f;
}

}  // namespace program::detail
NAX_END
