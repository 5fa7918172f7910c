#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nax/core/error.hpp"

// Instructions of 64-bit ARM as words, by their mnemonics and encodings in ARM's architecture manual (DDI
// 0487). Vectors are of 128 bits; `wide` means lanes of 64 bits, else of 32.
NAX_BEGIN
namespace formula::jit::arm {

class Emitter {
 public:
  using Word = std::uint32_t;
  // A place in the code, which jumps may name before it is known.
  struct Label {
    std::ptrdiff_t at = -1;
    std::vector<std::size_t> jumps;
  };
  enum Condition : Word { eq = 0, ne = 1, ge = 10, lt = 11 };
  static constexpr int sp = 31, lr = 30, fp = 29;

  const std::vector<Word>& words() const { return words_; }

  // ---- vectors: d = a op b

#define NAX_THREE(name, code) \
  void name(int d, int a, int b, bool wide) { emit(code | lanes(wide) | at(b, 16) | at(a, 5) | at(d)); }
  NAX_THREE(fadd, 0x4e20d400)
  NAX_THREE(fsub, 0x4ea0d400)
  NAX_THREE(fmul, 0x6e20dc00)
  NAX_THREE(fdiv, 0x6e20fc00)
  NAX_THREE(fmax, 0x4e20f400)
  NAX_THREE(fmin, 0x4ea0f400)
  NAX_THREE(fminnm, 0x4ea0c400)
  NAX_THREE(fmla, 0x4e20cc00)  // d += a b
  NAX_THREE(fmls, 0x4ea0cc00)  // d -= a b
  NAX_THREE(fcmeq, 0x4e20e400)
  NAX_THREE(fcmge, 0x6e20e400)
  NAX_THREE(fcmgt, 0x6ea0e400)
  NAX_THREE(add, 0x4ea08400)
  NAX_THREE(sub, 0x6ea08400)
#undef NAX_THREE
#define NAX_THREE(name, code) \
  void name(int d, int a, int b) { emit(code | at(b, 16) | at(a, 5) | at(d)); }
  NAX_THREE(and_, 0x4e201c00)
  NAX_THREE(orr, 0x4ea01c00)
  NAX_THREE(eor, 0x6e201c00)
  NAX_THREE(bsl, 0x6e601c00)  // bits of a where d has ones, else of b
  NAX_THREE(bit, 0x6ea01c00)  // bits of a where b has ones, else of d
  NAX_THREE(bif, 0x6ee01c00)  // bits of d where b has ones, else of a
#undef NAX_THREE
#define NAX_TWO(name, code) \
  void name(int d, int a, bool wide) { emit(code | lanes(wide) | at(a, 5) | at(d)); }
  NAX_TWO(fneg, 0x6ea0f800)
  NAX_TWO(fabs, 0x4ea0f800)
  NAX_TWO(fsqrt, 0x6ea1f800)
  NAX_TWO(frintn, 0x4e218800)
  NAX_TWO(frintm, 0x4e219800)
  NAX_TWO(frintp, 0x4ea18800)
  NAX_TWO(frintz, 0x4ea19800)
  NAX_TWO(fcvtns, 0x4e21a800)
  NAX_TWO(scvtf, 0x4e21d800)
  NAX_TWO(cmlt_zero, 0x4ea0a800)
#undef NAX_TWO
  void mvn(int d, int a) { emit(0x6e205800 | at(a, 5) | at(d)); }
  void mov(int d, int a) { orr(d, a, a); }
  void clear(int d) { emit(0x6f00e400 | at(d)); }
  void shl(int d, int a, int by, bool wide) { shift(0x4f005400, d, a, size(wide) + by); }
  void sshr(int d, int a, int by, bool wide) { shift(0x4f000400, d, a, 2 * size(wide) - by); }
  void ushr(int d, int a, int by, bool wide) { shift(0x6f000400, d, a, 2 * size(wide) - by); }
  // The least of the lanes of 32 bits, without sign.
  void uminv(int d, int a) { emit(0x6eb1a800 | at(a, 5) | at(d)); }
  void fmov_w(int x, int a) { emit(0x1e260000 | at(a, 5) | at(x)); }

  // ---- memory: base + offset, in multiples of what is moved; base + index

