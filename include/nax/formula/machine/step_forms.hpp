#pragma once

#include "nax/formula/machine/body.hpp"

// Common forms of steps: instructions of one or two operands.
NAX_BEGIN
namespace formula::jit {

class StepForms : public Body {
 public:
  using Body::Body;

 protected:
  int x(int i) const { return operand(i, 0); }
  int y(int i) const { return operand(i, 1); }
  int z(int i) const { return operand(i, 2); }

  // f(result, first, second); the second may lie in memory.
  template <class F>
  void two(int i, int a, int b, const F& f) {
    const Vector first = number(a);
    with(b, [&](const Operand& second) {
      const int r = result_register(i);
      f(vec(r), first, second);
      bind(i, r);
    });
  }
  template <class F>
  void commuting(int i, const F& f) {
    const bool first_in_memory = places_[at(x(i))].reg < 0 && places_[at(y(i))].reg >= 0;
    first_in_memory ? two(i, y(i), x(i), f) : two(i, x(i), y(i), f);
  }
  template <class F>
  void one(int i, const F& f) {
    with(x(i), [&](const Operand& a) {
      const int r = result_register(i);
      f(vec(r), a);
      bind(i, r);
    });
  }
  template <class F>
  void two_bits(int i, const F& f) {
    const Vector a = number(x(i));
    const int r = result_register(i);
    f(vec(r), a);
    bind(i, r);
  }

  template <class F>
  void of_truths(int i, const F& f) {
    const int a = in_register(x(i)), b = in_register(y(i)), r = result_register(i);
    f(vec(r), vec(a), vec(b));
    bind(i, r);
  }
  bool ends_in_register(int v) const { return dies_now(v) && places_[at(v)].reg >= 0; }
  void take_over(int i, int v) {
    const int r = places_[at(v)].reg;
    places_[at(v)].reg = -1;
    bind(i, r);
  }
};

}  // namespace formula::jit
NAX_END
