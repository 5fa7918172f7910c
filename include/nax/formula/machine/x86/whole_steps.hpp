#pragma once

#include "nax/formula/machine/x86/convert_steps.hpp"

// Steps on whole numbers. Lanes of numbers with less than 32 bits hold them with their sign.
NAX_BEGIN
namespace formula::jit {

// Whether there are instructions for a step of x86.
inline bool has_code(const Formula& f, const Step& step, Machine machine) {
  if (step.operation == Operation::convert)
    return converts_by_code(f.steps[static_cast<std::size_t>(step.operand[0])], step.type, machine);
  return facts(step.operation).types != OperandTypes::real || dtype_kind(step.type) == Kind::floating;
}

class WholeSteps : public ConvertSteps {
 public:
  using ConvertSteps::ConvertSteps;

 protected:
  // Whether the step is one of these; then writes it.
  bool write_whole(int i) {
    if (step(i).operation == Op::convert) return convert(i), true;
    if (step(i).operation == Op::truth_as) return move_truth(i), true;
    if (!is_whole(type_)) return false;
    switch (step(i).operation) {
      case Op::add:
        return whole(i, [&](const Vector& d, const Vector& a, const Operand& b) { add_whole(d, a, b); });
      case Op::subtract:
        return whole(i, [&](const Vector& d, const Vector& a, const Operand& b) { subtract_whole(d, a, b); });
      case Op::multiply:
        return multiply_whole(i);
      case Op::negative: {
        const Vector a = number(x(i)), d = vec(fresh_vector());
        clear(d);
        subtract_whole(d, d, a);
        wrap(d);
        return bind(i, d), true;
      }
      case Op::absolute:
        return absolute_whole(i);
      case Op::maximum:
      case Op::at_least:
        return extremum_whole(i, false);
      case Op::minimum:
      case Op::at_most:
        return extremum_whole(i, true);
      case Op::bit_and:
        return bits(i, [&](const Vector& d, const Vector& a, const Operand& b) { all_and(d, a, b); });
      case Op::bit_or:
        return bits(i, [&](const Vector& d, const Vector& a, const Operand& b) { all_or(d, a, b); });
      case Op::bit_xor:
        return bits(i, [&](const Vector& d, const Vector& a, const Operand& b) { all_xor(d, a, b); });
      case Op::bit_not: {
        const Vector a = number(x(i)), d = vec(fresh_vector());
        all_not(d, a);
        wrap(d);
        return bind(i, d), true;
      }
      case Op::equal:
        return compare_whole(i, 0);
      case Op::not_equal:
        return compare_whole(i, 4);
      case Op::less:
        return compare_whole(i, 1);
      case Op::less_equal:
        return compare_whole(i, 2);
      default:
        return false;
    }
  }

 private:
  template <class F>
  bool whole(int i, const F& f) {
    const Vector a = number(x(i));
    with(y(i), [&](const Operand& b) {
      const int r = result_register(i);
      f(vec(r), a, b);
      wrap(vec(r));
      bind(i, r);
    });
    return true;
  }
  template <class F>
  bool bits(int i, const F& f) {
    two(i, x(i), y(i), f);
    return true;
  }
  bool multiply_whole(int i) {
    if (single_)
      return whole(i, [&](const Vector& d, const Vector& a, const Operand& b) { vpmulld(d, a, b); });
    if (wide_) return whole(i, [&](const Vector& d, const Vector& a, const Operand& b) { vpmullq(d, a, b); });
    const Vector a = number(x(i)), b = number(y(i)), d = vec(fresh_vector()), t = vec(fresh_vector());
    vpsrlq(d, a, 32);  // of halves; the product of the upper ones is beyond
    vpmuludq(d, d, b);
    vpsrlq(t, b, 32);
    vpmuludq(t, t, a);
    vpaddq(d, d, t);
    vpsllq(d, d, 32);
    vpmuludq(t, a, b);
    vpaddq(d, d, t);
    return bind(i, d), true;
  }
  bool absolute_whole(int i) {
    const Vector a = number(x(i)), d = vec(fresh_vector());
    if (!is_signed(type_)) {
      move(d, a);
    } else if (single_) {
      vpabsd(d, a);
      wrap(d);
    } else if (wide_) {
      vpabsq(d, a);
    } else {
      const Vector t = vec(fresh_vector());
      clear(t);
      vpcmpgtq(t, t, a);
      vpxor(d, a, t);
      vpsubq(d, d, t);
    }
    return bind(i, d), true;
  }
  bool extremum_whole(int i, bool least) {
    const bool sign = is_signed(type_);
    const Vector a = number(x(i)), b = number(y(i)), d = vec(fresh_vector());
    if (single_) {
      if (least)
        sign ? vpminsd(d, a, b) : vpminud(d, a, b);
      else
        sign ? vpmaxsd(d, a, b) : vpmaxud(d, a, b);
    } else if (wide_) {
      if (least)
        sign ? vpminsq(d, a, b) : vpminuq(d, a, b);
      else
        sign ? vpmaxsq(d, a, b) : vpmaxuq(d, a, b);
    } else {
      const Vector t = vec(fresh_vector());
      greater(t, a, b, d);
      least ? vblendvpd(d, a, b, t) : vblendvpd(d, b, a, t);
    }
    return bind(i, d), true;
  }
  // Truths of a > b (AVX2); `scratch` is free.
  void greater(const Vector& d, const Vector& a, const Vector& b, const Vector& scratch) {
    if (is_signed(type_) || (single_ && type_ != DType::uint32))
      return single_ ? vpcmpgtd(d, a, b) : vpcmpgtq(d, a, b);
    vpxor(d, a, sign_mask());
    vpxor(scratch, b, sign_mask());
    single_ ? vpcmpgtd(d, d, scratch) : vpcmpgtq(d, d, scratch);
  }
  // `how`: as of vpcmpd.
  bool compare_whole(int i, std::uint8_t how) {
    const Vector a = number(x(i)), b = number(y(i));
    if (wide_) {
      const Opmask d(fresh_mask());
      if (is_signed(type_))
        single_ ? vpcmpd(d, a, b, how) : vpcmpq(d, a, b, how);
      else
        single_ ? vpcmpud(d, a, b, how) : vpcmpuq(d, a, b, how);
      return bind(i, d.getIdx()), true;
    }
    const Vector d = vec(fresh_vector()), t = vec(fresh_vector());
    if (how == 0 || how == 4)
      single_ ? vpcmpeqd(d, a, b) : vpcmpeqq(d, a, b);
    else
      how == 1 ? greater(d, b, a, t) : greater(d, a, b, t);
    if (how == 4 || how == 2) vpxor(d, d, all_ones());
    return bind(i, d), true;
  }
};

}  // namespace formula::jit
NAX_END
