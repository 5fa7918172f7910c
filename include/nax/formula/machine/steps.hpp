#pragma once

#include "nax/formula/machine/call_steps.hpp"

// Each operation as instructions.
NAX_BEGIN
namespace formula::jit {

class Steps : public CallSteps {
 public:
  using CallSteps::CallSteps;

 protected:
  void write_step(int i) {
    now_ = i;
    const Typed typed(*this, step(i).type);
    switch (step(i).operation) {
      case Op::input:
      case Op::constant:
        return;  // where they are read
      case Op::convert:
        if (uses_[at(i)].empty()) return end_step(i);  // rounded where it is stored
        [[fallthrough]];
      default:
        write(i);
        end_step(i);
        if (uses_[at(i)].empty()) release(i);
    }
  }

 private:
  void write(int i) {
    if (write_whole(i) || write_by_masks(i)) return;
    switch (step(i).operation) {
      case Op::add:
        return commuting(i, [&](const Vector& d, const Vector& a, const Operand& b) { all_add(d, a, b); });
      case Op::subtract:
        return two(i, x(i), y(i),
                   [&](const Vector& d, const Vector& a, const Operand& b) { all_sub(d, a, b); });
      case Op::multiply:
        return commuting(i, [&](const Vector& d, const Vector& a, const Operand& b) { all_mul(d, a, b); });
      case Op::divide:
        return two(i, x(i), y(i),
                   [&](const Vector& d, const Vector& a, const Operand& b) { all_div(d, a, b); });
      case Op::at_least:
        return bounded(i, false);
      case Op::at_most:
        return bounded(i, true);
      case Op::negative:
        return two_bits(i, [&](const Vector& d, const Vector& a) { all_negative(d, a); });
      case Op::absolute:
        return two_bits(i, [&](const Vector& d, const Vector& a) { all_absolute(d, a); });
      case Op::sqrt:
        return one(i, [&](const Vector& d, const Operand& a) { all_sqrt(d, a); });
      case Op::rint:
        return one(i, [&](const Vector& d, const Operand& a) { all_round(d, a, Rounding::nearest); });
      case Op::floor:
        return one(i, [&](const Vector& d, const Operand& a) { all_round(d, a, Rounding::down); });
      case Op::ceil:
        return one(i, [&](const Vector& d, const Operand& a) { all_round(d, a, Rounding::up); });
      case Op::trunc:
        return one(i, [&](const Vector& d, const Operand& a) { all_round(d, a, Rounding::to_zero); });
      case Op::maximum:
        return extremum(i, false);
      case Op::minimum:
        return extremum(i, true);
      case Op::copysign:
        return signed_by(i, false);
      case Op::with_sign:
        return signed_by(i, true);
      case Op::fma:
      case Op::fms:
      case Op::fnma:
        return multiply_add(i);
      case Op::scale:
        return scale_by_powers(i);
      case Op::mantissa:
        return parts(i, false);
      case Op::exponent:
        return parts(i, true);
      case Op::limited:
        return limit(i);
      case Op::equal:
        return comparison(i, equal);
      case Op::not_equal:
        return comparison(i, not_equal);
      case Op::less:
        return comparison(i, less);
      case Op::less_equal:
        return comparison(i, less_equal);
      case Op::sign_bit:
        return bit_test(i, element() * 8 - 1);
      case Op::bit:
        return bit_test(i, static_cast<int>(step(i).detail));
      default:
        return write_truths(i);
    }
  }

  void write_truths(int i) {
    switch (step(i).operation) {
      case Op::known: {
        const int r = fresh_vector();
        move(vec(r), step(i).detail != 0 ? all_ones() : pool(0));
        return bind(i, r);
      }
      case Op::both:
        return of_truths(i, [&](const Vector& d, const Vector& a, const Vector& b) { all_and(d, a, b); });
      case Op::either:
        return of_truths(i, [&](const Vector& d, const Vector& a, const Vector& b) { all_or(d, a, b); });
      case Op::differ:
        return of_truths(i, [&](const Vector& d, const Vector& a, const Vector& b) { all_xor(d, a, b); });
      case Op::keep:
        return two(i, x(i), y(i),
                   [&](const Vector& d, const Vector& a, const Operand& b) { all_and(d, a, b); });
      case Op::opposite:
        return two_bits(i, [&](const Vector& d, const Vector& a) { all_not(d, a); });
      case Op::select:
        return select(i);
      case Op::call:
      case Op::rescue:
        return call(i);
      default:
        throw ValueError(std::string("formula: no instructions for ") + facts(step(i).operation).name);
    }
  }

  void comparison(int i, Predicate how) {
    two(i, x(i), y(i), [&](const Vector& d, const Vector& a, const Operand& b) { compare(d, a, b, how); });
  }
  void select(int i) {
    const int truth = in_register(x(i));
    const Vector no = number(z(i));
    with(y(i), [&](const Operand& yes) {
      const int r = result_register(i);
      choose(vec(r), no, yes, truth);
      bind(i, r);
    });
  }
};

}  // namespace formula::jit
NAX_END
