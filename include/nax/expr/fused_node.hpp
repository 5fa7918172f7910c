#pragma once

#include "nax/expr/pull_leaves.hpp"
#include "nax/expr/recorded_op.hpp"

// The tape's node for a fused expression: its leaves and constants. Where no transform watches the sweep, the
// fused kernel gives all gradients in one pass; where one does, the steps of the expression run on recorded
// arrays, one operation at a time. One class serves all expressions: what it must know of the type is data.
namespace nax::inline NAX_ABI::detail {

// What the node must know of an expression type.
struct FusedType {
  const char* name;  // of the root's rule
  const KernelTable* kernels;
  cpu::PullKernel pull;
  const Step* steps;
  int step_count, constants, leaves;
  unsigned reads;               // bit l: does a derivative read the value of leaf l?
  unsigned carries;             // bit l: does a gradient flow into leaf l?
  cpu::PullKernel scalar_pull;  // of numbers; none where they cannot be kept and handed on as such
  bool is_sum;                  // of two arrays: the cotangent itself is both shares
  ArrayBase (*spread)(const ArrayBase&, const Frame&);

  const Step& root() const { return steps[step_count - 1]; }
};

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

  NAX_ENGINE_VIRTUAL void push(Forward& sweep, std::size_t self) override;

 private:
  int count() const { return type_.leaves; }
  PackedArray* leaves() { return reinterpret_cast<PackedArray*>(this + 1); }
  const PackedArray* leaves() const { return reinterpret_cast<const PackedArray*>(this + 1); }
  void* constants() { return leaves() + count(); }
  int root() const { return type_.step_count - 1; }
  Frame frame() const { return frame_of_leaves(type_.name, leaves(), count()); }

  // A number: it goes along to any device.
  ArrayBase constant(const Step& step) {
    return array_of_number(step.dtype, static_cast<const char*>(constants()) + step.slot * constant_bytes);
  }
  // A leaf whose value no derivative reads was not kept.
  ArrayBase leaf(const Step& step) {
    const PackedArray& leaf = leaves()[step.slot];
    return leaf.buffer() ? leaf.unpack(step.dtype) : zeros_over(step.dtype, leaf.layout());
  }
  std::vector<ArrayBase> values_of_steps();
  struct Operands {
    ArrayBase at[Step::most_operands];
    Operands(const Step& step, const std::vector<ArrayBase>& values) {
      for (int j = 0; j < step.arity; ++j) at[j] = values[step.operand[j]];
    }
  };

  void give_leaf(const Step& step, const ArrayBase& share, const Frame& own, Reverse& sweep) {
    const PackedArray& leaf = leaves()[step.slot];
    if (sweep.wants(leaf.serial())) sweep.add(leaf.serial(), step.share_of_leaf(share, leaf.layout(), own));
  }

  NAX_COMPILED_ONCE void pull_recorded(const ArrayBase& g, Reverse& sweep) {
    const std::vector<ArrayBase> values = values_of_steps();
    std::vector<ArrayBase> cotangents(values.size());
    cotangents.back() = g;
    const Frame own = frame();
    for (int i = root(); i >= 0; --i) {
      const Step& step = type_.steps[i];
      const ArrayBase cotangent = std::move(cotangents[i]);
      if (!ArrayAccess::buffer(cotangent)) continue;
      if (step.kind == Step::Kind::leaf) give_leaf(step, cotangent, own, sweep);
      if (!step.through) continue;
      ArrayBase shares[Step::most_operands];
      step.op->vjp(cotangent, Operands(step, values).at, values[i], shares);
      for (int j = 0; j < step.arity; ++j)
        if (step.through >> j & 1) cotangents[step.operand[j]] = std::move(shares[j]);
    }
  }

  ArrayBase push_sum(const ArrayBase* const* tangents) {
    if (!tangents[0] || !tangents[1]) return *(tangents[0] ? tangents[0] : tangents[1]);
    const ArrayBase terms[] = {*tangents[0], *tangents[1]};
    return type_.root().op->value(terms);
  }
  NAX_COMPILED_ONCE std::optional<ArrayBase> push_recorded(const ArrayBase* const* leaf_tangents) {
    const std::vector<ArrayBase> values = values_of_steps();
    std::vector<ArrayBase> tangents(values.size());  // zero where there is no buffer
    for (int i = 0; i <= root(); ++i) {
      const Step& step = type_.steps[i];
      if (step.through)
        push_step(step, values, values[i], tangents, tangents[i]);
      else if (step.share_of_leaf && leaf_tangents[step.slot])
        tangents[i] = *leaf_tangents[step.slot];
    }
    if (!ArrayAccess::buffer(tangents.back())) return std::nullopt;
    return std::move(tangents.back());
  }

