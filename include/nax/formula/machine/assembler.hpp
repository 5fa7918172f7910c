#pragma once

#define XBYAK_NO_OP_NAMES
#include <xbyak/xbyak.h>

#include <cstdint>
#include <cstring>
#include <map>

#include "nax/formula/kernel.hpp"

// The assembler, with each instruction in the form for a formula's type, and numbers in memory behind the
// code.
NAX_BEGIN
namespace formula::jit {

class Assembler : public Xbyak::CodeGenerator {
 public:
  using Xmm = Xbyak::Xmm;
  using Opmask = Xbyak::Opmask;
  using Operand = Xbyak::Operand;
  using Address = Xbyak::Address;

  Assembler(std::size_t size, void* memory, bool single, bool wide)
      : CodeGenerator(size, memory), single_(single), wide_(wide) {}

 protected:
  bool single_, wide_;
  int bytes() const { return wide_ ? 64 : 32; }
  int element() const { return single_ ? 4 : 8; }
  int lanes() const { return bytes() / element(); }

  Xmm vec(int r) const { return Xmm(wide_ ? Operand::ZMM : Operand::YMM, r); }

#define NAX_FORM_3(name)                                          \
  void all_##name(const Xmm& d, const Xmm& a, const Operand& b) { \
    single_ ? v##name##ps(d, a, b) : v##name##pd(d, a, b);        \
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
  void all_sqrt(const Xmm& d, const Operand& a) { single_ ? vsqrtps(d, a) : vsqrtpd(d, a); }
  void all_round(const Xmm& d, const Operand& a, int mode) {
    if (wide_)
      single_ ? vrndscaleps(d, a, static_cast<std::uint8_t>(mode))
              : vrndscalepd(d, a, static_cast<std::uint8_t>(mode));
    else
      single_ ? vroundps(d, a, static_cast<std::uint8_t>(mode))
              : vroundpd(d, a, static_cast<std::uint8_t>(mode));
  }
  void move(const Xmm& d, const Operand& a) { single_ ? vmovups(d, a) : vmovupd(d, a); }
  void store(const Address& to, const Xmm& a) { single_ ? vmovups(to, a) : vmovupd(to, a); }
  // Into a vector of truths, or a mask.
  void compare(const Xmm& d, const Xmm& a, const Operand& b, int how) {
    single_ ? vcmpps(d, a, b, static_cast<std::uint8_t>(how))
            : vcmppd(d, a, b, static_cast<std::uint8_t>(how));
  }
  void compare(const Opmask& d, const Xmm& a, const Operand& b, int how) {
    single_ ? vcmpps(d, a, b, static_cast<std::uint8_t>(how))
            : vcmppd(d, a, b, static_cast<std::uint8_t>(how));
  }
  // The second of the numbers where the truth holds (AVX2).
  void blend(const Xmm& d, const Xmm& no, const Operand& yes, const Xmm& truth) {
    single_ ? vblendvps(d, no, yes, truth) : vblendvpd(d, no, yes, truth);
  }

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
  Xbyak::Label tail_masks_;

 private:
  std::map<std::uint64_t, Xbyak::Label> pool_;
};

}  // namespace formula::jit
NAX_END
