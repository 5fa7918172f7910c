#pragma once

#include <cstring>
#include <map>

#include "nax/formula/kernel.hpp"
#include "nax/formula/machine/arm/emitter.hpp"
#include "nax/formula/machine/registers.hpp"

// Code of NEON: each instruction in the form for a formula's type, and numbers in memory behind the code.
//
// Registers of the code: x19 the arguments, x20 the place of contiguous operands in bytes, x21 where packets
// end, x22 the elements of the tail, x23 the numbers behind the code; x0, x9, x10, x16, x17 are free for one
// step, v31 for one instruction.
NAX_BEGIN
namespace formula::jit {

class Assembler : private arm::Emitter {
 public:
  struct Vector {
    int number;
  };
  struct Address {
    int base;
    int index = -1;
    std::int64_t offset = 0;  // where there is no index
  };
  // A register, or memory that is loaded first.
  class Operand {
   public:
    Operand(const Vector& r) : register_(r) {}
    Operand(const Address& from) : memory_(from) {}

   private:
    friend Assembler;
    Vector register_{-1};
    Address memory_{};
  };
  using Emitter::Label;
  struct Room {};

  Assembler(Room, const Formula& f, Machine) : single_(f.type == DType::float32) {}
  const void* code() const { return words_.data(); }
  std::size_t size() const { return 4 * words_.size(); }

 protected:
  static constexpr bool reads_memory = false;  // instructions take operands from registers
  static constexpr int unit = 16;              // bytes of a place on the stack

  bool single_;
  struct Typed {  // formulas of several types run by blocks
    Typed(const Assembler&, DType) {}
    ~Typed() {}
  };
  static constexpr bool is_narrow(DType) { return false; }
  static Vector full(int r) { return vec(r); }
  static constexpr bool has_masks() { return false; }
  static constexpr int vector_count() { return 32; }
  static constexpr int bytes() { return 16; }
  int element() const { return single_ ? 4 : 8; }
  int lanes() const { return bytes() / element(); }

  static Vector vec(int r) { return {r}; }
  static int index(const Vector& r) { return r.number; }
  static void reserve(Bank& vectors, Bank&) { vectors.own(scratch, Bank::reserved); }

#define NAX_FORM_3(name, instruction)                             \
  void name(const Vector& d, const Vector& a, const Operand& b) { \
    instruction(d.number, a.number, loaded(b), !single_);         \
  }
  NAX_FORM_3(all_add, fadd)
  NAX_FORM_3(all_sub, fsub)
  NAX_FORM_3(all_mul, fmul)
  NAX_FORM_3(all_div, fdiv)
  NAX_FORM_3(all_max, fmax)
  NAX_FORM_3(all_min, fmin)
  NAX_FORM_3(number_min, fminnm)  // the number where one is NaN
  NAX_FORM_3(add_product, fmla)
  NAX_FORM_3(subtract_product, fmls)
  NAX_FORM_3(add_whole, add)
  NAX_FORM_3(subtract_whole, sub)
#undef NAX_FORM_3
#define NAX_FORM_3(name, instruction)                             \
  void name(const Vector& d, const Vector& a, const Operand& b) { \
    instruction(d.number, a.number, loaded(b));                   \
  }
  NAX_FORM_3(all_and, and_)
  NAX_FORM_3(all_or, orr)
  NAX_FORM_3(all_xor, eor)
  NAX_FORM_3(or_bits, orr)
  NAX_FORM_3(choose_bits, bsl)
  NAX_FORM_3(insert_bits, bit)
#undef NAX_FORM_3
  void all_negative(const Vector& d, const Vector& a) { fneg(d.number, a.number, !single_); }
  void all_absolute(const Vector& d, const Vector& a) { fabs(d.number, a.number, !single_); }
  void all_not(const Vector& d, const Vector& a) { mvn(d.number, a.number); }
  void all_sqrt(const Vector& d, const Operand& a) { fsqrt(d.number, loaded(a), !single_); }
  void all_round(const Vector& d, const Operand& a, Rounding how) {
    const int from = loaded(a);
    switch (how) {
      case Rounding::nearest:
        return frintn(d.number, from, !single_);
      case Rounding::down:
        return frintm(d.number, from, !single_);
      case Rounding::up:
        return frintp(d.number, from, !single_);
      case Rounding::to_zero:
        return frintz(d.number, from, !single_);
    }
  }
  void clear(const Vector& d) { Emitter::clear(d.number); }
  void move(const Vector& d, const Operand& a) {
    if (a.register_.number < 0)
      load(d.number, a.memory_);
    else if (a.register_.number != d.number)
      mov(d.number, a.register_.number);
  }
  void store(const Address& to, const Vector& a) {
    if (to.index >= 0) return str_q_at(a.number, to.base, to.index);
    if (to.offset <= farthest(16)) return str_q(a.number, to.base, to.offset);
    mov_imm(x_far, static_cast<std::uint64_t>(to.offset));
    str_q_at(a.number, to.base, x_far);
  }

