#pragma once

#include <initializer_list>
#include <unordered_map>

#include "nax/formula/formula.hpp"

// Writes a formula down. What is recorded is simplified at once: constants are folded, equal steps are one,
// x * 1 is x, and so on where that changes no bit; what no result reads is dropped at the end.
NAX_BEGIN
namespace formula {

// Operands of a step. (Templates name the type: nvcc loses the braces of a list whose type depends on them.)
using Places = std::initializer_list<int>;

class Recorder {
 public:
  // Until it ends, symbols of this thread are recorded here. `lowers`: functions are written out.
  // `type`: of inputs and constants that are recorded without one.
  NAX_ENGINE explicit Recorder(DType type, bool lowers = false);
  NAX_ENGINE ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  // The recorder of this thread; a ValueError where there is none.
  NAX_ENGINE static Recorder& current();

  DType type() const { return formula_.type; }
  int input(int number) { return input(number, type()); }
  NAX_ENGINE int input(int number, DType type);
  int constant(double value) { return constant(value, type()); }
  NAX_ENGINE int constant(double value, DType type);
  // The number that is stored there.
  NAX_ENGINE int constant_at(const void* place, DType stored);
  NAX_ENGINE int truth(bool value);
  // A number as one of another type; x where it is one of that type.
  NAX_ENGINE int convert(int x, DType to);
  // Numbers of an operation have one type but where it converts; those of 16 bits are floats.
  NAX_ENGINE int record(Operation operation, Places operands, std::uint64_t detail = 0);
  // Also functions and guarded are appended as they are.
  NAX_ENGINE int record_step(const Step& step);
  const Step& step(int at) const { return formula_.steps[static_cast<std::size_t>(at)]; }
  int size() const { return static_cast<int>(formula_.steps.size()); }
  NAX_ENGINE Formula finish(const std::vector<int>& results);

 private:
  struct HashStep {
    NAX_ENGINE std::size_t operator()(const Step& step) const;
  };
  NAX_ENGINE int append(const Step& step);
  NAX_ENGINE DType inferred(const Step& step) const;
  NAX_ENGINE int simplified(const Step& step);  // the number of an equal step, or -1
  NAX_ENGINE int simplified_truth(const Step& step);
  NAX_ENGINE int folded(const Step& step);
  bool is_constant(int at) const { return step(at).operation == Operation::constant; }
  NAX_ENGINE bool is_number(int at, double value) const;
  bool is(int at, Operation operation) const { return step(at).operation == operation; }

  Formula formula_;
  std::unordered_map<Step, int, HashStep> known_;
  bool lowers_;
  Recorder* outer_;
};

// The steps that results read, numbered anew in their order.
NAX_ENGINE Formula without_dead_steps(const Formula& f);
// The formula in steps that machines have: functions become their polynomials. `contracts`: a product and a
// sum become one step with one rounding, as compilers make it of kernels; without, results have the bits of
// nax's packets compiled with -ffp-contract=off.
NAX_ENGINE Formula lowered(const Formula& f, bool contracts = true);

}  // namespace formula
NAX_END
