#pragma once

#include <memory>
#include <vector>

#include "nax/core/function_ref.hpp"
#include "nax/program/record/loop.hpp"
#include "nax/tape/call_node.hpp"
#include "nax/tree/for_each.hpp"

// Loops while jit records a program: the body is recorded once, and the loop becomes one step.
//
// Under a gradient the body is recorded with its derivative. Values that the derivative uses are kept turn by
// turn, as a tape would keep them; arrays from outside that the body uses are found on the tape, and their
// cotangents added up.
NAX_BEGIN
namespace detail {

using LoopArrays = std::vector<ArrayBase>;
using LoopBody = FunctionRef<LoopArrays(LoopArrays& inputs)>;

// Shorter loops are recorded turn by turn: their steps can be joined with others.
inline constexpr std::int64_t least_recorded_turns = 32;

// Does a loop of n turns become a step? Not where a derivative of its derivative may be asked for.
inline bool records_loop(std::int64_t n) {
  return graph_recording && program::is_recording() && n >= least_recorded_turns &&
         !program::Recorder::current().unrolls &&
         (!recording.tape || recording.tape->scopes.marks.size() == 1);
}

// How to run the loop's derivative.
struct ScanDerivative {
  // Rows of an array, or of a slot.
  struct Source {
    ArrayBase array = ArrayAccess::unset();
    int slot = -1;
    std::int64_t offset = 0, step = 0;
  };
  // A cotangent: that of an output by number, or of an array on the tape.
  struct Cotangent {
    DType dtype;
    Frame frame;
    std::size_t place = Tape::npos;  // on the tape, of what takes it
    int output = -1;                 // of the loop; -1 for sums that begin at zero
  };
  // A sum of products that is computed behind the loop. An operand's rows are those of a source, or kept by
  // the derivative.
  struct Product {
    program::TurnProduct product;
    Cotangent of;
    int a = 0, b = 0;  // numbers of sources and, behind these, of what is kept
  };
  program::Part part;
  std::int64_t turns = 0;
  bool reverse = false;
  std::vector<Cotangent> carries, ys, xs;
  std::vector<Source> sources;
  std::vector<Product> products;
  std::vector<std::size_t> kept;  // bytes of rows
};

struct ScanNode final : CallNode {
  ScanDerivative derivative;
  explicit ScanNode(ScanDerivative d) : derivative(std::move(d)) {}
  Watchers watchers(const Tape&) const override { return watcher_bit(0); }
  NAX_ENGINE_VIRTUAL void pull_call(LoopArrays cotangents, Reverse& sweep) override;
  NAX_ENGINE_VIRTUAL LoopArrays push_call(Forward& sweep) override;
};

struct RecordedScan {
  LoopArrays carry, ys;
  std::unique_ptr<ScanDerivative> derivative;  // null where nothing is watched
};
// body(carry and a row of each of xs) -> the next carry and a row of each of ys. n is at least 1.
NAX_ENGINE RecordedScan record_scan(LoopBody body, LoopArrays carry, const LoopArrays& xs, std::int64_t n,
                                    bool reverse);
// body(carry) while condition(carry) holds for any example. Throws NotRecordable under a gradient.
NAX_ENGINE LoopArrays record_while(LoopBody condition, LoopBody body, LoopArrays carry);
// The results of the branch of that number, or the nearest. Throws NotRecordable under a gradient.
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
#include "nax/lax/recorded_loops-inl.hpp"
#include "nax/lax/recorded_products-inl.hpp"
#include "nax/lax/recorded_scan-inl.hpp"
#endif
