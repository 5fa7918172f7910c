#pragma once

#include <optional>

#include "nax/expr/primitive.hpp"
#include "nax/expr/sum_axes.hpp"
#include "nax/expr/zeros.hpp"
#include "nax/rules/cast.hpp"
#include "nax/tape/packed_array.hpp"

// The tape's node for a fused expression: its leaves and constants. Where no transform watches the sweep, the
// fused kernel gives all gradients in one pass; where one does, the rules run on recorded values, one
// operation at a time.
namespace nax::detail {

struct RecordedLane {
  template <class T>
  using Value = Recorded<T>;
  template <class T>
  static Recorded<T> constant(const void* slot) {
    T x;
    std::memcpy(static_cast<void*>(&x), slot, sizeof x);
    return Recorded<T>(Array<T>(x));
  }
  template <class T>
  static Recorded<T> load(const PackedArray& leaf, std::int64_t) {
    // A value that no derivative reads was not kept.
    return leaf.buffer() ? leaf.unpack<Array<T>>() : zeros_over<T>(leaf.layout());
  }
  template <class To, class From>
  static Recorded<To> cast(const Recorded<From>& x) {
    if constexpr (std::is_same_v<To, From>)
      return x;
    else
      return apply<rules::cast<To>>(x);
  }
  template <class Rule, class... V>
  static auto call(const V&... x) {
    if constexpr (requires { typename Rule::identity; })
      return (x, ...);
    else
      return apply<Rule>(x...);
  }
};

struct RecordedSource {
  const void* constants;
  const PackedArray* leaves;
};

// The tangent of a tree, from those of its leaves; none where all are zero.
template <class T, int L, int K>
std::optional<Recorded<T>> push_tree(const Walk<RecordedLane, Array<T>, L, K>&, const PackedArray* leaves,
                                     Forward& sweep) {
  if constexpr (is_inexact_v<T>) {
    if (const ArrayBase* t = sweep.find(leaves[L].serial())) return Recorded<T>(Array<T>(*t));
  }
  return std::nullopt;
}
template <class T, int L, int K>
std::optional<Recorded<T>> push_tree(const Walk<RecordedLane, Constant<T>, L, K>&, const PackedArray*,
                                     Forward&) {
  return std::nullopt;
}
template <class Rule, class... A, int L, int K>
auto push_tree(const Walk<RecordedLane, Expr<Rule, A...>, L, K>& walk, const PackedArray* leaves,
               Forward& sweep) -> std::optional<Recorded<typename Expr<Rule, A...>::value_type>> {
  using Result = typename Expr<Rule, A...>::value_type;
  std::optional<Recorded<Result>> total;
  if constexpr (Carries<Expr<Rule, A...>>::value) {
    const auto one = [&]<int j>(std::integral_constant<int, j>) {
      using Child = std::tuple_element_t<j, std::tuple<A...>>;
      if constexpr (Carries<Expr<Rule, A...>>::template through<j, Child>) {
        const auto t = push_tree(std::get<j>(walk.children.walks), leaves, sweep);
        if (!t) return;
        using Operand = typename Rule::template operand<j, typename A::value_type...>;
        const auto pulled = [&]<int... i>(const Recorded<Result>& g, std::integer_sequence<int, i...>) {
          return std::get<j>(Rule::vjp(g, walk.template operand<i>()..., walk.value));
        };
        const auto indices = std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{};
        const Recorded<Operand> in = RecordedLane::cast<Operand, typename Child::value_type>(*t);
        Recorded<Result> share = [&] {
          if constexpr (is_complex_v<Operand> &&
                        !is_complex_v<Result>)  // the real part of t times the derivative
            return RecordedLane::cast<Result, Operand>(in * pulled(Recorded<Result>(1), indices));
          else
            return RecordedLane::cast<Result, Operand>(
                pulled(RecordedLane::cast<Result, Operand>(in), indices));
        }();
        total = total ? *total + share : share;
      }
    };
    [&]<int... j>(std::integer_sequence<int, j...>) { (one(std::integral_constant<int, j>{}), ...); }
    (std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
  }
  return total;
}

// ---- the part of the node that does not depend on the type of the expression

inline Frame frame_of_leaves(const char* name, const PackedArray* leaves, int count) {
  Frame frame = leaves[0].layout();
  for (int l = 1; l < count; ++l) frame = broadcast(name, frame, leaves[l].layout());
  return frame;
}

inline Watchers watchers_of(const PackedArray* leaves, int count, const Tape& tape) {
  Watchers all = 0;
  for (int l = 0; l < count; ++l) all |= tape.watchers(leaves[l].serial());
  return all;
}

// What a leaf reads whose value no derivative needs.
inline char* unread_leaf() {
  alignas(16) static char bytes[16] = {};
  return bytes;
}

// Half gradients are accumulated in float, then stored.
inline ArrayBase to_stored(ArrayBase gradient, DType stored) {
  if (gradient.dtype() == stored) return gradient;
  ArrayBase result = allocate(stored, layout_of(gradient));
  cpu::converter(gradient.dtype(), stored)(raw_data(gradient), 1, raw_data(result), 1,
                                           layout_of(result).size());
  return result;
}

// The usual small case: every leaf and the cotangent are unbroken runs over the same axes.
inline bool pull_flat(const KernelTable& table, cpu::PullKernel kernel, const void* constants,
                      const PackedArray* leaves, const ArrayBase& g, Reverse& sweep) {
  const Layout& layout = layout_of(g);
  const std::int64_t n = layout.size();
  if (n > cpu::detail::parallel_grain || n == 0 || !layout.is_contiguous() || table.result_lane != g.dtype())
    return false;
  const void* in[max_leaves];
  for (int l = 0; l < table.leaves; ++l) {
    const PackedArray& leaf = leaves[l];
    if (table.stored[l] != table.lanes[l] || !leaf.layout().is_contiguous() ||
        !(static_cast<const Frame&>(leaf.layout()) == layout))
      return false;
    // A leaf without its value is not read for what it is; the cotangent stands in.
    in[l] = leaf.buffer() ? leaf.data(table.stored[l]) : raw_data(g);
  }
  ArrayBase gradients[max_leaves];
  void* out[max_leaves];
  for (int l = 0; l < table.leaves; ++l) {
    out[l] = nullptr;
    if (dtype_kind(table.stored[l]) < Kind::floating || !sweep.wants(leaves[l].serial())) continue;
    gradients[l] = allocate(table.lanes[l], layout);
    out[l] = raw_data(gradients[l]);
  }
  kernel(constants, in, raw_data(g), out, n);
  for (int l = 0; l < table.leaves; ++l)
    if (out[l]) sweep.add(leaves[l].serial(), std::move(gradients[l]));
  return true;
}

// One pass of the fused kernel: every wanted leaf gets its share of g.
[[gnu::noinline]] inline void pull_leaves(const char* name, const KernelTable& table, cpu::PullKernel kernel,
                                          const void* constants, const PackedArray* leaves,
                                          const ArrayBase& g, Reverse& sweep) {
  if (pull_flat(table, kernel, constants, leaves, g, sweep)) return;
  const int count = table.leaves;
  const Frame own = frame_of_leaves(name, leaves, count);
  const Frame all = broadcast(name, own, layout_of(g));
  cpu::Operand operands[2 * max_leaves + 1];
  std::int64_t sizes[max_leaves];
  ArrayBase gradients[max_leaves];
  for (int l = 0; l < count; ++l) {
    const PackedArray& leaf = leaves[l];
    const DType lane = table.lanes[l], stored = table.stored[l];
    operands[l] = {leaf.buffer() ? leaf.data(stored) : unread_leaf(), Dims(all.shape.size(), 0), stored,
                   lane};
    if (leaf.buffer()) operands[l].strides = strides_over(leaf.layout(), all);
    cpu::Operand& target = operands[count + 1 + l];
    target = {nullptr, Dims(all.shape.size(), 0), lane, lane};
    sizes[l] = 0;
    if (dtype_kind(stored) < Kind::floating || !sweep.wants(leaf.serial())) continue;
    gradients[l] = allocate(lane, gradient_frame(leaf.layout(), own, layout_of(g)));
    target.data = raw_data(gradients[l]);
    target.strides = strides_over(layout_of(gradients[l]), all);
    sizes[l] = layout_of(gradients[l]).size();
  }
  operands[count] = operand_over(g, all, table.result_lane);
  cpu::pull(kernel, constants, all.shape, operands, sizes, count);
  for (int l = 0; l < count; ++l)
    if (ArrayAccess::buffer(gradients[l]))
      sweep.add(leaves[l].serial(), to_stored(std::move(gradients[l]), table.stored[l]));
}

// ---- the part that does

template <class E>
struct FusedNode final : ResultNode<typename E::value_type> {
  using T = typename E::value_type;
  static constexpr int count = Tree<E>::leaves;

  ConstantSlots<Tree<E>::constants> constants;
  PackedArray leaves[count];

  explicit FusedNode(const E& e) : constants(constants_of(e)) {
    int l = 0;
    for_each_leaf(e, [&](const ArrayBase& leaf) {
      leaves[l] = PackedArray(leaf, reads_leaf<E>(l), carries_leaf<E>(l));
      ++l;
    });
  }
  void drop() noexcept override {
    for (PackedArray& leaf : leaves) leaf.drop();
  }
  Watchers watchers(const Tape& tape) const { return watchers_of(leaves, count, tape); }
  Frame frame() const { return frame_of_leaves(E::rule::name, leaves, count); }

  struct RecordedSink {
    const FusedNode& node;
    const Frame& frame;
    Reverse& sweep;
    template <class U, int L>
    void deposit(const Recorded<U>& g) {
      const PackedArray& leaf = node.leaves[L];
      if (!sweep.wants(leaf.serial())) return;
      // A share may be one number for all.
      const Array<U>& share = g.array;
      const bool whole = layout_of(share).ndim() == frame.ndim();
      sweep.add(leaf.serial(),
                sum_to(whole ? share : broadcast_frame(share, broadcast("vjp", layout_of(share), frame)),
                       leaf.layout(), frame));
    }
  };

  void pull(const ArrayBase& g, Reverse& sweep) override {
    if constexpr (std::is_same_v<E, Expr<rules::add, Array<T>, Array<T>>>) {
      // Both shares are the cotangent itself.
      const Frame own = frame();
      RecordedSink sink{*this, own, sweep};
      sink.template deposit<T, 0>(Recorded<T>(Array<T>(g)));
      sink.template deposit<T, 1>(Recorded<T>(Array<T>(g)));
    } else if (recording.tape) {
      pull_recorded(g, sweep);
    } else {
      pull_leaves(E::rule::name, kernel_table<E>, pull_kernel<E>, constants.slots, leaves, g, sweep);
    }
  }

  // Both are compiled for size: they run whole operations one by one, and every expression has them.
  [[gnu::cold, gnu::noinline]] void pull_recorded(const ArrayBase& g, Reverse& sweep) {
    const Root<RecordedLane, E> walk(RecordedSource{constants.slots, leaves}, 0);
    const Frame own = frame();
    RecordedSink sink{*this, own, sweep};
    walk.pull(Recorded<T>(Array<T>(g)), sink);
  }
  [[gnu::cold]] void push(Forward& sweep, std::size_t self) override {
    bool any = false;
    for (const PackedArray& leaf : leaves) any = any || sweep.find(leaf.serial());
    if (!any) return;
    const Root<RecordedLane, E> walk(RecordedSource{constants.slots, leaves}, 0);
    if (auto tangent = push_tree(walk, leaves, sweep))
      sweep.put(self, broadcast_frame(tangent->array, broadcast("jvp", layout_of(tangent->array), frame())));
  }
};

template <class E>
void record_fused(Array<typename E::value_type>& result, const E& e) {
  ArrayAccess::serial(result) = recording.tape->emplace<FusedNode<E>>(e);
}

}  // namespace nax::detail
