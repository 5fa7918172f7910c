#pragma once

#define XBYAK_NO_OP_NAMES
#include <xbyak/xbyak.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "nax/formula/kernel.hpp"
#include "nax/formula/machine/registers.hpp"

// Code of AVX2 and AVX-512 by Xbyak: each instruction in the form for a formula's type, and numbers in memory
// behind the code.
//
// Registers of the code: rdi the arguments, rcx the place of contiguous operands in bytes, rdx where packets
// end, r8 the elements of the tail; rax, r9, r10, r11 are free for one step. k1 (ymm15) is the mask of the
// tail.
NAX_BEGIN
namespace formula::jit {

class Assembler : public Xbyak::CodeGenerator {
 public:
  using Vector = Xbyak::Xmm;
  using Opmask = Xbyak::Opmask;
  using Operand = Xbyak::Operand;
  using Address = Xbyak::Address;
  using Label = Xbyak::Label;
  // Where code is written to.
  struct Room {
    std::size_t size;
    void* memory;
  };

  Assembler(Room room, bool single, Machine machine)
      : CodeGenerator(room.size, room.memory), single_(single), wide_(machine == Machine::avx512) {}

 protected:
  static constexpr bool reads_memory = true;  // instructions take a second operand from memory
  static constexpr int unit = 64;             // bytes of a place on the stack

  bool single_, wide_;
  bool has_masks() const { return wide_; }
  int vector_count() const { return wide_ ? 32 : 16; }
  int bytes() const { return wide_ ? 64 : 32; }
  int element() const { return single_ ? 4 : 8; }
  int lanes() const { return bytes() / element(); }

