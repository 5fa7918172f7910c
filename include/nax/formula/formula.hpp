#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nax/core/dtype.hpp"
#include "nax/formula/operation.hpp"

// A formula: a list of operations on numbers of one type, operands before what is made of them. A value like
// any other: it is copied, compared, hashed and printed.
NAX_BEGIN
namespace formula {

struct Step {
  static constexpr int most_operands = 4;

  Operation operation{};
  unsigned char arity = 0;
  std::array<int, most_operands> operand{};  // numbers of steps
  // Of an input its number, of a constant its double, of bit which one, of call and rescue the LaneFunction.
  std::uint64_t detail = 0;

  bool truth() const { return facts(operation).truth; }
  NAX_ENGINE double number() const;
  NAX_ENGINE const LaneFunction& function() const;
  bool operator==(const Step&) const = default;
};

struct Formula {
  DType type = DType::float32;  // or float64
  int inputs = 0;
  std::vector<Step> steps;
  std::vector<int> results;  // numbers of steps

  bool operator==(const Formula&) const = default;
  NAX_ENGINE std::uint64_t hash() const;
  // One line a step: `t2 = multiply(t0, t1)`.
  NAX_ENGINE std::string text() const;
};

// Whether every step is one that machines have, as `lowered` makes them.
NAX_ENGINE bool is_lowered(const Formula& f);

}  // namespace formula
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/formula/formula-inl.hpp"
#endif
