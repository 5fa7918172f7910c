#pragma once

#include "nax/formula/machine/body.hpp"

// Common forms of steps: instructions of one, two or three operands, comparisons, operations on truth values.
NAX_BEGIN
namespace formula::jit {

class StepForms : public Body {
 public:
  using Body::Body;

 protected:
  // Predicates of vcmpps.
  enum Predicate {
    equal = 0,
    unordered = 3,
    not_equal = 4,
    ordered = 7,
    less = 17,
    less_equal = 18,
    not_at_least = 25
  };

  int x(int i) const { return operand(i, 0); }
  int y(int i) const { return operand(i, 1); }
  int z(int i) const { return operand(i, 2); }

  // f(result, first, second); the second may lie in memory.
  template <class F>
  void two(int i, int a, int b, const F& f) {
    const Xmm first = number(a);
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
  void truths(int i, const F& wide, const F& narrow) {
    const int a = in_register(x(i)), b = step(i).arity > 1 ? in_register(y(i)) : a;
    const int r = result_register(i);
    (wide_ ? wide : narrow)(r, a, b);
    bind(i, r);
  }
  void comparison(int i, Predicate how) {
    const Xmm a = number(x(i));
    with(y(i), [&](const Operand& b) {
      const int r = result_register(i);
      wide_ ? compare(Opmask(r), a, b, how) : compare(vec(r), a, b, how);
      bind(i, r);
    });
  }
  template <class F>
  void two_bits(int i, const F& f) {
    const Xmm a = number(x(i));
    const int r = result_register(i);
    f(vec(r), a);
    bind(i, r);
  }

  using Form = void (Assembler::*)(const Xmm&, const Xmm&, const Operand&);
  bool ends_in_register(int v) const { return dies_now(v) && places_[at(v)].reg >= 0; }
  void multiply_add(int i, Form by_213, Form by_231) {
    int a = x(i), b = y(i);
    const int c = z(i);
    if (!ends_in_register(a) && ends_in_register(b)) std::swap(a, b);
    if (ends_in_register(a) && a != b && a != c) {  // a = b a + c
      const Xmm d = number(a), factor = number(b);
      with(c, [&](const Operand& term) { (this->*by_213)(d, factor, term); });
      return take_over(i, a);
    }
    if (ends_in_register(c) && c != a && c != b) {  // c = a b + c
      const Xmm d = number(c);
      if (places_[at(a)].reg < 0 && places_[at(b)].reg >= 0) std::swap(a, b);
      const Xmm factor = number(a);
      with(b, [&](const Operand& other) { (this->*by_231)(d, factor, other); });
      return take_over(i, c);
    }
    if (places_[at(a)].reg < 0 && places_[at(b)].reg >= 0) std::swap(a, b);
    const Xmm factor = number(a), d = vec(fresh_vector());
    if (places_[at(b)].reg < 0 && places_[at(c)].reg >= 0) {  // load a factor, which the product replaces
      const Xmm term = number(c);
      load_copy(d, b);
      (this->*by_213)(d, factor, term);
    } else {
      load_copy(d, c);
      with(b, [&](const Operand& other) { (this->*by_231)(d, factor, other); });
    }
    bind(i, d.getIdx());
  }
  void load_copy(const Xmm& d, int v) {
    if (places_[at(v)].reg < 0 && in_memory(v))
      move(d, memory(v));
    else
      move(d, number(v));
  }
  void take_over(int i, int v) {
    const int r = places_[at(v)].reg;
    places_[at(v)].reg = -1;
    bind(i, r);
  }
};

}  // namespace formula::jit
NAX_END