  Vector vec(int r) const { return Vector(wide_ ? Operand::ZMM : Operand::YMM, r); }
  static int index(const Vector& r) { return r.getIdx(); }
  void reserve(Bank& vectors, Bank& masks, bool) {
    if (wide_) {
      masks.own(0, Bank::reserved);
      masks.own(1, Bank::reserved);
    } else {
      vectors.own(15, Bank::reserved);
    }
  }

#define NAX_FORM_3(name)                                                \
  void all_##name(const Vector& d, const Vector& a, const Operand& b) { \
    single_ ? v##name##ps(d, a, b) : v##name##pd(d, a, b);              \
  }
  NAX_FORM_3(add)
  NAX_FORM_3(sub)
  NAX_FORM_3(mul)
  NAX_FORM_3(div)
  NAX_FORM_3(max)
  NAX_FORM_3(min)
  NAX_FORM_3(and)
  NAX_FORM_3(or)
  NAX_FORM_3(xor)
  NAX_FORM_3(fmadd213)
  NAX_FORM_3(fmadd231)
  NAX_FORM_3(fmsub213)
  NAX_FORM_3(fmsub231)
  NAX_FORM_3(fnmadd213)
  NAX_FORM_3(fnmadd231)
  NAX_FORM_3(blendm)
  NAX_FORM_3(scalef)
#undef NAX_FORM_3
  void all_sqrt(const Vector& d, const Operand& a) { single_ ? vsqrtps(d, a) : vsqrtpd(d, a); }
  void all_round(const Vector& d, const Operand& a, Rounding how) {
    const auto mode = static_cast<std::uint8_t>(static_cast<int>(how) | 8);
    if (wide_)
      single_ ? vrndscaleps(d, a, mode) : vrndscalepd(d, a, mode);
    else
      single_ ? vroundps(d, a, mode) : vroundpd(d, a, mode);
  }
  void all_negative(const Vector& d, const Vector& a) { all_xor(d, a, sign_mask()); }
  void all_absolute(const Vector& d, const Vector& a) { all_and(d, a, size_mask()); }
  void all_not(const Vector& d, const Vector& a) { all_xor(d, a, all_ones()); }
  void or_bits(const Vector& d, const Vector& a, const Operand& b) { vpor(d, a, b); }
  void clear(const Vector& d) { wide_ ? vpxord(d, d, d) : vpxor(d, d, d); }
  void move(const Vector& d, const Operand& a) { single_ ? vmovups(d, a) : vmovupd(d, a); }
  void store(const Address& to, const Vector& a) { single_ ? vmovups(to, a) : vmovupd(to, a); }
  // Predicates of vcmpps.
  enum Predicate { equal = 0, unordered = 3, not_equal = 4, less = 17, less_equal = 18, not_at_least = 25 };
  // Into a vector of truths, or a mask.
  void compare(const Vector& d, const Vector& a, const Operand& b, int how) {
    single_ ? vcmpps(d, a, b, static_cast<std::uint8_t>(how))
            : vcmppd(d, a, b, static_cast<std::uint8_t>(how));
  }
  void compare(const Opmask& d, const Vector& a, const Operand& b, int how) {
    single_ ? vcmpps(d, a, b, static_cast<std::uint8_t>(how))
            : vcmppd(d, a, b, static_cast<std::uint8_t>(how));
  }
  // The second of the numbers where the truth holds (AVX2).
  void blend(const Vector& d, const Vector& no, const Operand& yes, const Vector& truth) {
    single_ ? vblendvps(d, no, yes, truth) : vblendvpd(d, no, yes, truth);
  }
  // Whole numbers: of the type's size, or of 32 bits.
  void add_whole(const Vector& d, const Vector& a, const Operand& b) {
    single_ ? vpaddd(d, a, b) : vpaddq(d, a, b);
  }
  void subtract_whole(const Vector& d, const Vector& a, const Operand& b) {
    single_ ? vpsubd(d, a, b) : vpsubq(d, a, b);
  }
  void shift_up(const Vector& d, const Vector& a, int by) {
    single_ ? vpslld(d, a, static_cast<std::uint8_t>(by)) : vpsllq(d, a, static_cast<std::uint8_t>(by));
  }
  // The sign fills the upper bits of 32; zeros those of 64.
  void shift_down(const Vector& d, const Vector& a, int by) {
    single_ ? vpsrad(d, a, static_cast<std::uint8_t>(by)) : vpsrlq(d, a, static_cast<std::uint8_t>(by));
  }
  void add_32(const Vector& d, const Vector& a, const Operand& b) { vpaddd(d, a, b); }
  void subtract_32(const Vector& d, const Vector& a, const Operand& b) { vpsubd(d, a, b); }
  void halve_32(const Vector& d, const Vector& a) { vpsrad(d, a, 1); }
  void float_to_32(const Vector& d, const Vector& a) { vcvtps2dq(d, a); }
  void float_from_32(const Vector& d, const Vector& a) { vcvtdq2ps(d, a); }

  // Every lane has these bits.
  Address pool(std::uint64_t bits) {
    const auto [at, added] = pool_.try_emplace(bits);
    return ptr[rip + at->second];
  }
  Address pool_number(double x) { return pool(bits_of(x)); }
  std::uint64_t bits_of(double x) const {
    if (!single_) {
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      return bits;
    }
    const float y = static_cast<float>(x);
    std::uint32_t bits;
    std::memcpy(&bits, &y, sizeof bits);
    return bits;
  }
  // Integers of 32 bits, also for double.
  Address pool_pair(std::uint32_t x) { return pool(single_ ? x : std::uint64_t(x) << 32 | x); }
  Address sign_mask() { return pool(single_ ? 0x80000000u : std::uint64_t(1) << 63); }
  Address size_mask() { return pool(single_ ? 0x7fffffffu : ~(std::uint64_t(1) << 63)); }
  Address all_ones() { return pool(single_ ? 0xffffffffu : ~std::uint64_t(0)); }

  // ---- the stack

  Address stack(int offset) { return ptr[rsp + offset]; }
  // Saves the caller's registers; the size of the frame is known at the end.
  void enter_code() {
    for (const auto& r : saved()) push(r);
    mov(r11, rsp);
    sub(rsp, 0x7fffff00);
    frame_at_ = getSize() - 4;
    touch_stack();
    and_(rsp, -64);
    mov(stack(0), r11);
  }
  void leave_code() {
    mov(rsp, stack(0));
    vzeroupper();
    const auto registers = saved();
    for (auto r = registers.rbegin(); r != registers.rend(); ++r) pop(*r);
    ret();
  }
  void finish_code(int frame_size) {
    write_pool();
    rewrite(frame_at_, static_cast<std::uint64_t>(frame_size), 4);
    ready();
  }