  // The shares of a tangent, to all operands; the j-th counts. Where it has NaNs the derivative itself tells
  // whether a zero of it met an infinite tangent.
  static void push_by_vjp(const Step& step, int j, const ArrayBase& t, const Operands& operands,
                          const ArrayBase& y, ArrayBase* shares) {
    step.op->vjp(t, operands.at, y, shares);
    if (!step.op->drop || !step.op->may_hold_nan(shares[j])) return;
    ArrayBase derivatives[Step::most_operands];
    step.op->vjp(step.op->one(), operands.at, y, derivatives);
    step.op->drop(derivatives[j], shares[j]);
  }
  static void push_step(const Step& step, const std::vector<ArrayBase>& values, const ArrayBase& y,
                        const std::vector<ArrayBase>& tangents, ArrayBase& total);

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
  static const FusedType type = {
      E::rule::name,       &kernel_table<E>,    pull_kernel<E>,      fused.steps,
      StepCount<E>::value, Tree<E>::constants,  Tree<E>::leaves,     fused.reads,
      fused.carries,       scalar_pull_of<E>(), is_sum_of_arrays<E>, spread_over<typename E::value_type>};
  return type;
}
NAX_COMPILED_ONCE std::uint64_t record_fused(const FusedType& type, const ArrayBase* const* leaves,
                                             const void* constants) {
  return FusedNode::record(type, leaves, constants);
}

}  // namespace nax::inline NAX_ABI::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::detail {

NAX_ENGINE FusedNode::FusedNode(const FusedType& type, const ArrayBase* const* leaves, const void* constants)
    : type_(type) {
  int made = 0;
  try {
    for (; made < count(); ++made)
      new (this->leaves() + made)
          PackedArray(*leaves[made], type.reads >> made & 1, type.carries >> made & 1);
  } catch (...) {  // a layout that found no memory
    while (made > 0) this->leaves()[--made].~PackedArray();
    throw;
  }
  copy_constants(constants, type.constants, this->constants());
}

NAX_ENGINE void FusedNode::pull(const ArrayBase& g, Reverse& sweep) {
  if (type_.is_sum) {
    const Frame own = frame();
    for (int l = 0; l < 2; ++l) give_leaf(type_.steps[l], g, own, sweep);
  } else if (recording.tape) {
    pull_recorded(g, sweep);
  } else {
    pull_leaves(type_.name, *type_.kernels, type_.pull, constants(), leaves(), g, sweep);
  }
}

NAX_ENGINE void FusedNode::push(Forward& sweep, std::size_t self) {
  const ArrayBase* tangents[max_leaves];
  bool any = false;
  for (int l = 0; l < count(); ++l) {
    tangents[l] = sweep.find(leaves()[l].serial());
    any = any || tangents[l];
  }
  if (!any) return;
  std::optional<ArrayBase> tangent;
  if (type_.is_sum)
    tangent = push_sum(tangents);
  else if (!recording.tape)
    tangent = push_leaves(type_.name, *type_.kernels, type_.pull, constants(), leaves(), tangents);
  if (!tangent) tangent = push_recorded(tangents);
  if (tangent) sweep.put(self, type_.spread(*tangent, broadcast("jvp", layout_of(*tangent), frame())));
}

NAX_ENGINE std::vector<ArrayBase> FusedNode::values_of_steps() {
  std::vector<ArrayBase> values(static_cast<std::size_t>(type_.step_count));
  for (int i = 0; i <= root(); ++i) {
    const Step& step = type_.steps[i];
    if (step.kind == Step::Kind::leaf) values[i] = leaf(step);
    if (step.kind == Step::Kind::constant) values[i] = constant(step);
    if (step.kind == Step::Kind::operation) values[i] = step.op->value(Operands(step, values).at);
  }
  return values;
}

NAX_ENGINE void FusedNode::push_step(const Step& step, const std::vector<ArrayBase>& values,
                                     const ArrayBase& y, const std::vector<ArrayBase>& tangents,
                                     ArrayBase& total) {
  const Operands operands(step, values);
  for (int j = 0; j < step.arity; ++j) {
    const ArrayBase& t = tangents[step.operand[j]];
    if (!(step.through >> j & 1) || !ArrayAccess::buffer(t)) continue;
    ArrayBase shares[Step::most_operands];
    if (step.op->push)
      shares[j] = step.op->push(j, t, operands.at, y);
    else
      push_by_vjp(step, j, t, operands, y, shares);
    if (ArrayAccess::buffer(total))
      step.op->add(total, shares[j]);
    else
      total = std::move(shares[j]);
  }
}

}  // namespace nax::inline NAX_ABI::detail
#endif
