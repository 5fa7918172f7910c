#pragma once

#include "nax/formula/kernel.hpp"
#include "nax/loops/reduce_kind.hpp"
#include "nax/program/record/recording.hpp"

// Maps as data. A step whose results are computed element by element may say so: its formula, and which
// operands are the formula's inputs and results. Steps that do are fused (fuse_maps.hpp). So does a step that
// reduces what a formula gives (fuse_reductions.hpp).
NAX_BEGIN
namespace program {

struct MapFormula {
  // An operand of the step that is read or, where that is -1, a number of the formula's type.
  struct Input {
    int operand = -1;
    std::uint64_t number = 0;  // its bytes
  };
  // An operand that is written, row-major, and goes without the axes in which its stride is 0.
  struct Reduced {
    int operand;
    loops::ReduceKind kind;
  };
  formula::Formula formula;  // its results: those that are stored, then those that are reduced
  std::vector<Input> inputs;
  // Operands of the step that are written: row-major and whole, until write_pieces lets them be parts.
  std::vector<int> results;
  std::vector<Reduced> reduced;

  // Of each input, whether the formula reads it.
  std::vector<bool> read_inputs() const {
    std::vector<bool> read(inputs.size(), false);
    for (const formula::Step& one : formula.steps)
      if (one.operation == formula::Operation::input) read[one.detail] = true;
    return read;
  }

  static constexpr std::size_t most_reduced = 4;
};

// Is it a map, which reduces nothing?
inline bool is_map(const Step& s) {
  return s.formula && s.formula->reduced.empty() && !s.unforeseen && !s.checks;
}

// Names what is wrong with the results, operands or limits of the step's formula; empty where nothing is.
NAX_ENGINE std::string problem_of_formula(const Step& step);

// Removes operands of the step that its formula does not read.
NAX_ENGINE void drop_unread(Step& step, MapFormula& map);

// Gives the step the work of running its formula, over the shape of its operands, which all have one. Throws
// Error where the formula is wrong.
NAX_ENGINE void run_by_formula(Step& step);

// Whether reductions by a formula have what they need: elements of a type that formulas have, and a kind that
// gives results of that type.
NAX_ENGINE bool reduces_by_formula(loops::ReduceKind kind, DType from, DType to);

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/replay/map_formula-inl.hpp"
#endif
