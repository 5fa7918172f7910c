#pragma once

#include "nax/expr/differentiation/pull_leaves.hpp"
#include "nax/expr/differentiation/recorded_steps.hpp"
#if defined(NAX_USES_FORMULAS)
#include "nax/expr/differentiation/formula_node.hpp"
#endif

// The tape's node for a fused expression: its leaves and constants. Where no transform watches the sweep, the
// fused kernel gives all gradients in one pass. Where one does, they are a call of the derivative's formula
// (formula_node.hpp); without formulas the steps of the expression run on recorded arrays, one operation at a
// time.
NAX_BEGIN
namespace detail {

// In the arena the leaves follow the node, and the constants follow the leaves.
class FusedNode final : public Node {
 public:
  static std::uint64_t record(const FusedType& type, const ArrayBase* const* leaves, const void* constants) {
    return recording.tape->emplace_with<FusedNode>(bytes(type) - sizeof(FusedNode), type, leaves, constants);
  }
  // With what follows it.
  static std::size_t bytes(const FusedType& type) {
    return sizeof(FusedNode) + static_cast<std::size_t>(type.leaves) * sizeof(PackedArray) +
           static_cast<std::size_t>(type.constants) * constant_bytes;
  }
  FusedNode(const FusedType& type, const ArrayBase* const* leaves, const void* constants);
  ~FusedNode() override {
    for (int l = 0; l < count(); ++l) leaves()[l].~PackedArray();
  }
  Watchers watchers(const Tape& tape) const override { return watchers_of(leaves(), count(), tape); }
  void add(ArrayBase& sum, const ArrayBase& term) const override { type_.root().op->add(sum, term); }

  NAX_ENGINE_VIRTUAL void pull(const ArrayBase& g, Reverse& sweep) override;
  // A number goes on as one where the derivative reads no array.
  NAX_ENGINE_VIRTUAL void pull_number(Number g, Reverse& sweep) override;

  NAX_ENGINE_VIRTUAL void push(Forward& sweep, std::size_t self) override;

 private:
  int count() const { return type_.leaves; }
  PackedArray* leaves() { return reinterpret_cast<PackedArray*>(this + 1); }
  const PackedArray* leaves() const { return reinterpret_cast<const PackedArray*>(this + 1); }
  void* constants() { return leaves() + count(); }
  Frame frame() const { return frame_of_leaves(type_.name, leaves(), count()); }

  // pull_leaves(), or push_leaves(), with a look at the numbers that come and go.
  [[gnu::cold]] NAX_ENGINE void pull_looking(const ArrayBase& g, Reverse& sweep);
  [[gnu::cold]] NAX_ENGINE void check_tangent(const ArrayBase* const* tangents,
                                              const ArrayBase& tangent) const;
  [[gnu::cold]] NAX_ENGINE unsigned odd_numbers_in_leaves() const;

  void give_leaf(const Step& step, const ArrayBase& share, const Frame& own, Reverse& sweep) {
    const PackedArray& leaf = leaves()[step.slot];
    if (sweep.wants(leaf.serial())) sweep.add(leaf.serial(), step.share_of_leaf(share, leaf.layout(), own));
  }

  NAX_COMPILED_ONCE void pull_recorded(const ArrayBase& g, Reverse& sweep) {
#if defined(NAX_USES_FORMULAS)
    if (give_formula_shares(type_, leaves(), constants(), g, sweep)) return;
#endif
    LeafArrays values(count());
    unpack_leaves(type_, leaves(), values);
    const Frame own = frame();
    RecordedSteps(type_, values, constants()).pull(g, [&](const Step& leaf, const ArrayBase& share) {
      give_leaf(leaf, share, own, sweep);
    });
  }

  ArrayBase push_sum(const ArrayBase* const* tangents) {
    if (!tangents[0] || !tangents[1]) return *(tangents[0] ? tangents[0] : tangents[1]);
    const ArrayBase terms[] = {*tangents[0], *tangents[1]};
    return type_.root().op->value(terms);
  }
  std::optional<ArrayBase> push_recorded(const ArrayBase* const* leaf_tangents) {
#if defined(NAX_USES_FORMULAS)
    if (std::optional<ArrayBase> tangent = formula_tangent(type_, leaves(), constants(), leaf_tangents))
      return tangent;
#endif
    LeafArrays values(count());
    unpack_leaves(type_, leaves(), values);
    return RecordedSteps(type_, values, constants()).push(leaf_tangents);
  }

  const FusedType& type_;
};

static_assert(sizeof(FusedNode) % 16 == 0 && sizeof(PackedArray) % 16 == 0);

template <class E>
struct Fused {
  static constexpr int count = Tree<E>::leaves;
  Step steps[StepCount<E>::value];
  unsigned reads = 0, carries = 0;
  constexpr Fused() : steps{} {
    StepCounters next;
    ListSteps<E>::list(steps, next);
    for (int l = 0; l < count; ++l) {
      reads |= static_cast<unsigned>(reads_leaf<E>(l)) << l;
      carries |= static_cast<unsigned>(carries_leaf<E>(l)) << l;
    }
  }
};
template <class E>
inline constexpr bool is_sum_of_arrays = false;
template <class T>
inline constexpr bool is_sum_of_arrays<Expr<rules::add, Array<T>, Array<T>>> = true;
template <class E>
inline constexpr bool is_same_at_value = false;
template <class Rule, class T>
requires(Rule::same_at_value&&
             std::is_same_v<typename Expr<Rule, Array<T>>::value_type,
                            T>) inline constexpr bool is_same_at_value<Expr<Rule, Array<T>>> = true;

inline constexpr std::size_t scalar_bytes = 8;  // what a node of scalars keeps of a leaf's value
// (Neither constexpr variables: operations refer to one another in circles, which nvcc's front end cannot
// follow in constants.)
template <class E>
cpu::PullKernel scalar_pull_of() {
  const KernelTable& table = kernel_table<E>;
  bool all = table.plain && Number::holds(table.result);
  for (int l = 0; l < table.leaves; ++l)
    all = all &&
          (carries_leaf<E>(l) ? Number::holds(table.stored[l]) : dtype_size(table.stored[l]) <= scalar_bytes);
  return all ? scalar_pull_kernel_of<E>() : nullptr;
}
template <class E>
const FusedType& fused_type_of() {
  static const Fused<E> fused;
  static const FusedType type = {E::rule::name,       &kernel_table<E>,
                                 pull_kernel_of<E>(), fused.steps,
                                 StepCount<E>::value, Tree<E>::constants,
                                 Tree<E>::leaves,     fused.reads,
                                 fused.carries,       scalar_pull_of<E>(),
                                 is_sum_of_arrays<E>, is_same_at_value<E>,
                                 is_holomorphic<E>,   spread_over<typename E::value_type>};
  return type;
}
NAX_COMPILED_ONCE std::uint64_t record_fused(const FusedType& type, const ArrayBase* const* leaves,
                                             const void* constants, const ArrayBase& result) {
  if (!type.same_at_value) return FusedNode::record(type, leaves, constants);
  // The node keeps the result, which others read, in the place of the array that it was computed from.
  ArrayBase kept = result;
  ArrayAccess::serial(kept) = serial_of(*leaves[0]);
  const ArrayBase* const leaf = &kept;
  return FusedNode::record(type, &leaf, constants);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/fused_node-inl.hpp"
#endif
