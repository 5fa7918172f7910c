#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nax/core/dtype.hpp"
#include "nax/formula/operation.hpp"
#include "nax/loops/lane.hpp"

// A formula: a list of operations on numbers, operands before what is made of them. A value like any other:
// it is copied, compared, hashed and printed.
//
// Each step has the type of its number. Those of 16-bit floats are held as the floats that they equal: inputs
// are widened, `convert` rounds, and what is computed of them is a float. A truth has the type of the numbers
// that it was found of.
NAX_BEGIN
namespace formula {

using nax::detail::lane_of;

struct Step {
  static constexpr int most_operands = 4;

  Operation operation{};
  unsigned char arity = 0;
  std::array<int, most_operands> operand{};  // numbers of steps
  // Of an input its number, of a constant its double (of a whole one its 64 bits), of bit which one, of call
  // and rescue the LaneFunction.
  std::uint64_t detail = 0;
  DType type = DType::float32;

  bool truth() const { return facts(operation).truth; }
  // Of a constant.
  NAX_ENGINE double number() const;
  NAX_ENGINE const LaneFunction& function() const;
  bool operator==(const Step&) const = default;
};

struct Formula {
  static constexpr DType mixed = DType::complex128;  // none that steps have
  // Of all steps: float32, float64, or `mixed` where they are others or differ.
  DType type = DType::float32;
  int inputs = 0;
  std::vector<Step> steps;
  std::vector<int> results;  // numbers of steps

  bool operator==(const Formula&) const = default;
  NAX_ENGINE std::uint64_t hash() const;
  // How inputs and results are stored. Unread inputs are of any type.
  NAX_ENGINE std::vector<DType> input_types() const;
  NAX_ENGINE std::vector<DType> result_types() const;
  // One line a step: `t2 = multiply(t0, t1)`.
  NAX_ENGINE std::string text() const;
};

// The type of all steps, or `mixed`.
NAX_ENGINE DType common_type(const std::vector<Step>& steps);
// Whether every step is one that machines have, as `lowered` makes them.
NAX_ENGINE bool is_lowered(const Formula& f);

}  // namespace formula
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/formula/formula-inl.hpp"
#endif