  // ---- operands. A table is the place of a list in CodeArguments.

  std::vector<int> base_registers(bool) const { return {3, 5, 12, 13, 14, 15, 6}; }  // rbx, rbp, ..., rsi
  void open_table(std::size_t table) { mov(rax, ptr[rdi + table]); }
  void take_base(int base, int i) { mov(Xbyak::Reg64(base), ptr[rax + 8 * i]); }
  void take_pointer(int i, int slot) {
    mov(r11, ptr[rax + 8 * i]);
    mov(stack(slot), r11);
  }
  void take_repeated(int i, int area) {
    mov(r11, ptr[rax + 8 * i]);
    if (single_)
      vbroadcastss(vec(0), ptr[r11]);
    else
      wide_ ? vbroadcastsd(zmm0, ptr[r11]) : vbroadcastsd(ymm0, ptr[r11]);
    store(stack(area), vec(0));
  }
  Address contiguous(int base, std::size_t table, int i) {
    if (base >= 0) return ptr[Xbyak::Reg64(base) + rcx];
    mov(r11, ptr[rdi + table]);
    mov(r11, ptr[r11 + 8 * i]);
    return ptr[r11 + rcx];
  }
  void load_tail(const Vector& d, const Address& from) {
    if (wide_)
      move(d | Opmask(1) | T_z, from);
    else
      single_ ? vmaskmovps(d, vec(15), from) : vmaskmovpd(d, vec(15), from);
  }
  void store_tail(const Address& to, const Vector& a) {
    if (wide_)
      single_ ? vmovups(to | Opmask(1), a) : vmovupd(to | Opmask(1), a);
    else
      single_ ? vmaskmovps(to, vec(15), a) : vmaskmovpd(to, vec(15), a);
  }
  // Numbers that lie apart, by an area of the stack. The pointer in the slot goes on.
  void load_strided(const Vector& d, int slot, std::size_t strides, int i, int area, bool tail) {
    over_lanes(slot, strides, i, area, tail, [&](const Xbyak::Reg& lane, const Address& place) {
      mov(lane, ptr[r9]);
      mov(place, lane);
    });
    move(d, stack(area));
  }
  void store_strided(const Vector& a, int slot, std::size_t strides, int i, int area, bool tail) {
    store(stack(area), a);
    over_lanes(slot, strides, i, area, tail, [&](const Xbyak::Reg& lane, const Address& place) {
      mov(lane, place);
      mov(ptr[r9], lane);
    });
  }
  template <class F>
  void over_lanes(int slot, std::size_t strides, int i, int area, bool tail, const F& copy) {
    const Xbyak::Reg& lane =
        single_ ? static_cast<const Xbyak::Reg&>(eax) : static_cast<const Xbyak::Reg&>(rax);
    mov(r9, stack(slot));
    mov(r10, ptr[rdi + strides]);
    mov(r10, ptr[r10 + 8 * i]);
    if (!tail) {
      for (int k = 0; k < lanes(); ++k) {
        copy(lane, stack(area + k * element()));
        add(r9, r10);
      }
      mov(stack(slot), r9);
      return;
    }
    Label again;
    xor_(r11d, r11d);
    L(again);
    copy(lane, ptr[rsp + r11 * element() + area]);
    add(r9, r10);
    inc(r11);
    cmp(r11, r8);
    jl(again, T_NEAR);
  }
  void open_sums(std::size_t sums) { mov(rax, ptr[rdi + sums]); }
  Address sum(int k) { return ptr[rax + 64 * k]; }

  // ---- the loop

