#pragma once

#define XBYAK_NO_OP_NAMES
#include <xbyak/xbyak.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "nax/formula/kernel.hpp"
#include "nax/formula/machine/registers.hpp"

// Code of AVX2 and AVX-512 by Xbyak: each instruction in the form for a step's type, and numbers in memory
// behind the code. A packet is as many lanes as the widest numbers of the formula have; narrower ones fill
// part of a register. Numbers of less than 32 bits have lanes of 32: they are widened when they are loaded,
// and whole ones wrap after each operation.
//
// Registers of the code: rdi the arguments, rcx the place of contiguous operands in elements, rdx where
// packets end, r8 the elements of the tail; rax, r9, r10, r11 are free for one step. k1 (ymm15) is the mask
// of the tail.
NAX_BEGIN
namespace formula::jit {

class Instructions : public Xbyak::CodeGenerator {
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

  Instructions(Room room, const Formula& f, Machine machine)
      : CodeGenerator(room.size, room.memory), wide_(machine == Machine::avx512) {
    for (const Step& step : f.steps) (lane_bytes(step.type) == 8 ? has_wide_ : has_narrow_) = true;
    lanes_ = bytes() / (has_wide_ ? 8 : 4);
    use(f.steps[0].type);
  }

 protected:
  // Within its life, instructions are those of a type.
  class Typed {
   public:
    Typed(Instructions& a, DType type) : assembler_(a), before_(a.type_) { a.use(type); }
    ~Typed() { assembler_.use(before_); }
    Typed(const Typed&) = delete;
    Typed& operator=(const Typed&) = delete;

   private:
    Instructions& assembler_;
    DType before_;
  };
  void use(DType type) {
    type_ = type;
    single_ = lane_bytes(type) == 4;
  }
  static bool is_narrow(DType type) { return dtype_size(type) < 4; }
  static int lane_bytes(DType type) { return dtype_size(type) == 8 ? 8 : 4; }
  static bool is_whole(DType type) { return dtype_kind(type) != Kind::floating; }
  static bool is_signed(DType type) { return type >= DType::int8 && type <= DType::int64; }

  static constexpr bool reads_memory = true;  // instructions take a second operand from memory
  static constexpr int unit = 64;             // bytes of a place on the stack

  DType type_ = DType::float32;
  bool single_ = true, wide_, has_wide_ = false, has_narrow_ = false;
  int lanes_ = 0;
  bool has_masks() const { return wide_; }
  int vector_count() const { return wide_ ? 32 : 16; }
  int bytes() const { return wide_ ? 64 : 32; }
  int element() const { return single_ ? 4 : 8; }
  int lanes() const { return lanes_; }
  int stored_bytes() const { return static_cast<int>(dtype_size(type_)); }

  Vector vec(int r) const { return sized(lanes_ * element(), r); }
  Vector full(int r) const { return sized(bytes(), r); }
  static Vector sized(int bytes, int r) {
    return Vector(bytes == 64 ? Operand::ZMM : bytes == 32 ? Operand::YMM : Operand::XMM, r);
  }
  // With lanes of so many bytes.
  Vector with_lanes(const Vector& x, int bytes) const {
    return sized(std::max(16, lanes_ * bytes), index(x));
  }
  static int index(const Vector& r) { return r.getIdx(); }
  void reserve(Bank& vectors, Bank& masks) {
    if (wide_) {
      masks.own(0, Bank::reserved);
      masks.own(1, Bank::reserved);
    } else {
      vectors.own(15, Bank::reserved);
      if (has_wide_ && has_narrow_) vectors.own(14, Bank::reserved);
    }
  }
  // The mask of a tail (AVX2).
  Vector tail_mask() const { return vec(has_wide_ && single_ ? 14 : 15); }

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
    const auto [at, added] = pool_.try_emplace({single_ ? bits & 0xffffffffu : bits, single_});
    return ptr[rip + at->second];
  }
  Address pool_number(double x) { return pool(bits_of(x)); }
  Address pool_constant(const Step& step) {
    return is_whole(step.type) ? pool(step.detail) : pool_number(step.number());
  }
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
  void enter_code(std::size_t bases) {
    saved_ = bases > 0 ? std::min(bases - 1, callers_.size()) : 0;  // the first base is the code's own
    for (std::size_t k = 0; k < saved_; ++k) push(callers_[k]);
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
    for (std::size_t k = saved_; k-- > 0;) pop(callers_[k]);
    ret();
  }
  void finish_code(int frame_size) {
    write_pool();
    rewrite(frame_at_, static_cast<std::uint64_t>(frame_size), 4);
    ready();
  }

  Label tail_masks_;

 private:
  const std::array<Xbyak::Reg64, 6> callers_{rbx, rbp, r12, r13, r14, r15};
  std::size_t saved_ = 0;
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
    for (const bool single : {false, true})  // each lies at a multiple of its size
      for (auto& [number, label] : pool_) {
        if (number.second != single) continue;
        L(label);
        for (int i = 0; i < lanes(); ++i)
          single ? dd(static_cast<std::uint32_t>(number.first)) : dq(number.first);
      }
    if (!wide_) {  // the masks of tails begin within
      L(tail_masks_);
      for (int i = 0; i < 2 * lanes(); ++i) {
        const std::uint64_t x = i < lanes() ? ~std::uint64_t(0) : 0;
        has_wide_ ? dq(x) : dd(static_cast<std::uint32_t>(x));
      }
    }
  }

  std::size_t frame_at_ = 0;
  std::map<std::pair<std::uint64_t, bool>, Label> pool_;  // of lanes of 32 bits, or of 64
};

}  // namespace formula::jit
NAX_END
