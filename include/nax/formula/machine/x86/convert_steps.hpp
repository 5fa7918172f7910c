#pragma once

#include "nax/formula/machine/step_forms.hpp"

// Conversions: of numbers to other types, of truths to numbers and to lanes of another size.
NAX_BEGIN
namespace formula::jit {

// Whether there are instructions for a conversion.
inline bool converts_by_code(const Step& from, DType to, Machine machine) {
  const bool wide = machine == Machine::avx512;
  const auto is_long = [](DType type) { return dtype_size(type) == 8; };
  const auto is_whole = [](DType type) { return dtype_kind(type) != Kind::floating; };
  if (from.truth()) return wide || is_long(from.type) == is_long(to);
  if (to == DType::boolean) return false;
  if (is_whole(from.type) && is_whole(to)) return wide || !is_long(from.type) || is_long(to);
  if (!is_whole(from.type) && !is_whole(to)) return dtype_size(to) != 2 || from.type != DType::float64;
  if (is_whole(from.type)) {
    if (dtype_size(to) == 2) return false;
    return wide || (!is_long(from.type) && from.type != DType::uint32);
  }
  return wide || (!is_long(to) && to != DType::uint32);
}

class ConvertSteps : public StepForms {
 public:
  using StepForms::StepForms;

 protected:
  using Op = Operation;

  // Rounds floats to a type of 16 bits.
  void round_to(const Vector& d, const Vector& a, DType to) {
    if (to == DType::float16) {
      vcvtps2ph(with_lanes(d, 2), a, 0);
      vcvtph2ps(d, with_lanes(d, 2));
      return;
    }
    // Half of what goes is added, an odd number's all; NaN stay NaN.
    vpsrld(d, a, 16);
    all_and(d, d, pool(1));
    add_32(d, d, pool(0x7fff));
    add_32(d, d, a);
    if (wide_) {
      const Opmask nan(fresh_mask());
      vcmpps(nan, a, a, 3);
      vorps(d | nan, a, pool(0x400000));
    } else {
      const Vector nan = vec(fresh_vector()), quiet = vec(fresh_vector());
      vcmpps(nan, a, a, 3);
      vorps(quiet, a, pool(0x400000));
      vblendvps(d, d, quiet, nan);
    }
    all_and(d, d, pool(0xffff0000));
  }

  // Drops the bits that the type has not, and fills them with its sign.
  void wrap(const Vector& d) {
    switch (type_) {
      case DType::int8:
      case DType::int16: {
        const std::uint8_t by = type_ == DType::int8 ? 24 : 16;
        vpslld(d, d, by);
        return vpsrad(d, d, by);
      }
      case DType::boolean:
      case DType::uint8:
        return all_and(d, d, pool(0xff));
      case DType::uint16:
        return all_and(d, d, pool(0xffff));
      default:
        return;
    }
  }
  // A truth in lanes of another size.
  void move_truth(int i) {
    const int v = x(i), a = in_register(v);
    if (wide_) {
      const Opmask d(fresh_mask());
      kmovw(d, Opmask(a));
      return bind(i, d.getIdx());
    }
    const Vector d = vec(fresh_vector());
    resize_truth(d, a, lane_bytes(step(v).type));
    bind(i, d);
  }
  void resize_truth(const Vector& d, int from, int bytes) {
    const Vector a = with_lanes(vec(from), bytes);
    if (bytes == element())
      vmovups(d, a);
    else if (bytes == 4)
      vpmovsxdq(d, a);
    else
      lower_halves(d, a);
  }
  // The lower 32 bits of lanes of 64 (AVX2): d is another register.
  void lower_halves(const Vector& d, const Vector& a) {
    vextractf128(Xbyak::Xmm(index(d)), Xbyak::Ymm(index(a)), 1);
    vshufps(Xbyak::Xmm(index(d)), Xbyak::Xmm(index(a)), Xbyak::Xmm(index(d)), 0x88);
  }