  void place(Label& label) { L(label); }
  void jump(Label& label) { jmp(label, T_NEAR); }
  void count_packets(Label& tail_part) {
    mov(rdx, ptr[rdi + offsetof(CodeArguments, n)]);
    mov(r8, rdx);
    and_(r8, lanes() - 1);
    sub(rdx, r8);
    shl(rdx, single_ ? 2 : 3);
    xor_(ecx, ecx);
    test(rdx, rdx);
    jz(tail_part, T_NEAR);
  }
  void next_packet(Label& start) {
    add(rcx, bytes());
    cmp(rcx, rdx);
    jl(start, T_NEAR);
  }
  void begin_tail(Label& none, bool) {
    test(r8, r8);
    jz(none, T_NEAR);
    if (wide_) {
      mov(eax, -1);
      bzhi(eax, eax, r8d);
      kmovw(Opmask(1), eax);
    } else {
      lea(rax, ptr[rip + tail_masks_]);
      mov(r9d, lanes());
      sub(r9, r8);
      move(vec(15), ptr[rax + r9 * element()]);
    }
  }

  // ---- calls

  void save_mask(const Address& to, int k) { kmovw(to, Opmask(k)); }
  void load_mask(int k, const Address& from) { kmovw(Opmask(k), from); }
  void save_masks(int area) {
    for (int k = 1; k < 8 && wide_; ++k) save_mask(stack(area + 8 * k), k);
  }
  void load_masks(int area) {
    for (int k = 1; k < 8 && wide_; ++k) load_mask(k, stack(area + 8 * k));
  }
  void store_address(int slot, int area) {
    lea(rax, stack(area));
    mov(stack(slot), rax);
  }
  // Calls a function of lanes; the registers of the loop are kept behind the pointers.
  void call_lanes(const LaneFunction& function, int pointers, int out) {
    const Xbyak::Reg64 kept[] = {rdi, rcx, rdx, r8, rsi};
    for (int k = 0; k < 5; ++k) mov(stack(pointers + 8 * (Step::most_operands + k)), kept[k]);
    vzeroupper();
#if defined(_WIN32)  // other registers, and 32 bytes of the caller's stack
    lea(rcx, stack(pointers));
    lea(rdx, stack(out));
    mov(r8d, lanes());
#else
    lea(rdi, stack(pointers));
    lea(rsi, stack(out));
    mov(edx, lanes());
#endif
    mov(rax, reinterpret_cast<std::size_t>(function.run));
#if defined(_WIN32)
    sub(rsp, 32);
    call(rax);
    add(rsp, 32);
#else
    call(rax);
#endif
    for (int k = 0; k < 5; ++k) mov(kept[k], stack(pointers + 8 * (Step::most_operands + k)));
  }
  void jump_unless_all(int truth, Label& to) {
    if (wide_) {
      lanes() == 16 ? kortestw(Opmask(truth), Opmask(truth)) : kortestb(Opmask(truth), Opmask(truth));
      jnc(to, T_NEAR);
    } else {
      single_ ? vmovmskps(eax, vec(truth)) : vmovmskpd(eax, vec(truth));
      cmp(eax, (1 << lanes()) - 1);
      jne(to, T_NEAR);
    }
  }

 private:
  std::array<Xbyak::Reg64, 6> saved() const { return {rbx, rbp, r12, r13, r14, r15}; }
  // Windows makes room for a stack page by page: each is touched in turn, from the last that was used.
  void touch_stack() {
#if defined(_WIN32)
    Label next;
    mov(r10, r11);
    L(next);
    sub(r10, 4096);
    test(ptr[r10], r10);
    cmp(r10, rsp);
    ja(next);
#endif
  }
  void write_pool() {
    align(64);
    for (auto& [bits, label] : pool_) {
      L(label);
      for (int i = 0; i < lanes(); ++i) {
        if (single_)
          dd(static_cast<std::uint32_t>(bits));
        else
          dq(bits);
      }
    }
    if (!wide_) {  // the masks of tails begin within
      L(tail_masks_);
      for (int i = 0; i < 2 * lanes(); ++i) {
        const std::uint64_t x = i < lanes() ? ~std::uint64_t(0) : 0;
        if (single_)
          dd(static_cast<std::uint32_t>(x));
        else
          dq(x);
      }
    }
  }

  Label tail_masks_;
  std::size_t frame_at_ = 0;
  std::map<std::uint64_t, Label> pool_;
};

}  // namespace formula::jit
NAX_END