  // not_at_least: less or NaN; unordered: of a number with itself.
  enum Predicate { equal, not_equal, unordered, less, less_equal, not_at_least };
  void compare(const Vector& d, const Vector& a, const Operand& b, Predicate how) {
    const int second = loaded(b);
    switch (how) {
      case equal:
        return fcmeq(d.number, a.number, second, !single_);
      case less:
        return fcmgt(d.number, second, a.number, !single_);
      case less_equal:
        return fcmge(d.number, second, a.number, !single_);
      case not_at_least:
        fcmge(d.number, a.number, second, !single_);
        return mvn(d.number, d.number);
      case not_equal:
      case unordered:
        fcmeq(d.number, a.number, second, !single_);
        return mvn(d.number, d.number);
    }
  }
  // The second of the numbers where the truth holds.
  void blend(const Vector& d, const Vector& no, const Operand& yes, const Vector& truth) {
    const int other = loaded(yes);
    if (d.number == no.number) return bit(d.number, other, truth.number);
    if (d.number == other) return bif(d.number, no.number, truth.number);
    if (d.number != truth.number) mov(d.number, truth.number);
    bsl(d.number, other, no.number);
  }
  void shift_up(const Vector& d, const Vector& a, int by) { shl(d.number, a.number, by, !single_); }
  // The sign fills the upper bits of 32; zeros those of 64.
  void shift_down(const Vector& d, const Vector& a, int by) {
    single_ ? sshr(d.number, a.number, by, false) : ushr(d.number, a.number, by, true);
  }
  void spread_top_bit(const Vector& d, const Vector& a) { cmlt_zero(d.number, a.number, !single_); }
  // Whole numbers of 32 bits.
  void add_32(const Vector& d, const Vector& a, const Operand& b) {
    add(d.number, a.number, loaded(b), false);
  }
  void subtract_32(const Vector& d, const Vector& a, const Operand& b) {
    sub(d.number, a.number, loaded(b), false);
  }
  void halve_32(const Vector& d, const Vector& a) { sshr(d.number, a.number, 1, false); }
  void float_to_32(const Vector& d, const Vector& a) { fcvtns(d.number, a.number, false); }
  void float_from_32(const Vector& d, const Vector& a) { scvtf(d.number, a.number, false); }

  // Every lane has these bits.
  Address pool(std::uint64_t bits) {
    const auto [at, added] = pool_.try_emplace(bits, static_cast<int>(pool_.size()));
    return {x_pool, -1, 16 * std::int64_t{at->second}};
  }
  Address pool_number(double x) { return pool(bits_of(x, single_)); }
  Address pool_constant(const Step& step) { return pool_number(step.number()); }
  // Integers of 32 bits, also for double.
  Address pool_pair(std::uint32_t x) { return pool(single_ ? x : std::uint64_t(x) << 32 | x); }
  Address sign_mask() { return pool(single_ ? 0x80000000u : std::uint64_t(1) << 63); }
  Address all_ones() { return pool(single_ ? 0xffffffffu : ~std::uint64_t(0)); }

  // ---- the stack

