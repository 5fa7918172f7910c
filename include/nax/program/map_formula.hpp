#pragma once

#include "nax/formula/kernel.hpp"
#include "nax/program/recording.hpp"

// Maps as data. A step whose results are computed element by element may say so: its formula, and which
// operands are the formula's inputs and results. Steps that do are fused (fuse_maps.hpp).
NAX_BEGIN
namespace program {

struct MapFormula {
  // An operand of the step that is read or, where that is -1, a number of the formula's type.
  struct Input {
    int operand = -1;
    std::uint64_t number = 0;  // its bytes
  };
  formula::Formula formula;
  std::vector<Input> inputs;
  std::vector<int> results;  // operands of the step that are written, row-major and whole

  static constexpr std::size_t most_inputs = 48, most_results = 16;
};

// Gives the step the work of running its formula, over the shape of its operands, which all have one.
NAX_ENGINE void run_by_formula(Step& step);

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/map_formula-inl.hpp"
#endif
