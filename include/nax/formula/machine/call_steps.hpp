#pragma once

#include "nax/formula/machine/number_steps.hpp"

// Steps that call a function of lanes, at once or only where a lane needs it.
NAX_BEGIN
namespace formula::jit {

class CallSteps : public NumberSteps {
 public:
  using NumberSteps::NumberSteps;

 protected:
  void call(int i) {
    const bool rescues = step(i).operation == Operation::rescue;
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
#if defined(_WIN32)  // other registers, and 32 bytes of the caller's stack
      lea(rcx, stack(pointers()));
      lea(rdx, stack(call_area_ + 64 * (Step::most_operands + 1)));
      mov(r8d, lanes());
#else
      lea(rdi, stack(pointers()));
      lea(rsi, stack(call_area_ + 64 * (Step::most_operands + 1)));
      mov(edx, lanes());
#endif
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
  void call_function() {
#if defined(_WIN32)
    sub(rsp, 32);
    CodeGenerator::call(rax);
    add(rsp, 32);
#else
    CodeGenerator::call(rax);
#endif
  }
};

}  // namespace formula::jit
NAX_END