  static Address stack(int offset) { return {sp, -1, offset}; }
  // Saves the caller's registers; the size of the frame and where the numbers lie are known at the end.
  void enter_code(std::size_t) {
    push_x(fp, lr, saved_size);
    for (int k = 0; k < 5; ++k) stp_x(19 + 2 * k, 20 + 2 * k, 16 + 16 * k);
    for (int k = 0; k < 4; ++k) stp_d(8 + 2 * k, 9 + 2 * k, 96 + 16 * k);
    add_imm(fp, sp, 0);
    frame_at_ = words_.size();
    mov_32(x_far, 0);
    sub_sp(sp, sp, x_far);
    mov_x(x_arguments, 0);
    pool_at_ = words_.size();
    adr_here(x_pool);
    mov_32(x_far, 0);
    add_x(x_pool, x_pool, x_far);
  }
  void leave_code() {
    add_imm(sp, fp, 0);
    for (int k = 0; k < 5; ++k) ldp_x(19 + 2 * k, 20 + 2 * k, 16 + 16 * k);
    for (int k = 0; k < 4; ++k) ldp_d(8 + 2 * k, 9 + 2 * k, 96 + 16 * k);
    pop_x(fp, lr, saved_size);
    ret();
  }
  void finish_code(int frame_size) {
    while (words_.size() % 4 != 0) emit(0);
    rewrite_32(frame_at_, x_far, static_cast<Word>(frame_size));
    rewrite_32(pool_at_ + 1, x_far, static_cast<Word>(4 * (words_.size() - pool_at_)));
    std::vector<std::uint64_t> numbers(pool_.size());
    for (const auto& [bits, number] : pool_) numbers[static_cast<std::size_t>(number)] = bits;
    for (const std::uint64_t bits : numbers)
      for (int i = 0; i < 4; ++i) emit(static_cast<Word>(single_ || i % 2 == 0 ? bits : bits >> 32));
  }

  // ---- operands. A table is the place of a list in CodeArguments.

  // Calls keep those of x19 to x28.
  static std::vector<int> base_registers(bool calls) {
    std::vector<int> bases{24, 25, 26, 27, 28};
    if (!calls) bases.insert(bases.end(), {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15});
    return bases;
  }
  void open_table(std::size_t table) { load_x(x_table, {x_arguments, -1, static_cast<std::int64_t>(table)}); }
  void take_base(int base, int i) { load_x(base, {x_table, -1, 8 * std::int64_t{i}}); }
  void take_pointer(int i, int slot) {
    take_base(x_pointer, i);
    store_x(stack(slot), x_pointer);
  }
  void take_repeated(int i, const Vector& d) {
    take_base(x_pointer, i);
    ld1r(d.number, x_pointer, !single_);
  }
  Address contiguous(int base, std::size_t table, int i) {
    if (base >= 0) return {base, x_place};
    open_table(table);
    take_base(x_table, i);
    return {x_table, x_place};
  }
  static void prefetch(int, bool) {}
  void load(const Vector& d, const Address& from) { move(d, from); }
  void store_packet(const Address& to, const Vector& a, int) { store(to, a); }
  void load_tail(const Vector& d, const Address& from, int) {
    begin_lanes(from);
    load_lanes(d, true);
  }
  void store_tail(const Address& to, const Vector& a, int, int) {
    begin_lanes(to);
    over_lanes(true, [&](int k) { st1_lane(a.number, k, x_pointer, x_stride, !single_); });
  }
  void store_tail_there(int area, const Vector& a) {
    add_imm(x_pointer, sp, area);
    movz(x_stride, static_cast<Word>(element()));
    over_lanes(true, [&](int k) { st1_lane(a.number, k, x_pointer, x_stride, !single_); });
  }
  // To where the pointer in the slot points.
  void store_through(int slot, const Vector& a) {
    load_x(x_pointer, stack(slot));
    store({x_pointer}, a);
  }
  // Numbers that lie apart. The pointer in the slot goes on.
  void load_strided(const Vector& d, int slot, std::size_t strides, int i, int, bool tail) {
    begin_lanes(slot, strides, i);
    load_lanes(d, tail);
    if (!tail) store_x(stack(slot), x_pointer);
  }
  void store_strided(const Vector& a, int slot, std::size_t strides, int i, int, bool tail, int) {
    begin_lanes(slot, strides, i);
    over_lanes(tail, [&](int k) { st1_lane(a.number, k, x_pointer, x_stride, !single_); });
    if (!tail) store_x(stack(slot), x_pointer);
  }

  // ---- the loop

  using Emitter::place;
  void place_loop(Label& label) { place(label); }
  void jump(Label& label) { b(label); }
  void count_packets(Label& tail_part) {
    load_x(x_end, {x_arguments, -1, offsetof(CodeArguments, n)});
    and_low(x_tail, x_end, single_ ? 2 : 1);
    sub_x(x_end, x_end, x_tail);
    lsl(x_end, x_end, single_ ? 2 : 3);
    movz(x_place, 0);
    cbnz_over(x_end, 2);
    b(tail_part);
  }
  void next_packet(Label& start) {
    add_imm(x_place, x_place, bytes());
    cmp_x(x_place, x_end);
    b_over(ge, 2);
    b(start);
  }
  void begin_tail(Label& none) {
    cbnz_over(x_tail, 2);
    b(none);
  }