  static constexpr std::int64_t farthest(std::int64_t bytes) { return 4095 * bytes; }
  void ldr_q(int d, int base, std::int64_t offset) { access(0x3dc00000, d, base, offset / 16); }
  void str_q(int d, int base, std::int64_t offset) { access(0x3d800000, d, base, offset / 16); }
  void ldr_q_at(int d, int base, int i) { emit(0x3ce06800 | at(i, 16) | at(base, 5) | at(d)); }
  void str_q_at(int d, int base, int i) { emit(0x3ca06800 | at(i, 16) | at(base, 5) | at(d)); }
  void ldr_x(int d, int base, std::int64_t offset) { access(0xf9400000, d, base, offset / 8); }
  void str_x(int d, int base, std::int64_t offset) { access(0xf9000000, d, base, offset / 8); }
  void ldr_x_at(int d, int base, int i) { emit(0xf8606800 | at(i, 16) | at(base, 5) | at(d)); }
  void str_x_at(int d, int base, int i) { emit(0xf8206800 | at(i, 16) | at(base, 5) | at(d)); }
  void ld1r(int d, int base, bool wide) { emit(0x4d40c800 | Word(wide) << 10 | at(base, 5) | at(d)); }
  // One lane; the base goes on by a step.
  void ld1_lane(int d, int lane, int base, int step, bool wide) {
    emit(0x0dc08000 | which(lane, wide) | at(step, 16) | at(base, 5) | at(d));
  }
  void st1_lane(int d, int lane, int base, int step, bool wide) {
    emit(0x0d808000 | which(lane, wide) | at(step, 16) | at(base, 5) | at(d));
  }
  // Two registers at sp + offset.
  void stp_x(int a, int b, int offset) { pair(0xa9000000, a, b, offset); }
  void ldp_x(int a, int b, int offset) { pair(0xa9400000, a, b, offset); }
  void stp_d(int a, int b, int offset) { pair(0x6d000000, a, b, offset); }
  void ldp_d(int a, int b, int offset) { pair(0x6d400000, a, b, offset); }
  void push_x(int a, int b, int bytes) { pair(0xa9800000, a, b, -bytes); }  // sp goes down first
  void pop_x(int a, int b, int bytes) { pair(0xa8c00000, a, b, bytes); }    // sp goes up then

  // ---- numbers in registers

  void add_imm(int d, int a, int value) { emit(0x91000000 | Word(value) << 10 | at(a, 5) | at(d)); }
  void add_x(int d, int a, int b) { emit(0x8b000000 | at(b, 16) | at(a, 5) | at(d)); }
  void sub_x(int d, int a, int b) { emit(0xcb000000 | at(b, 16) | at(a, 5) | at(d)); }
  void sub_sp(int d, int a, int b) { emit(0xcb206000 | at(b, 16) | at(a, 5) | at(d)); }
  void and_low(int d, int a, int bits) { emit(0x92400000 | Word(bits - 1) << 10 | at(a, 5) | at(d)); }
  void lsl(int d, int a, int by) {
    emit(0xd3400000 | Word(64 - by) << 16 | Word(63 - by) << 10 | at(a, 5) | at(d));
  }
  void mov_x(int d, int a) { emit(0xaa0003e0 | at(a, 16) | at(d)); }
  void movz(int d, Word value, int part = 0) { emit(0xd2800000 | Word(part) << 21 | value << 5 | at(d)); }
  void movk(int d, Word value, int part) { emit(0xf2800000 | Word(part) << 21 | value << 5 | at(d)); }
  void mov_imm(int d, std::uint64_t value) {
    movz(d, value & 0xffff);
    for (int part = 1; part < 4; ++part)
      if (const Word bits = value >> 16 * part & 0xffff) movk(d, bits, part);
  }
  void cmp_x(int a, int b) { emit(0xeb00001f | at(b, 16) | at(a, 5)); }
  void cmp_imm(int a, int value) { emit(0xf100001f | Word(value) << 10 | at(a, 5)); }

  // ---- jumps

  void place(Label& label) {
    label.at = static_cast<std::ptrdiff_t>(words_.size());
    for (const std::size_t jump : label.jumps) words_[jump] = to(jump, label.at);
  }
  void b(Label& label) {
    label.jumps.push_back(words_.size());
    emit(label.at < 0 ? 0x14000000 : to(words_.size(), label.at));
  }
  // Over so many instructions, this one included.
  void b_over(Condition condition, int count) { emit(0x54000000 | Word(count) << 5 | condition); }
  void cbnz_over(int a, int count) { emit(0xb5000000 | Word(count) << 5 | at(a)); }
  void adr_here(int d) { emit(0x10000000 | at(d)); }
  void blr(int a) { emit(0xd63f0000 | at(a, 5)); }
  void ret() { emit(0xd65f03c0); }

 protected:
  void emit(Word word) { words_.push_back(word); }
  std::vector<Word> words_;

 private:
  static constexpr Word at(int reg, int bit = 0) { return Word(reg) << bit; }
  static constexpr Word lanes(bool wide) { return Word(wide) << 22; }
  static constexpr int size(bool wide) { return wide ? 64 : 32; }
  static constexpr Word which(int lane, bool wide) {
    return wide ? Word(lane) << 30 | 0x400 : Word(lane >> 1) << 30 | Word(lane & 1) << 12;
  }
  void shift(Word code, int d, int a, int coded) { emit(code | Word(coded) << 16 | at(a, 5) | at(d)); }
  void access(Word code, int d, int base, std::int64_t units) {
    emit(code | Word(units) << 10 | at(base, 5) | at(d));
  }
  void pair(Word code, int a, int b, int offset) {
    emit(code | (Word(offset / 8) & 0x7f) << 15 | at(b, 10) | at(sp, 5) | at(a));
  }
  static Word to(std::size_t from, std::ptrdiff_t label) {
    const std::ptrdiff_t far = label - static_cast<std::ptrdiff_t>(from);
    if (far >= 1 << 25 || far < -(1 << 25))
      throw Error("formula: its machine code is longer than jumps reach");
    return 0x14000000 | (static_cast<Word>(far) & 0x3ffffff);
  }
};

}  // namespace formula::jit::arm
NAX_END
