#pragma once

#include "nax/backend/cpu/transpose.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/expr/differentiation/output_node.hpp"
#include "nax/expr/differentiation/pull_leaves.hpp"
#include "nax/expr/differentiation/recorded_steps.hpp"
#include "nax/tape/recomputed_call.hpp"

// The gradients of a large fused expression as one call on the tape, where another transform watches the
// sweep that takes them. The fused kernel gives them in one pass. What differentiates them in turn runs the
// operations of the expression block by block, on a tape of the block's own, so that all that is written and
// read stays in cache, and nothing is kept; where that sweep is watched as well, on whole arrays.
//
// All arrays have the axes of the expression, none hidden, and are unbroken runs or one number repeated, so
// that a block is a range of elements. A leaf of other axes is a number, and takes no gradient.
NAX_BEGIN
namespace detail {

class FusedGradientsNode final : public RecomputedCall {
 public:
  // Gives the sweep the shares of g. False, and nothing done, where arrays are small or not as said above.
  static bool give_shares(const FusedType& type, const PackedArray* leaves, const void* constants,
                          const ArrayBase& g, Reverse& sweep);

  // `slot_of`: leaf by leaf, which of `count` results its share is part of, below 0 for none.
  FusedGradientsNode(const FusedType& type, const PackedArray* leaves, const void* constants,
                     const ArrayBase& g, Frame frame, std::vector<int> slot_of, std::size_t count);

  NAX_ENGINE_VIRTUAL Watchers watchers(const Tape& tape) const override;
  NAX_ENGINE_VIRTUAL void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override;
  NAX_ENGINE_VIRTUAL std::vector<ArrayBase> push_call(Forward& sweep) override;

 private:
  static constexpr std::int64_t block = 8192;

  // Where its elements lie: a run that has all axes, or one number.
  enum class Form { run, number, other };
  static Form form_of(const Layout& layout, const Frame& frame);

  static bool fits(const Layout& layout, const Frame& frame) {
    return layout == frame && form_of(layout, frame) != Form::other;
  }

  // The leaves, then g.
  int inputs() const { return type_.leaves + 1; }
  const ArrayBase& input(int i) const { return i < type_.leaves ? leaves_[i] : g_; }
  // The first input that is the same array.
  int first_of(int i) const {
    for (int k = 0; k < i; ++k)
      if (serial_of(input(i)) != 0 && serial_of(input(k)) == serial_of(input(i))) return k;
    return i;
  }

  std::vector<ArrayBase> recorded_shares(const LeafArrays& leaves, const ArrayBase& g) const;
  NAX_ENGINE_VIRTUAL std::vector<ArrayBase> recompute() const override;

  // Returns a row-major copy or view of the elements, from which blocks are cut; a block of one number if all
  // are equal.
  ArrayBase run_of(const ArrayBase& a) const;
  // The run of every input, and whether the input is differentiated.
  struct Runs {
    std::vector<ArrayBase> values;
    std::vector<bool> moves;
  };
  class Block;
  void for_each_block(const Runs& runs, FunctionRef<void(Block&)> f) const;

  const FusedType& type_;
  LeafArrays leaves_;  // as handles, which operations take
  ArrayBase g_;
  Frame frame_;
  std::vector<int> slot_of_;
  std::size_t count_;
  std::vector<double> constants_;  // their bytes
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/fused_gradients_node-inl.hpp"
#endif
