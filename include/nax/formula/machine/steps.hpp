#pragma once

#include "nax/formula/machine/call_steps.hpp"

// Each operation as instructions of AVX2 or AVX-512.
NAX_BEGIN
namespace formula::jit {

class Steps : public CallSteps {
 public:
  using CallSteps::CallSteps;

 protected:
  using Op = Operation;

  void write_step(int i) {
    now_ = i;
    switch (step(i).operation) {
      case Op::input:
      case Op::constant:
        return;  // where they are read
      default:
        write(i);
        end_step(i);
        if (uses_[at(i)].empty()) release(i);
    }
  }

 private:
  void write(int i) {
    switch (step(i).operation) {
      case Op::add:
        return commuting(i, [&](const Xmm& d, const Xmm& a, const Operand& b) { all_add(d, a, b); });
      case Op::subtract:
        return two(i, x(i), y(i), [&](const Xmm& d, const Xmm& a, const Operand& b) { all_sub(d, a, b); });
      case Op::multiply:
        return commuting(i, [&](const Xmm& d, const Xmm& a, const Operand& b) { all_mul(d, a, b); });
      case Op::divide:
        return two(i, x(i), y(i), [&](const Xmm& d, const Xmm& a, const Operand& b) { all_div(d, a, b); });
      case Op::at_least:  // the instruction gives its second operand where one is NaN or both are equal
        return two(i, y(i), x(i), [&](const Xmm& d, const Xmm& a, const Operand& b) { all_max(d, a, b); });
      case Op::at_most:
        return two(i, y(i), x(i), [&](const Xmm& d, const Xmm& a, const Operand& b) { all_min(d, a, b); });
      case Op::negative:
        return two_bits(i, [&](const Xmm& d, const Xmm& a) { all_xor(d, a, sign_mask()); });
      case Op::absolute:
        return two_bits(i, [&](const Xmm& d, const Xmm& a) { all_and(d, a, size_mask()); });
      case Op::sqrt:
        return one(i, [&](const Xmm& d, const Operand& a) { all_sqrt(d, a); });
      case Op::rint:
        return one(i, [&](const Xmm& d, const Operand& a) { all_round(d, a, 0 | 8); });
      case Op::floor:
        return one(i, [&](const Xmm& d, const Operand& a) { all_round(d, a, 1 | 8); });
      case Op::ceil:
        return one(i, [&](const Xmm& d, const Operand& a) { all_round(d, a, 2 | 8); });
      case Op::trunc:
        return one(i, [&](const Xmm& d, const Operand& a) { all_round(d, a, 3 | 8); });
      case Op::maximum:
        return extremum(i, [&](const Xmm& d, const Xmm& a, const Operand& b) { all_max(d, a, b); });
      case Op::minimum:
        return extremum(i, [&](const Xmm& d, const Xmm& a, const Operand& b) { all_min(d, a, b); });
      case Op::copysign:
        return signed_by(i, false);
      case Op::with_sign:
        return signed_by(i, true);
      case Op::fma:
        return multiply_add(i, &Steps::all_fmadd213, &Steps::all_fmadd231);
      case Op::fms:
        return multiply_add(i, &Steps::all_fmsub213, &Steps::all_fmsub231);
      case Op::fnma:
        return multiply_add(i, &Steps::all_fnmadd213, &Steps::all_fnmadd231);
      case Op::scale:
        return wide_ ? two(i, x(i), y(i),
                           [&](const Xmm& d, const Xmm& a, const Operand& b) { all_scalef(d, a, b); })
                     : scale_by_powers(i);
      case Op::mantissa:
        return wide_ ? one(i, [&](const Xmm& d, const Operand& a) { mantissa_of(d, a); }) : parts(i, false);
      case Op::exponent:
        return wide_ ? exponent_of(i) : parts(i, true);
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

  using Logic = std::function<void(int, int, int)>;
  void write_truths(int i) {
    switch (step(i).operation) {
      case Op::known: {
        const int r = fresh(bank_of(i));
        if (wide_)
          step(i).detail != 0 ? kxnorw(Opmask(r), Opmask(r), Opmask(r))
                              : kxorw(Opmask(r), Opmask(r), Opmask(r));
        else
          move(vec(r), step(i).detail != 0 ? all_ones() : pool(0));
        return bind(i, r);
      }
      case Op::both:
        return truths<Logic>(
            i, [&](int d, int a, int b) { kandw(Opmask(d), Opmask(a), Opmask(b)); },
            [&](int d, int a, int b) { all_and(vec(d), vec(a), vec(b)); });
      case Op::either:
        return truths<Logic>(
            i, [&](int d, int a, int b) { korw(Opmask(d), Opmask(a), Opmask(b)); },
            [&](int d, int a, int b) { all_or(vec(d), vec(a), vec(b)); });
      case Op::differ:
        return truths<Logic>(
            i, [&](int d, int a, int b) { kxorw(Opmask(d), Opmask(a), Opmask(b)); },
            [&](int d, int a, int b) { all_xor(vec(d), vec(a), vec(b)); });
      case Op::opposite:
        return truths<Logic>(
            i, [&](int d, int a, int) { knotw(Opmask(d), Opmask(a)); },
            [&](int d, int a, int) { all_xor(vec(d), vec(a), all_ones()); });
      case Op::select:
        return select(i);
      case Op::keep:
        return keep(i);
      case Op::call:
      case Op::rescue:
        return call(i);
      default:
        throw ValueError(std::string("formula: no instructions for ") + facts(step(i).operation).name);
    }
  }

  void select(int i) {
    if (wide_) {
      const Opmask m = mask(x(i));
      const Xmm no = number(z(i));
      with(y(i), [&](const Operand& yes) {
        const int r = result_register(i);
        all_blendm(vec(r) | m, no, yes);
        bind(i, r);
      });
    } else {
      const Xmm m = number(x(i)), no = number(z(i));
      with(y(i), [&](const Operand& yes) {
        const int r = result_register(i);
        blend(vec(r), no, yes, m);
        bind(i, r);
      });
    }
  }
  void keep(int i) {
    if (wide_) {
      const Opmask m = mask(x(i));
      with(y(i), [&](const Operand& a) {
        const int r = result_register(i);
        move(vec(r) | m | T_z, a);
        bind(i, r);
      });
    } else {
      two(i, x(i), y(i), [&](const Xmm& d, const Xmm& a, const Operand& b) { all_and(d, a, b); });
    }
  }
};

}  // namespace formula::jit
NAX_END
