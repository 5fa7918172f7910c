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
      for (int r : live) store(stack(saved_vectors_ + unit * r), full(r));
      save_masks(saved_masks_);
      if (rescues) store(stack(kept_area()), vec(kept));
      for (int j = 0; j < arity; ++j) {
        store(stack(call_area_ + unit * j), vec(arguments[at(j)]));
        store_address(pointers() + 8 * j, call_area_ + unit * j);
      }
      call_lanes(step(i).function(), pointers(), out_area());
      for (int r : live) move(full(r), stack(saved_vectors_ + unit * r));
      load_masks(saved_masks_);
      move(vec(d), stack(out_area()));
      if (rescues) choose(vec(d), vec(d), stack(kept_area()), truth);
    };
    if (rescues) {
      auto slow = std::make_shared<Label>(), done = std::make_shared<Label>();
      move(vec(d), vec(kept));
      jump_unless_all(truth, *slow);
      place(*done);
      cold_.push_back([this, i, slow, done, go] {
        const Typed typed(*this, step(i).type);
        place(*slow);
        go();
        jump(*done);
      });
    } else {
      go();
    }
    bind(i, d);
  }
  int kept_area() const { return call_area_ + unit * Step::most_operands; }
  int out_area() const { return kept_area() + unit; }
  int pointers() const { return out_area() + unit; }
};

}  // namespace formula::jit
NAX_END