  void convert(int i) {
    const int v = x(i);
    const Step& from = step(v);
    const DType to = type_;
    if (from.truth()) {
      const int truth = in_register(v);
      const Vector d = vec(fresh_vector());
      const Address one = is_whole(to) ? pool(1) : pool_number(1);
      if (wide_)
        vmovups_of(d | Opmask(truth) | T_z, one);
      else
        all_and(d, with_lanes(vec(truth), element()), one);
      return bind(i, d);
    }
    const Vector a = number(v), d = vec(fresh_vector());
    if (!is_whole(from.type) && !is_whole(to))
      convert_floats(d, a, from.type, to);
    else if (is_whole(from.type) && is_whole(to))
      convert_wholes(d, a, from.type);
    else if (is_whole(from.type))
      float_of_whole(d, a, from.type);
    else
      whole_of_float(d, a, from.type);
    bind(i, d);
  }
  void vmovups_of(const Vector& d, const Operand& a) { single_ ? vmovups(d, a) : vmovupd(d, a); }
  void convert_floats(const Vector& d, const Vector& a, DType from, DType to) {
    if (dtype_size(to) == 2) return round_to(d, a, to);
    if (from == DType::float64)
      vcvtpd2ps(d, a);
    else if (to == DType::float64)
      vcvtps2pd(d, a);
    else
      vmovups(d, a);
  }
  void convert_wholes(const Vector& d, const Vector& a, DType from) {
    const bool was_single = lane_bytes(from) == 4;
    if (was_single == single_)
      vmovups(d, a);
    else if (was_single)
      is_signed(from) ? vpmovsxdq(d, a) : vpmovzxdq(d, a);
    else
      vpmovqd(d, a);
    wrap(d);
  }
  void float_of_whole(const Vector& d, const Vector& a, DType from) {
    switch (from) {
      case DType::int64:
        return single_ ? vcvtqq2ps(d, a) : vcvtqq2pd(d, a);
      case DType::uint64:
        return single_ ? vcvtuqq2ps(d, a) : vcvtuqq2pd(d, a);
      case DType::uint32:
        return single_ ? vcvtudq2ps(d, a) : vcvtudq2pd(d, a);
      default:
        return single_ ? vcvtdq2ps(d, a) : vcvtdq2pd(d, a);
    }
  }
  // Truncated; NaN as 0, and what is beyond the range as its end.
  void whole_of_float(const Vector& d, const Vector& a, DType from) {
    const DType to = type_;
    const Vector t = with_lanes(vec(fresh_vector()), lane_bytes(from));
    const int bits = static_cast<int>(8 * dtype_size(to));
    const double low = is_signed(to) ? -std::ldexp(1., bits - 1) : 0;
    const double above = std::ldexp(1., is_signed(to) ? bits - 1 : bits);
    const int digits = lane_bytes(from) == 4 ? 24 : 53;
    const bool exact = (is_signed(to) ? bits - 1 : bits) <= digits;
    {
      const Typed typed(*this, lane_of(from));
      all_max(t, a, pool_number(low));  // low where a is NaN
      if (exact) all_min(t, t, pool_number(above - 1));
      if (exact && is_signed(to)) {  // NaN become 0
        if (wide_) {
          const Opmask is_number(fresh_mask());
          compare(is_number, a, a, equal);
          vmovups_of(t | is_number | T_z, t);
        } else {
          const Vector is_number = vec(fresh_vector());
          compare(is_number, a, a, equal);
          all_and(t, t, is_number);
        }
      }
    }
    const bool single = lane_bytes(from) == 4;
    if (!single_ && is_signed(to))
      single ? vcvttps2qq(d, t) : vcvttpd2qq(d, t);
    else if (!single_)
      single ? vcvttps2uqq(d, t) : vcvttpd2uqq(d, t);
    else if (to == DType::uint32)
      single ? vcvttps2udq(d, t) : vcvttpd2udq(d, t);
    else
      single ? vcvttps2dq(d, t) : vcvttpd2dq(d, t);
    // (Unsigned ones beyond the range are converted to all ones.)
    if (exact || !is_signed(to)) return;
    if (wide_) {
      const Opmask is_number(fresh_mask()), is_above(fresh_mask());
      {
        const Typed typed(*this, lane_of(from));
        compare(is_number, a, a, equal);
        compare(is_above, a, pool_number(above), 29);  // not less
      }
      vmovups_of(d | is_above, pool(single_ ? 0x7fffffffu : ~std::uint64_t(0) >> 1));
      vmovups_of(d | is_number | T_z, d);
    } else {  // float to int32
      const Vector is_number = vec(fresh_vector());
      vcmpps(t, a, pool_number_of_float(above), 29);
      vpxor(d, d, t);  // the least number becomes the greatest
      vcmpps(is_number, a, a, 0);
      vpand(d, d, is_number);
    }
  }
  Address pool_number_of_float(double x) {
    const Typed typed(*this, DType::float32);
    return pool_number(x);
  }
};

}  // namespace formula::jit
NAX_END
