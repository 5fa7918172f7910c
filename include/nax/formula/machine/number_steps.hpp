#pragma once

#if defined(__aarch64__)
#include "nax/formula/machine/arm/steps.hpp"
#else
#include "nax/formula/machine/x86/steps.hpp"
#endif

// Steps of several instructions on numbers, where truths are vectors: exponents and mantissas.
NAX_BEGIN
namespace formula::jit {

class NumberSteps : public MachineSteps {
 public:
  using MachineSteps::MachineSteps;

 protected:
  void scale_by_powers(int i) {
    const Vector a = number(x(i)), k = number(y(i)), d = vec(fresh_vector()), t = vec(fresh_vector()),
                 h = vec(fresh_vector());
    const double most = single_ ? 252 : 2044;
    const std::uint32_t bias = single_ ? 127 : 1023;
    const int mantissa_bits = single_ ? 23 : 52;
    move(t, pool_number(most));
    all_min(t, t, k);
    move(h, pool_number(-most));
    all_max(t, h, t);
    if (single_)
      float_to_32(t, t);
    else
      all_add(t, t, pool_number(6755399441055744.0));
    halve_32(h, t);
    subtract_32(t, t, h);
    add_32(h, h, pool_pair(bias));
    add_32(t, t, pool_pair(bias));
    shift_up(h, h, mantissa_bits);
    shift_up(t, t, mantissa_bits);
    all_mul(d, a, h);
    all_mul(d, d, t);
    compare(t, k, k, unordered);
    all_or(d, d, t);
    bind(i, d);
  }
  void parts(int i, bool exponent) {
    const Vector a = number(x(i)), d = vec(fresh_vector()), little = vec(fresh_vector()),
                 b = vec(fresh_vector()), above = vec(fresh_vector()), good = vec(fresh_vector());
    // subnormal numbers are brought up
    compare(little, a, pool_number(single_ ? 0x1p-126 : 0x1p-1022), less);
    all_mul(b, a, pool_number(single_ ? 0x1p23 : 0x1p52));
    blend(b, a, b, little);
    // counted from the bits of 3/4, the upper bits are the exponent
    if (single_)
      subtract_whole(above, b, pool(0x3f400000));
    else
      add_whole(above, b, pool(0x4000000000000000 - 0x3fe8000000000000));
    shift_down(above, above, single_ ? 23 : 52);
    // positive and finite: 0 < a < infinity
    clear(d);
    compare(good, d, a, less);
    compare(d, a, pool_number(std::numeric_limits<double>::infinity()), less);
    all_and(good, good, d);
    if (exponent) {
      if (single_) {
        float_from_32(above, above);
      } else {
        or_bits(above, above, pool(0x4330000000000000));
        all_sub(above, above, pool_number(4503599627370496.0 + 1024));
      }
      all_and(little, little, pool_number(single_ ? 23 : 52));
      all_sub(above, above, little);
      clear(d);
      compare(d, a, d, equal);
      move(b, pool_number(-std::numeric_limits<double>::infinity()));
      blend(d, a, b, d);
      blend(d, d, above, good);
    } else {
      if (!single_) subtract_whole(above, above, pool(1024));
      shift_up(above, above, single_ ? 23 : 52);
      subtract_whole(b, b, above);
      clear(d);
      compare(d, a, d, not_at_least);
      all_or(d, d, pool_number(1));
      blend(d, d, b, good);
    }
    bind(i, d);
  }
};

}  // namespace formula::jit
NAX_END
