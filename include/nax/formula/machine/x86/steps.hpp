#pragma once

#include <functional>

#include "nax/formula/machine/x86/whole_steps.hpp"

// Steps for which AVX-512 or AVX2 has instructions of its own. AVX-512 holds truths in masks.
NAX_BEGIN
namespace formula::jit {

class MachineSteps : public WholeSteps {
 public:
  using WholeSteps::WholeSteps;

 protected:
  using Logic = std::function<void(const Opmask&, const Opmask&, const Opmask&)>;

  // Whether the step is one that masks, or instructions that come with them, serve; then writes it.
  bool write_by_masks(int i) {
    if (!wide_) return false;
    switch (step(i).operation) {
      case Op::scale:
        two(i, x(i), y(i), [&](const Vector& d, const Vector& a, const Operand& b) { all_scalef(d, a, b); });
        return true;
      case Op::mantissa:
        one(i, [&](const Vector& d, const Operand& a) { mantissa_of(d, a); });
        return true;
      case Op::exponent:
        exponent_of(i);
        return true;
      case Op::equal:
        return compare_to_mask(i, equal);
      case Op::not_equal:
        return compare_to_mask(i, not_equal);
      case Op::less:
        return compare_to_mask(i, less);
      case Op::less_equal:
        return compare_to_mask(i, less_equal);
      case Op::known: {
        const Opmask r(fresh_mask());
        step(i).detail != 0 ? kxnorw(r, r, r) : kxorw(r, r, r);
        bind(i, r.getIdx());
        return true;
      }
      case Op::both:
        return join_masks(i, [&](const Opmask& d, const Opmask& a, const Opmask& b) { kandw(d, a, b); });
      case Op::either:
        return join_masks(i, [&](const Opmask& d, const Opmask& a, const Opmask& b) { korw(d, a, b); });
      case Op::differ:
        return join_masks(i, [&](const Opmask& d, const Opmask& a, const Opmask& b) { kxorw(d, a, b); });
      case Op::opposite:
        return join_masks(i, [&](const Opmask& d, const Opmask& a, const Opmask&) { knotw(d, a); });
      case Op::keep: {
        const Opmask m(in_register(x(i)));
        with(y(i), [&](const Operand& a) {
          const int r = result_register(i);
          move(vec(r) | m | T_z, a);
          bind(i, r);
        });
        return true;
      }
      default:
        return false;
    }
  }
  bool compare_to_mask(int i, Predicate how) {
    const Vector a = number(x(i));
    with(y(i), [&](const Operand& b) {
      const int r = result_register(i);
      compare(Opmask(r), a, b, how);
      bind(i, r);
    });
    return true;
  }
  bool join_masks(int i, const Logic& f) {
    const int a = in_register(x(i)), b = step(i).arity > 1 ? in_register(y(i)) : a;
    const int r = result_register(i);
    f(Opmask(r), Opmask(a), Opmask(b));
    bind(i, r);
    return true;
  }

  // d = yes where the truth, a vector or a mask, holds.
  void choose(const Vector& d, const Vector& no, const Operand& yes, int truth) {
    wide_ ? all_blendm(d | Opmask(truth), no, yes) : blend(d, no, yes, vec(truth));
  }
  void truth_as_number(const Vector& d, int truth) {
    if (wide_)
      move(d | Opmask(truth) | T_z, pool_one());
    else
      all_and(d, vec(truth), pool_one());
  }
  Address pool_one() { return is_whole(type_) ? pool(1) : pool_number(1); }

  // The instructions give their second operand where one is NaN or both are equal.
  void smaller(const Vector& d, const Vector& a, const Operand& b, bool least) {
    least ? all_min(d, a, b) : all_max(d, a, b);
  }
  void bounded(int i, bool above) {
    two(i, y(i), x(i), [&](const Vector& d, const Vector& a, const Operand& b) { smaller(d, a, b, above); });
  }
  void extremum(int i, bool least) {
    const Vector a = number(x(i)), b = number(y(i)), d = vec(fresh_vector());
    if (wide_) {
      const Opmask is_number(fresh_mask());
      compare(is_number, a, a, equal);
      move(d, a);
      smaller(d | is_number, a, b, least);
    } else {
      const Vector is_nan = vec(fresh_vector());
      smaller(d, a, b, least);
      compare(is_nan, a, a, unordered);
      blend(d, d, a, is_nan);
    }
    bind(i, d);
  }

