#pragma once

#include <memory>
#include <vector>

#include "nax/core/array.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/tree/for_each.hpp"

// Loops and branches while jit records a program: a body is recorded once, and the loop, or the choice among
// branches, becomes one step.
//
// The nodes of bodies stay on the tape, behind a node that sweeps pass by (BodyBegin), and behind them comes
// one node for the step (BodyNode). A sweep that reaches it records the derivative of each body, a sweep over
// that body's nodes, as the body of another step: a loop in the other direction for cotangents, in the same
// for tangents; a choice by the same index. Such a body may use all values and tangents of the bodies before
// it, which their steps then keep turn by turn, as a tape would keep them (program/record/ended_body.hpp).
// Arrays from outside that a body uses are found on the tape, and their cotangents added up. Where the sweep
// is itself recorded, its step has a node of the same kind, so that derivatives of any order are loops and
// choices.
NAX_BEGIN
namespace detail {

using LoopArrays = std::vector<ArrayBase>;
using LoopBody = FunctionRef<LoopArrays(LoopArrays& inputs)>;

// Shorter loops are recorded turn by turn: their steps can be joined with others.
inline constexpr std::int64_t least_recorded_turns = 32;

// Does a loop of n turns become a step?
NAX_ENGINE bool records_loop(std::int64_t n);

struct RecordedScan {
  LoopArrays carry, ys;
};
// body(carry and a row of each of xs) -> the next carry and a row of each of ys. n is at least 1. Recorded on
// the tape.
NAX_ENGINE RecordedScan record_scan(LoopBody body, LoopArrays carry, const LoopArrays& xs, std::int64_t n,
                                    bool reverse);
// body(carry) while condition(carry) holds for any example. Recorded on the tape for tangents; a sweep for
// cotangents throws NotRecordable.
NAX_ENGINE LoopArrays record_while(LoopBody condition, LoopBody body, LoopArrays carry);
// The results of the branch of that number, or the nearest. Recorded on the tape.
NAX_ENGINE LoopArrays record_branches(const ArrayBase& index, const std::vector<LoopBody>& branches);

// The arrays of a tree, and back.
template <class Tree>
void list_arrays(const Tree& t, LoopArrays& to) {
  tree::for_each(
      [&](const auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>) to.push_back(leaf);
      },
      t);
}
template <class Tree>
Tree with_arrays(Tree t, LoopArrays& from, std::size_t& at) {
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) leaf = typed<typename Leaf::value_type>(std::move(from[at++]));
      },
      t);
  return t;
}
// Does this array lie in a recording: is it known when the program runs, and not before?
inline bool known_later(const ArrayBase& a) {
  const BufferRef& buffer = ArrayAccess::buffer(a);
  return graph_recording && buffer && on_program(buffer->device);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/lax/recorded_branches-inl.hpp"
#include "nax/lax/recorded_loops-inl.hpp"
#include "nax/lax/recorded_products-inl.hpp"
#include "nax/lax/recorded_scan-inl.hpp"
#include "nax/lax/recorded_while-inl.hpp"
#endif
