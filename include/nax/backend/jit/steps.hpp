#pragma once

#include "nax/backend/jit/body.hpp"

// Each operation as instructions of AVX2 or AVX-512.
NAX_BEGIN
namespace formula::jit {

class Steps : public Body {
 public:
  using Body::Body;

 protected:
  using Op = Operation;
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

  template <class F>
  void two_bits(int i, const F& f) {
    const Xmm a = number(x(i));
    const int r = result_register(i);
    f(vec(r), a);
    bind(i, r);
  }

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

  // ---- AVX2's ways

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
    const Xmm a = number(x(i)), d = vec(fresh_vector()), small = vec(fresh_vector()), b = vec(fresh_vector()),
              above = vec(fresh_vector()), good = vec(fresh_vector());
    // subnormal numbers are brought up
    compare(small, a, pool_number(single_ ? 0x1p-126 : 0x1p-1022), less);
    all_mul(b, a, pool_number(single_ ? 0x1p23 : 0x1p52));
    blend(b, a, b, small);
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
      all_and(small, small, pool_number(single_ ? 23 : 52));
      all_sub(above, above, small);
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

  // ---- functions of lanes

  void call(int i) {
    const bool rescues = step(i).operation == Op::rescue;
    const int first = rescues ? 2 : 0, arity = step(i).arity - first;
    int arguments[Step::most_operands];
    for (int j = 0; j < arity; ++j) arguments[j] = in_register(operand(i, first + j));
    const int truth = rescues ? in_register(x(i)) : -1, kept = rescues ? in_register(y(i)) : -1;
    const int d = fresh_vector();
    std::vector<int> live;
    for (int r = 0; r < vectors_.size(); ++r)
      if (vectors_.owner(r) != Bank::none && r != d) live.push_back(r);
    const auto go = [this, i, rescues, arity, truth, kept, d, live,
                     arguments = std::vector<int>(arguments, arguments + arity)] {
      for (int r : live) store(stack(saved_vectors_ + 64 * r), vec(r));
      for (int k = 1; k < 8 && wide_; ++k) kmovw(stack(saved_masks_ + 8 * k), Opmask(k));
      if (rescues) store(stack(call_area_ + 64 * Step::most_operands), vec(kept));
      for (int j = 0; j < arity; ++j) {
        store(stack(call_area_ + 64 * j), vec(arguments[at(j)]));
        lea(rax, stack(call_area_ + 64 * j));
        mov(stack(pointers() + 8 * j), rax);
      }
      const Xbyak::Reg64 kept_registers[] = {rdi, rcx, rdx, r8, rsi};
      for (int k = 0; k < 5; ++k) mov(stack(pointers() + 8 * (Step::most_operands + k)), kept_registers[k]);
      vzeroupper();
      lea(rdi, stack(pointers()));
      lea(rsi, stack(call_area_ + 64 * (Step::most_operands + 1)));
      mov(edx, lanes());
      mov(rax, reinterpret_cast<std::size_t>(step(i).function().run));
      call_function();
      for (int k = 0; k < 5; ++k) mov(kept_registers[k], stack(pointers() + 8 * (Step::most_operands + k)));
      for (int r : live) move(vec(r), stack(saved_vectors_ + 64 * r));
      for (int k = 1; k < 8 && wide_; ++k) kmovw(Opmask(k), stack(saved_masks_ + 8 * k));
      move(vec(d), stack(call_area_ + 64 * (Step::most_operands + 1)));
      if (!rescues) return;
      const Address before = stack(call_area_ + 64 * Step::most_operands);
      wide_ ? all_blendm(vec(d) | Opmask(truth), vec(d), before) : blend(vec(d), vec(d), before, vec(truth));
    };
    if (rescues) {
      auto slow = std::make_shared<Xbyak::Label>(), done = std::make_shared<Xbyak::Label>();
      move(vec(d), vec(kept));
      if (wide_) {
        lanes() == 16 ? kortestw(Opmask(truth), Opmask(truth)) : kortestb(Opmask(truth), Opmask(truth));
        jnc(*slow, T_NEAR);
      } else {
        single_ ? vmovmskps(eax, vec(truth)) : vmovmskpd(eax, vec(truth));
        cmp(eax, (1 << lanes()) - 1);
        jne(*slow, T_NEAR);
      }
      L(*done);
      cold_.push_back([this, slow, done, go] {
        L(*slow);
        go();
        jmp(*done, T_NEAR);
      });
    } else {
      go();
    }
    bind(i, d);
  }
  int pointers() const { return call_area_ + 64 * (Step::most_operands + 2); }
  void call_function() { CodeGenerator::call(rax); }
};

}  // namespace formula::jit
NAX_END