  void signed_by(int i, bool positive) {
    const Vector size = number(x(i)), sign = number(y(i)), d = vec(fresh_vector());
    if (wide_) {
      move(d, positive ? sign_mask() : size_mask());
      const std::uint8_t table = positive ? 0xEC : 0xCA;
      single_ ? vpternlogd(d, size, sign, table) : vpternlogq(d, size, sign, table);
    } else {
      all_and(d, sign, sign_mask());
      if (positive) {
        all_or(d, d, size);
      } else {
        const Vector t = vec(fresh_vector());
        all_and(t, size, size_mask());
        all_or(d, d, t);
      }
    }
    bind(i, d);
  }

  void mantissa_of(const Vector& d, const Operand& a) {
    single_ ? vgetmantps(d, a, 0x0B) : vgetmantpd(d, a, 0x0B);
  }
  void exponent_of(int i) {
    const Vector a = number(x(i)), d = vec(fresh_vector()), m = vec(fresh_vector());
    const Opmask low(fresh_mask());
    mantissa_of(m, a);
    single_ ? vgetexpps(d, a) : vgetexppd(d, a);
    compare(low, m, pool_number(1), less);
    all_add(d | low, d, pool_number(1));
    bind(i, d);
  }
  void limit(int i) {
    if (wide_)
      return two_bits(i, [&](const Vector& d, const Vector& a) {
        single_ ? vrangeps(d, a, pool_number(0.5), 2) : vrangepd(d, a, pool_number(0.5), 2);
      });
    const Vector a = number(x(i)), d = vec(fresh_vector()), t = vec(fresh_vector());
    all_and(d, a, size_mask());
    all_min(d, d, pool_number(0.5));
    all_and(t, a, sign_mask());
    all_or(d, d, t);
    bind(i, d);
  }

  void bit_test(int i, int bit) {
    const Vector a = number(x(i));
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
    const Vector d = vec(fresh_vector());
    const Vector* from = &a;
    if (!top) {
      shift_up(d, a, element() * 8 - 1 - bit);
      from = &d;
    }
    if (single_) {
      vpsrad(d, *from, 31);
    } else {
      const Vector zero = vec(fresh_vector());
      vpxor(zero, zero, zero);
      vpcmpgtq(d, zero, *from);
    }
    bind(i, d);
  }

  using Form = void (Assembler::*)(const Vector&, const Vector&, const Operand&);
  void multiply_add(int i) {
    switch (step(i).operation) {
      case Op::fma:
        return multiply_add(i, &MachineSteps::all_fmadd213, &MachineSteps::all_fmadd231);
      case Op::fms:
        return multiply_add(i, &MachineSteps::all_fmsub213, &MachineSteps::all_fmsub231);
      default:
        return multiply_add(i, &MachineSteps::all_fnmadd213, &MachineSteps::all_fnmadd231);
    }
  }
  void multiply_add(int i, Form by_213, Form by_231) {
    int a = x(i), b = y(i);
    const int c = z(i);
    if (!ends_in_register(a) && ends_in_register(b)) std::swap(a, b);
    if (ends_in_register(a) && a != b && a != c) {  // a = b a + c
      const Vector d = number(a), factor = number(b);
      with(c, [&](const Operand& term) { (this->*by_213)(d, factor, term); });
      return take_over(i, a);
    }
    if (ends_in_register(c) && c != a && c != b) {  // c = a b + c
      const Vector d = number(c);
      if (places_[at(a)].reg < 0 && places_[at(b)].reg >= 0) std::swap(a, b);
      const Vector factor = number(a);
      with(b, [&](const Operand& other) { (this->*by_231)(d, factor, other); });
      return take_over(i, c);
    }
    if (places_[at(a)].reg < 0 && places_[at(b)].reg >= 0) std::swap(a, b);
    const Vector factor = number(a), d = vec(fresh_vector());
    if (places_[at(b)].reg < 0 && places_[at(c)].reg >= 0) {  // load a factor, which the product replaces
      const Vector term = number(c);
      load_copy(d, b);
      (this->*by_213)(d, factor, term);
    } else {
      load_copy(d, c);
      with(b, [&](const Operand& other) { (this->*by_231)(d, factor, other); });
    }
    bind(i, d);
  }
  void load_copy(const Vector& d, int v) {
    if (places_[at(v)].reg < 0 && in_memory(v))
      move(d, memory(v));
    else
      move(d, number(v));
  }
};

}  // namespace formula::jit
NAX_END
