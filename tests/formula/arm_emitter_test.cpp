#include <gtest/gtest.h>

#include "nax/formula/machine/arm/emitter.hpp"

// Each instruction of 64-bit ARM that formulas use is the word that GNU's assembler makes of it.
namespace arm_emitter_test {

using E = nax::formula::jit::arm::Emitter;

struct Instruction {
  void (*emit)(E& emitter);
  std::uint32_t word;
  const char* text;
};

TEST(ArmEmitter, WritesTheWordsOfTheAssembler) {
  const Instruction all[] = {
      {[](E& e) { e.fadd(1, 2, 3, false); }, 0x4e23d441, "fadd v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fadd(29, 30, 31, true); }, 0x4e7fd7dd, "fadd v29.2d, v30.2d, v31.2d"},
      {[](E& e) { e.fsub(1, 2, 3, false); }, 0x4ea3d441, "fsub v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fsub(1, 2, 3, true); }, 0x4ee3d441, "fsub v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fmul(1, 2, 3, false); }, 0x6e23dc41, "fmul v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fmul(1, 2, 3, true); }, 0x6e63dc41, "fmul v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fdiv(1, 2, 3, false); }, 0x6e23fc41, "fdiv v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fdiv(1, 2, 3, true); }, 0x6e63fc41, "fdiv v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fmax(1, 2, 3, false); }, 0x4e23f441, "fmax v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fmax(1, 2, 3, true); }, 0x4e63f441, "fmax v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fmin(1, 2, 3, false); }, 0x4ea3f441, "fmin v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fmin(1, 2, 3, true); }, 0x4ee3f441, "fmin v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fminnm(1, 2, 3, false); }, 0x4ea3c441, "fminnm v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fminnm(1, 2, 3, true); }, 0x4ee3c441, "fminnm v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fmla(1, 2, 3, false); }, 0x4e23cc41, "fmla v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fmla(1, 2, 3, true); }, 0x4e63cc41, "fmla v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fmls(1, 2, 3, false); }, 0x4ea3cc41, "fmls v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fmls(1, 2, 3, true); }, 0x4ee3cc41, "fmls v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fcmeq(1, 2, 3, false); }, 0x4e23e441, "fcmeq v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fcmeq(1, 2, 3, true); }, 0x4e63e441, "fcmeq v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fcmge(1, 2, 3, false); }, 0x6e23e441, "fcmge v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fcmge(1, 2, 3, true); }, 0x6e63e441, "fcmge v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.fcmgt(1, 2, 3, false); }, 0x6ea3e441, "fcmgt v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.fcmgt(1, 2, 3, true); }, 0x6ee3e441, "fcmgt v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.add(1, 2, 3, false); }, 0x4ea38441, "add v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.add(1, 2, 3, true); }, 0x4ee38441, "add v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.sub(1, 2, 3, false); }, 0x6ea38441, "sub v1.4s, v2.4s, v3.4s"},
      {[](E& e) { e.sub(1, 2, 3, true); }, 0x6ee38441, "sub v1.2d, v2.2d, v3.2d"},
      {[](E& e) { e.and_(1, 2, 3); }, 0x4e231c41, "and v1.16b, v2.16b, v3.16b"},
      {[](E& e) { e.orr(1, 2, 3); }, 0x4ea31c41, "orr v1.16b, v2.16b, v3.16b"},
      {[](E& e) { e.eor(1, 2, 3); }, 0x6e231c41, "eor v1.16b, v2.16b, v3.16b"},
      {[](E& e) { e.bsl(1, 2, 3); }, 0x6e631c41, "bsl v1.16b, v2.16b, v3.16b"},
      {[](E& e) { e.bit(1, 2, 3); }, 0x6ea31c41, "bit v1.16b, v2.16b, v3.16b"},
      {[](E& e) { e.bif(1, 2, 3); }, 0x6ee31c41, "bif v1.16b, v2.16b, v3.16b"},
      {[](E& e) { e.fneg(1, 2, false); }, 0x6ea0f841, "fneg v1.4s, v2.4s"},
      {[](E& e) { e.fneg(1, 2, true); }, 0x6ee0f841, "fneg v1.2d, v2.2d"},
      {[](E& e) { e.fabs(1, 2, false); }, 0x4ea0f841, "fabs v1.4s, v2.4s"},
      {[](E& e) { e.fabs(1, 2, true); }, 0x4ee0f841, "fabs v1.2d, v2.2d"},
      {[](E& e) { e.fsqrt(1, 2, false); }, 0x6ea1f841, "fsqrt v1.4s, v2.4s"},
      {[](E& e) { e.fsqrt(1, 2, true); }, 0x6ee1f841, "fsqrt v1.2d, v2.2d"},
      {[](E& e) { e.frintn(1, 2, false); }, 0x4e218841, "frintn v1.4s, v2.4s"},
      {[](E& e) { e.frintn(1, 2, true); }, 0x4e618841, "frintn v1.2d, v2.2d"},
      {[](E& e) { e.frintm(1, 2, false); }, 0x4e219841, "frintm v1.4s, v2.4s"},
      {[](E& e) { e.frintm(1, 2, true); }, 0x4e619841, "frintm v1.2d, v2.2d"},
      {[](E& e) { e.frintp(1, 2, false); }, 0x4ea18841, "frintp v1.4s, v2.4s"},
      {[](E& e) { e.frintp(1, 2, true); }, 0x4ee18841, "frintp v1.2d, v2.2d"},
      {[](E& e) { e.frintz(1, 2, false); }, 0x4ea19841, "frintz v1.4s, v2.4s"},
      {[](E& e) { e.frintz(1, 2, true); }, 0x4ee19841, "frintz v1.2d, v2.2d"},
      {[](E& e) { e.fcvtns(1, 2, false); }, 0x4e21a841, "fcvtns v1.4s, v2.4s"},
      {[](E& e) { e.scvtf(1, 2, false); }, 0x4e21d841, "scvtf v1.4s, v2.4s"},
      {[](E& e) { e.cmlt_zero(1, 2, false); }, 0x4ea0a841, "cmlt v1.4s, v2.4s, #0"},
      {[](E& e) { e.cmlt_zero(1, 2, true); }, 0x4ee0a841, "cmlt v1.2d, v2.2d, #0"},
      {[](E& e) { e.mvn(1, 2); }, 0x6e205841, "mvn v1.16b, v2.16b"},
      {[](E& e) { e.mov(1, 2); }, 0x4ea21c41, "mov v1.16b, v2.16b"},
      {[](E& e) { e.clear(1); }, 0x6f00e401, "movi v1.2d, #0"},
      {[](E& e) { e.shl(1, 2, 23, false); }, 0x4f375441, "shl v1.4s, v2.4s, #23"},
      {[](E& e) { e.shl(1, 2, 52, true); }, 0x4f745441, "shl v1.2d, v2.2d, #52"},
      {[](E& e) { e.sshr(1, 2, 1, false); }, 0x4f3f0441, "sshr v1.4s, v2.4s, #1"},
      {[](E& e) { e.sshr(1, 2, 23, false); }, 0x4f290441, "sshr v1.4s, v2.4s, #23"},
      {[](E& e) { e.ushr(1, 2, 52, true); }, 0x6f4c0441, "ushr v1.2d, v2.2d, #52"},
      {[](E& e) { e.uminv(1, 2); }, 0x6eb1a841, "uminv s1, v2.4s"},
      {[](E& e) { e.fmov_w(1, 2); }, 0x1e260041, "fmov w1, s2"},
      {[](E& e) { e.ldr_q(1, 2, 32); }, 0x3dc00841, "ldr q1, [x2, #32]"},
      {[](E& e) { e.ldr_q(1, E::sp, 65520); }, 0x3dffffe1, "ldr q1, [sp, #65520]"},
      {[](E& e) { e.str_q(1, 2, 32); }, 0x3d800841, "str q1, [x2, #32]"},
      {[](E& e) { e.ldr_q_at(1, 2, 3); }, 0x3ce36841, "ldr q1, [x2, x3]"},
      {[](E& e) { e.str_q_at(1, 2, 3); }, 0x3ca36841, "str q1, [x2, x3]"},
      {[](E& e) { e.ldr_x(1, 2, 16); }, 0xf9400841, "ldr x1, [x2, #16]"},
      {[](E& e) { e.ldr_x(1, E::sp, 32760); }, 0xf97fffe1, "ldr x1, [sp, #32760]"},
      {[](E& e) { e.str_x(1, 2, 16); }, 0xf9000841, "str x1, [x2, #16]"},
      {[](E& e) { e.ldr_x_at(1, 2, 3); }, 0xf8636841, "ldr x1, [x2, x3]"},
      {[](E& e) { e.str_x_at(1, 2, 3); }, 0xf8236841, "str x1, [x2, x3]"},
      {[](E& e) { e.ld1r(1, 2, false); }, 0x4d40c841, "ld1r {v1.4s}, [x2]"},
      {[](E& e) { e.ld1r(1, 2, true); }, 0x4d40cc41, "ld1r {v1.2d}, [x2]"},
      {[](E& e) { e.ld1_lane(1, 0, 2, 3, false); }, 0x0dc38041, "ld1 {v1.s}[0], [x2], x3"},
      {[](E& e) { e.ld1_lane(1, 1, 2, 3, false); }, 0x0dc39041, "ld1 {v1.s}[1], [x2], x3"},
      {[](E& e) { e.ld1_lane(1, 2, 2, 3, false); }, 0x4dc38041, "ld1 {v1.s}[2], [x2], x3"},
      {[](E& e) { e.ld1_lane(1, 3, 2, 3, false); }, 0x4dc39041, "ld1 {v1.s}[3], [x2], x3"},
      {[](E& e) { e.ld1_lane(1, 0, 2, 3, true); }, 0x0dc38441, "ld1 {v1.d}[0], [x2], x3"},
      {[](E& e) { e.ld1_lane(1, 1, 2, 3, true); }, 0x4dc38441, "ld1 {v1.d}[1], [x2], x3"},
      {[](E& e) { e.st1_lane(1, 3, 2, 3, false); }, 0x4d839041, "st1 {v1.s}[3], [x2], x3"},
      {[](E& e) { e.st1_lane(1, 1, 2, 3, true); }, 0x4d838441, "st1 {v1.d}[1], [x2], x3"},
      {[](E& e) { e.stp_x(19, 20, 16); }, 0xa90153f3, "stp x19, x20, [sp, #16]"},
      {[](E& e) { e.ldp_x(19, 20, 16); }, 0xa94153f3, "ldp x19, x20, [sp, #16]"},
      {[](E& e) { e.stp_d(8, 9, 96); }, 0x6d0627e8, "stp d8, d9, [sp, #96]"},
      {[](E& e) { e.ldp_d(8, 9, 96); }, 0x6d4627e8, "ldp d8, d9, [sp, #96]"},
      {[](E& e) { e.push_x(E::fp, E::lr, 160); }, 0xa9b67bfd, "stp x29, x30, [sp, #-160]!"},
      {[](E& e) { e.pop_x(E::fp, E::lr, 160); }, 0xa8ca7bfd, "ldp x29, x30, [sp], #160"},
      {[](E& e) { e.add_imm(1, 2, 4095); }, 0x913ffc41, "add x1, x2, #4095"},
      {[](E& e) { e.add_imm(E::fp, E::sp, 0); }, 0x910003fd, "mov x29, sp"},
      {[](E& e) { e.add_x(1, 2, 3); }, 0x8b030041, "add x1, x2, x3"},
      {[](E& e) { e.sub_x(1, 2, 3); }, 0xcb030041, "sub x1, x2, x3"},
      {[](E& e) { e.sub_sp(E::sp, E::sp, 16); }, 0xcb3063ff, "sub sp, sp, x16"},
      {[](E& e) { e.and_low(1, 2, 2); }, 0x92400441, "and x1, x2, #3"},
      {[](E& e) { e.and_low(1, 2, 1); }, 0x92400041, "and x1, x2, #1"},
      {[](E& e) { e.lsl(1, 2, 2); }, 0xd37ef441, "lsl x1, x2, #2"},
      {[](E& e) { e.lsl(1, 2, 3); }, 0xd37df041, "lsl x1, x2, #3"},
      {[](E& e) { e.mov_x(1, 2); }, 0xaa0203e1, "mov x1, x2"},
      {[](E& e) { e.movz(1, 0x1234); }, 0xd2824681, "movz x1, #0x1234"},
      {[](E& e) { e.movk(1, 0x1234, 1); }, 0xf2a24681, "movk x1, #0x1234, lsl #16"},
      {[](E& e) { e.movk(1, 0xffff, 3); }, 0xf2ffffe1, "movk x1, #0xffff, lsl #48"},
      {[](E& e) { e.cmp_x(1, 2); }, 0xeb02003f, "cmp x1, x2"},
      {[](E& e) { e.cmp_imm(1, 2); }, 0xf100083f, "cmp x1, #2"},
      {[](E& e) { e.b_over(E::ge, 2); }, 0x5400004a, "b.ge .+8"},
      {[](E& e) { e.b_over(E::ne, 2); }, 0x54000041, "b.ne .+8"},
      {[](E& e) { e.cbnz_over(1, 2); }, 0xb5000041, "cbnz x1, .+8"},
      {[](E& e) { e.adr_here(1); }, 0x10000001, "adr x1, ."},
      {[](E& e) { e.blr(1); }, 0xd63f0020, "blr x1"},
      {[](E& e) { e.ret(); }, 0xd65f03c0, "ret"},
  };
  for (const Instruction& one : all) {
    E emitter;
    one.emit(emitter);
    ASSERT_EQ(emitter.words().size(), 1u) << one.text;
    EXPECT_EQ(emitter.words()[0], one.word) << one.text;
  }
}

TEST(ArmEmitter, WritesNumbersInParts) {
  E emitter;
  emitter.mov_imm(3, 0x0001000200030004);
  emitter.mov_imm(3, 0x10000);
  const std::vector<std::uint32_t> words{0xd2800083, 0xf2a00063, 0xf2c00043,
                                         0xf2e00023, 0xd2800003, 0xf2a00023};
  EXPECT_EQ(emitter.words(), words);
}

TEST(ArmEmitter, JumpsForwardAndBack) {
  E emitter;
  E::Label ahead, behind;
  emitter.b(ahead);
  emitter.place(behind);
  emitter.b(ahead);
  emitter.ret();
  emitter.place(ahead);
  emitter.b(behind);
  const std::vector<std::uint32_t> words{0x14000003, 0x14000002, 0xd65f03c0, 0x17fffffe};
  EXPECT_EQ(emitter.words(), words);
}

}  // namespace arm_emitter_test
