#pragma once

#include "nax/formula/machine/step_forms.hpp"

// Steps of several instructions on numbers: extrema, signs, exponents and mantissas, tests of bits.
NAX_BEGIN
namespace formula::jit {

class NumberSteps : public StepForms {
 public:
  using StepForms::StepForms;

 protected:
  template <class F>
  void extremum(int i, const F& f) {
    const Xmm a = number(x(i)), b = number(y(i)), d = vec(fresh_vector());
    if (wide_) {
      const Opmask is_number(fresh_mask());
      compare(is_number, a, a, equal);
      move(d, a);
      f(d | is_number, a, b);
    } else {
      const Xmm is_nan = vec(fresh_vector());
      f(d, a, b);
      compare(is_nan, a, a, unordered);
      blend(d, d, a, is_nan);
    }
    bind(i, d.getIdx());
  }

  void signed_by(int i, bool positive) {
    const Xmm size = number(x(i)), sign = number(y(i)), d = vec(fresh_vector());
    if (wide_) {
      move(d, positive ? sign_mask() : size_mask());
      const std::uint8_t table = positive ? 0xEC : 0xCA;
      single_ ? vpternlogd(d, size, sign, table) : vpternlogq(d, size, sign, table);
    } else {
      all_and(d, sign, sign_mask());
      if (positive) {
        all_or(d, d, size);
      } else {
        const Xmm t = vec(fresh_vector());
        all_and(t, size, size_mask());
        all_or(d, d, t);
      }
    }
    bind(i, d.getIdx());
  }

  void mantissa_of(const Xmm& d, const Operand& a) {
    single_ ? vgetmantps(d, a, 0x0B) : vgetmantpd(d, a, 0x0B);
  }
  void exponent_of(int i) {
    const Xmm a = number(x(i)), d = vec(fresh_vector()), m = vec(fresh_vector());
    const Opmask low(fresh_mask());
    mantissa_of(m, a);
    single_ ? vgetexpps(d, a) : vgetexppd(d, a);
    compare(low, m, pool_number(1), less);
    all_add(d | low, d, pool_number(1));
    bind(i, d.getIdx());
  }
  void limit(int i) {
    if (wide_)
      return two_bits(i, [&](const Xmm& d, const Xmm& a) {
        single_ ? vrangeps(d, a, pool_number(0.5), 2) : vrangepd(d, a, pool_number(0.5), 2);
      });
    const Xmm a = number(x(i)), d = vec(fresh_vector()), t = vec(fresh_vector());
    all_and(d, a, size_mask());
    all_min(d, d, pool_number(0.5));
    all_and(t, a, sign_mask());
    all_or(d, d, t);
    bind(i, d.getIdx());
  }

  // ---- AVX2, which has no such instructions

  void shift_up(const Xmm& d, const Xmm& a, int by) {
    single_ ? vpslld(d, a, static_cast<std::uint8_t>(by)) : vpsllq(d, a, static_cast<std::uint8_t>(by));
  }
  void scale_by_powers(int i) {
    const Xmm a = number(x(i)), k = number(y(i)), d = vec(fresh_vector()), t = vec(fresh_vector()),
              h = vec(fresh_vector());
    const double most = single_ ? 252 : 2044;
    const std::uint32_t bias = single_ ? 127 : 1023;
    const int mantissa_bits = single_ ? 23 : 52;
    move(t, pool_number(most));
    all_min(t, t, k);
    move(h, pool_number(-most));
    all_max(t, h, t);
    if (single_)
      vcvtps2dq(t, t);
    else
      vaddpd(t, t, pool_number(6755399441055744.0));
    vpsrad(h, t, 1);
    vpsubd(t, t, h);
    vpaddd(h, h, pool_pair(bias));
    vpaddd(t, t, pool_pair(bias));
    shift_up(h, h, mantissa_bits);
    shift_up(t, t, mantissa_bits);
    all_mul(d, a, h);
    all_mul(d, d, t);
    compare(t, k, k, unordered);
    all_or(d, d, t);
    bind(i, d.getIdx());
  }
  void parts(int i, bool exponent) {
    const Xmm a = number(x(i)), d = vec(fresh_vector()), little = vec(fresh_vector()),
              b = vec(fresh_vector()), above = vec(fresh_vector()), good = vec(fresh_vector());
    // subnormal numbers are brought up
    compare(little, a, pool_number(single_ ? 0x1p-126 : 0x1p-1022), less);
    all_mul(b, a, pool_number(single_ ? 0x1p23 : 0x1p52));
    blend(b, a, b, little);
    // counted from the bits of 3/4, the upper bits are the exponent
    if (single_) {
      vpsubd(above, b, pool(0x3f400000));
      vpsrad(above, above, 23);
    } else {
      vpaddq(above, b, pool(0x4000000000000000 - 0x3fe8000000000000));
      vpsrlq(above, above, 52);
    }
    // positive and finite: 0 < a < infinity
    vpxor(d, d, d);
    compare(good, d, a, less);
    compare(d, a, pool_number(std::numeric_limits<double>::infinity()), less);
    all_and(good, good, d);
    if (exponent) {
      if (single_) {
        vcvtdq2ps(above, above);
      } else {
        vpor(above, above, pool(0x4330000000000000));
        vsubpd(above, above, pool_number(4503599627370496.0 + 1024));
      }
      all_and(little, little, pool_number(single_ ? 23 : 52));
      all_sub(above, above, little);
      vpxor(d, d, d);
      compare(d, a, d, equal);
      move(b, pool_number(-std::numeric_limits<double>::infinity()));
      blend(d, a, b, d);
      blend(d, d, above, good);
    } else {
      if (single_) {
        vpslld(above, above, 23);
        vpsubd(b, b, above);
      } else {
        vpsubq(above, above, pool(1024));
        vpsllq(above, above, 52);
        vpsubq(b, b, above);
      }
      vpxor(d, d, d);
      compare(d, a, d, not_at_least);
      all_or(d, d, pool_number(1));
      blend(d, d, b, good);
    }
    bind(i, d.getIdx());
  }

  void bit_test(int i, int bit) {
    const Xmm a = number(x(i));
    const bool top = bit == element() * 8 - 1;
    if (wide_) {
      const Opmask d(result_register(i));
      if (top)
        single_ ? vpmovd2m(d, a) : vpmovq2m(d, a);
      else
        single_ ? vptestmd(d, a, pool(std::uint64_t(1) << bit))
                : vptestmq(d, a, pool(std::uint64_t(1) << bit));
      return bind(i, d.getIdx());
    }
    const Xmm d = vec(fresh_vector());
    const Xmm* from = &a;
    if (!top) {
      shift_up(d, a, element() * 8 - 1 - bit);
      from = &d;
    }
    if (single_) {
      vpsrad(d, *from, 31);
    } else {
      const Xmm zero = vec(fresh_vector());
      vpxor(zero, zero, zero);
      vpcmpgtq(d, zero, *from);
    }
    bind(i, d.getIdx());
  }
};

}  // namespace formula::jit
NAX_END
