#pragma once

#include "nax/expr/evaluation/block_pass.hpp"

// Assignments that follow one another over arrays of one size, in one pass over memory:
//
//   in_blocks(n, [&](Assignments& now) {
//     Array<float> step;                       // of the pass alone: stored nowhere
//     now.assign(trace, g + 0.9 * trace);
//     now.assign(step, trace * -rate);
//     now.assign(params, params + step);
//   });
//
// All of them are done for a block that stays in the first cache, then for the next one. The kernels are
// those that each assignment has on its own, so that results are the same to the last bit. Where a block will
// not do (another handle shares a target, the tape watches, an operand is a view), the function is called
// once more, and each assignment done as it comes; nothing has happened before. So the function does nothing
// but assign, and the arrays that it names outlive the call.
NAX_BEGIN
namespace detail {

class Assignments {
 public:
  Assignments() = default;  // each done as it comes
  explicit Assignments(BlockPass& pass) : pass_(&pass) {}

  // target = e
  template <Expression E>
  void assign(Array<typename E::value_type>& target, const E& e) {
    const Parts<E> parts(e);
    if (!pass_)
      detail::assign(kernel_table<E>, parts.constants.slots, parts.leaves, e.frame(), target);
    else
      kept_ &= pass_->keep(kernel_table<E>, parts.constants.slots, Tree<E>::constants, parts.leaves,
                           e.frame(), target);
  }
  bool kept() const { return kept_; }

 private:
  BlockPass* pass_ = nullptr;
  bool kept_ = true;
};

// `n`: how many elements the arrays have. Few of them stay in the caches anyway.
NAX_COMPILED_ONCE void in_blocks(std::int64_t n, FunctionRef<void(Assignments&)> f) {
  constexpr std::int64_t few = 1 << 13;
  if (n > few) {
    BlockPass pass;
    Assignments later(pass);
    f(later);
    if (later.kept()) return pass.run();
  }
  Assignments now;
  f(now);
}

}  // namespace detail
NAX_END
