#pragma once

#include "nax/formula/machine/step_forms.hpp"

// Steps for which NEON has instructions of its own.
NAX_BEGIN
namespace formula::jit {

class MachineSteps : public StepForms {
 public:
  using StepForms::StepForms;

 protected:
  using Op = Operation;

  static bool write_by_masks(int) { return false; }
  static bool write_whole(int) { return false; }

  void choose(const Vector& d, const Vector& no, const Operand& yes, int truth) {
    blend(d, no, yes, vec(truth));
  }
  void truth_as_number(const Vector& d, int truth) { all_and(d, vec(truth), pool_number(1)); }

  // x where one is NaN or both are equal.
  void bounded(int i, bool above) {
    const Vector a = number(x(i)), bound = number(y(i)), d = vec(fresh_vector());
    above ? compare(d, bound, a, less) : compare(d, a, bound, less);
    choose_bits(d, bound, a);
    bind(i, d);
  }
  void extremum(int i, bool least) {
    two(i, x(i), y(i), [&](const Vector& d, const Vector& a, const Operand& b) {
      least ? all_min(d, a, b) : all_max(d, a, b);
    });
  }
  void signed_by(int i, bool) {
    const Vector size = number(x(i)), sign = number(y(i)), d = vec(fresh_vector());
    move(d, sign_mask());
    choose_bits(d, sign, size);
    bind(i, d);
  }
  void limit(int i) {
    const Vector a = number(x(i)), d = vec(fresh_vector());
    all_absolute(d, a);
    number_min(d, d, pool_number(0.5));
    insert_bits(d, a, sign_mask());
    bind(i, d);
  }
  void bit_test(int i, int bit) {
    const Vector a = number(x(i)), d = vec(fresh_vector());
    const int above = element() * 8 - 1 - bit;
    if (above > 0) shift_up(d, a, above);
    spread_top_bit(d, above > 0 ? d : a);
    bind(i, d);
  }
  void multiply_add(int i) {
    const int c = z(i);
    const bool negates = step(i).operation == Op::fms;
    const Vector a = number(x(i)), b = number(y(i)), term = number(c);
    const bool replaces = ends_in_register(c) && c != x(i) && c != y(i);
    const Vector d = replaces ? term : vec(fresh_vector());
    negates ? all_negative(d, term) : move(d, term);
    step(i).operation == Op::fnma ? subtract_product(d, a, b) : add_product(d, a, b);
    replaces ? take_over(i, c) : bind(i, d);
  }
};

}  // namespace formula::jit
NAX_END
