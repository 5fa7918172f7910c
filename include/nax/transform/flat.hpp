#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "nax/core/function_ref.hpp"
#include "nax/transform/call.hpp"
#include "nax/transform/jvp.hpp"

// Functions from lists of arrays to lists of arrays, with their types erased, and their derivatives, which
// are such functions again. grad of grad of pmap needs derivatives to any order of one function without a
// type for each.
NAX_BEGIN
namespace detail {

using Arrays = std::vector<ArrayBase>;

struct FlatFunction {
  virtual ~FlatFunction() = default;
  virtual Arrays call(Arrays inputs) const = 0;
};
using FlatRef = std::shared_ptr<const FlatFunction>;

template <class T>
Array<T> move_axis_recorded(const Array<T>& x, int from, int to);

// Operations of the engine on arrays whose type it does not know. Filled in, type by type, by the calls that
// use the type, so that a program compiles these for its own types only.
struct LeafOperations {
  ArrayBase (*make_input)(const ArrayBase& x, Tape& tape);
  ArrayBase (*zeros)(const ArrayBase& like);
  ArrayBase (*seed)(const ArrayBase& g, const Frame& frame);
  ArrayBase (*sum_levels)(const ArrayBase& x, const Levels& made, const Levels& kept);
  ArrayBase (*sum_leading)(const ArrayBase& x);
  ArrayBase (*move_axis)(const ArrayBase& x, int from, int to);
  std::uint64_t (*record_output)(Tape& tape, CallNode* call, std::uint64_t serial, std::size_t slot,
                                 std::size_t count);
};

template <class T>
struct LeafOperationsOf {
  static ArrayBase make_input(const ArrayBase& x, Tape& tape) {
    Array<T> input = typed<T>(x);
    detail::make_input(input, tape);
    return input;
  }
  static ArrayBase zeros(const ArrayBase& like) { return zeros_over(typed<T>(like)); }
  static ArrayBase seed(const ArrayBase& g, const Frame& frame) { return detail::seed(typed<T>(g), frame); }
  static ArrayBase sum_levels(const ArrayBase& x, const Levels& made, const Levels& kept) {
    return detail::sum_levels(typed<T>(x), made, kept);
  }
  static ArrayBase sum_leading(const ArrayBase& x) {
    AxisMarks marks(layout_of(x).shape.size(), false);
    marks[layout_of(x).levels.size()] = true;
    return sum_axes(typed<T>(x), marks, false);
  }
  static ArrayBase move_axis(const ArrayBase& x, int from, int to) {
    return move_axis_recorded(typed<T>(x), from, to);
  }
  static std::uint64_t record_output(Tape& tape, CallNode* call, std::uint64_t serial, std::size_t slot,
                                     std::size_t count) {
    return tape.emplace<OutputNode>(call, serial, slot, count);
  }
  static constexpr LeafOperations table = {make_input,  zeros,     seed,         sum_levels,
                                           sum_leading, move_axis, record_output};
};

inline std::atomic<const LeafOperations*>& leaf_operations_slot(DType dtype) {
  static std::atomic<const LeafOperations*> slots[dtype_count] = {};
  return slots[static_cast<std::size_t>(dtype)];
}
template <class T>
void provide_leaf_operations() {
  if constexpr (is_inexact_v<T>)
    leaf_operations_slot(dtype_of<T>).store(&LeafOperationsOf<T>::table, std::memory_order_release);
}
// Visits the arrays of a tree, of any dtype; the engine has leaf operations for these dtypes afterwards.
template <class Tree>
void for_each_array(Tree& tree, FunctionRef<void(ArrayBase&)> f) {
  tree::for_each(
      [&](auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>) {
          provide_leaf_operations<typename std::remove_cvref_t<decltype(leaf)>::value_type>();
          f(leaf);
        }
      },
      tree);
}
inline const LeafOperations& operations_of(const ArrayBase& a) {
  return *leaf_operations_slot(a.dtype()).load(std::memory_order_acquire);
}
inline ArrayBase zeros_like_leaf(const ArrayBase& a) { return operations_of(a).zeros(a); }

// A function recorded at a point, for sweeps in either direction.
struct FlatRecord {
  TapeRef tape;
  std::size_t mark = 0, count = 0, end = 0;
  Arrays inputs, outputs;

  // Runs f on inputs of its own.
  static FlatRecord make(const FlatFunction& f, const Arrays& at, const TapeScope& scope);
  // Cotangents of the floating outputs in, of the floating inputs out.
  Arrays pull(const Arrays& cotangents) const;
  Arrays push(const Arrays& tangents) const;
};

// Runs f under a transform inside the one that differentiates this: custom rules apply to the inner one.
struct FlatWatched final : FlatFunction {
  FlatRef f;
  explicit FlatWatched(FlatRef function) : f(std::move(function)) {}
  Arrays call(Arrays inputs) const override {
    const TapeScope scope;
    return FlatRecord::make(*f, inputs, scope).outputs;
  }
};

// (inputs..., cotangents of the floating outputs...) -> cotangents of the floating inputs.
struct FlatVjp final : FlatFunction {
  FlatRef f;
  std::size_t inputs;
  FlatVjp(FlatRef function, std::size_t n) : f(std::move(function)), inputs(n) {}
  Arrays call(Arrays all) const override {
    const Arrays at(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(inputs));
    const Arrays cotangents(all.begin() + static_cast<std::ptrdiff_t>(inputs), all.end());
    const TapeScope scope;
    const FlatRecord record = FlatRecord::make(*f, at, scope);
    const SweepScope sweeping(scope.outermost());
    return record.pull(cotangents);
  }
};

// (inputs..., tangents of the floating inputs...) -> tangents of the floating outputs.
struct FlatJvp final : FlatFunction {
  FlatRef f;
  std::size_t inputs;
  FlatJvp(FlatRef function, std::size_t n) : f(std::move(function)), inputs(n) {}
  Arrays call(Arrays all) const override {
    const Arrays at(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(inputs));
    const Arrays tangents(all.begin() + static_cast<std::ptrdiff_t>(inputs), all.end());
    const TapeScope scope;
    const FlatRecord record = FlatRecord::make(*f, at, scope);
    const SweepScope sweeping(scope.outermost());
    return record.push(tangents);
  }
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/flat-inl.hpp"
#endif