  // ---- calls: what they use lies first on the stack, below 4096

  static void save_mask(const Address&, int) {}
  static void load_mask(int, const Address&) {}
  static void save_masks(int) {}
  static void load_masks(int) {}
  void store_address(int slot, int area) {
    add_imm(x_pointer, sp, area);
    store_x(stack(slot), x_pointer);
  }
  void call_lanes(const LaneFunction& function, int pointers, int out) {
    add_imm(0, sp, pointers);
    add_imm(1, sp, out);
    movz(2, static_cast<Word>(lanes()));
    mov_imm(x_far, reinterpret_cast<std::uintptr_t>(function.run));
    blr(x_far);
  }
  void jump_unless_all(int truth, Label& to) {
    uminv(scratch, truth);
    fmov_w(x_pointer, scratch);
    cbnz_over(x_pointer, 2);
    b(to);
  }

 private:
  static constexpr int x_table = 17, x_pointer = 9, x_stride = 10, x_far = 16;
  static constexpr int x_arguments = 19, x_place = 20, x_end = 21, x_tail = 22, x_pool = 23;
  static constexpr int scratch = 31, saved_size = 160;

  static std::uint64_t bits_of(double x, bool single) {
    const float y = static_cast<float>(x);
    std::uint64_t bits = 0;
    single ? std::memcpy(&bits, &y, sizeof y) : std::memcpy(&bits, &x, sizeof x);
    return bits;
  }
  int loaded(const Operand& b) {
    if (b.register_.number >= 0) return b.register_.number;
    load(scratch, b.memory_);
    return scratch;
  }
  void load(int d, const Address& from) {
    if (from.index >= 0) return ldr_q_at(d, from.base, from.index);
    if (from.offset <= farthest(16)) return ldr_q(d, from.base, from.offset);
    mov_imm(x_far, static_cast<std::uint64_t>(from.offset));
    ldr_q_at(d, from.base, x_far);
  }
  void load_x(int d, const Address& from) {
    if (from.offset <= farthest(8)) return ldr_x(d, from.base, from.offset);
    mov_imm(x_far, static_cast<std::uint64_t>(from.offset));
    ldr_x_at(d, from.base, x_far);
  }
  void store_x(const Address& to, int a) {
    if (to.offset <= farthest(8)) return str_x(a, to.base, to.offset);
    mov_imm(x_far, static_cast<std::uint64_t>(to.offset));
    str_x_at(a, to.base, x_far);
  }
  // Two instructions, whatever the value.
  void mov_32(int d, Word value) {
    movz(d, value & 0xffff);
    movk(d, value >> 16, 1);
  }
  void rewrite_32(std::size_t at, int d, Word value) {
    mov_32(d, value);
    std::copy_n(words_.end() - 2, 2, words_.begin() + static_cast<std::ptrdiff_t>(at));
    words_.resize(words_.size() - 2);
  }

  void begin_lanes(const Address& place) {
    add_x(x_pointer, place.base, place.index);
    movz(x_stride, static_cast<Word>(element()));
  }
  void begin_lanes(int slot, std::size_t strides, int i) {
    load_x(x_pointer, stack(slot));
    open_table(strides);
    take_base(x_stride, i);
  }
  // All lanes, or the first as the tail has.
  template <class F>
  void over_lanes(bool tail, const F& f) {
    Label done;
    for (int k = 0; k < lanes() - (tail ? 1 : 0); ++k) {
      f(k);
      if (!tail || k + 2 == lanes()) continue;
      cmp_imm(x_tail, k + 1);
      b_over(ne, 2);
      b(done);
    }
    place(done);
  }
  void load_lanes(const Vector& d, bool tail) {
    clear(d);
    over_lanes(tail, [&](int k) { ld1_lane(d.number, k, x_pointer, x_stride, !single_); });
  }

  std::map<std::uint64_t, int> pool_;
  std::size_t frame_at_ = 0, pool_at_ = 0;
};

}  // namespace formula::jit
NAX_END
