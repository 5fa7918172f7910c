#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "nax/expr/differentiation/scalar_node.hpp"
#include "nax/tape/levels.hpp"
#include "nax/transform/debug_gradients.hpp"
#include "nax/transform/mistakes.hpp"
#include "nax/tree/for_each.hpp"
#include "nax/tree/map.hpp"

// Shared by grad, vjp and jvp: turns arguments into inputs on the tape, and reads results off the
// sweeps.
NAX_BEGIN
namespace detail {

// A cotangent or a tangent: expressions are computed, numbers wait for the type that they meet.
template <class X>
auto evaluated(const X& x) {
  if constexpr (Expression<X>)
    return evaluate(x);
  else
    return x;
}
template <class A, class B>
auto evaluated(const std::pair<A, B>& x) {
  return std::pair<decltype(evaluated(x.first)), decltype(evaluated(x.second))>(evaluated(x.first),
                                                                                evaluated(x.second));
}
template <class... A>
auto evaluated(const std::tuple<A...>& x) {
  return std::apply([](const auto&... a) { return std::make_tuple(evaluated(a)...); }, x);
}

// A result of the user's function, with every expression in it computed.
template <class X>
auto materialise_tree(const X& x) {
  if constexpr (Expression<X>)
    return evaluate(x);
  else if constexpr (Scalar<X>)
    return Array<default_type_t<X>>(x);
  else
    return x;
}
template <class T>
Array<T> materialise_tree(Array<T>&& x) {
  return std::move(x);
}
template <class A, class B>
auto materialise_tree(const std::pair<A, B>& x) {
  return std::pair{materialise_tree(x.first), materialise_tree(x.second)};
}
template <class... A>
auto materialise_tree(const std::tuple<A...>& x) {
  return std::apply([](const auto&... a) { return std::make_tuple(materialise_tree(a)...); }, x);
}

// Returns the axes of an input of a transform: its own, and those of every vmap entered so far. So its
// gradient has one entry for each example of those vmaps; axes of later vmaps are summed.
NAX_ENGINE Frame door_frame(const Frame& frame);

// Puts one array on the tape as an input. (Errors say grad for vjp, jvp and all that come of these, too.)
template <class T>
void make_input(Array<T>& x, Tape& tape) {
  check_operand("grad", x);
  put_into_program(x);
  const std::uint64_t outer = is_recorded(x) ? serial_of(x) : 0;
  const Levels before = layout_of(x).levels;
  if (!vmap_stack().frames.empty()) {
    const Frame frame = door_frame(layout_of(x));
    Layout layout;
    layout.strides = strides_over(layout_of(x), frame);
    static_cast<Frame&>(layout) = frame;
    ArrayAccess::layout(x) = std::move(layout);
  }
  ArrayAccess::serial(x) = tape.emplace<LeafNode>(outer, layout_of(x).levels, before);
}

// Puts every floating leaf of a tree on the tape, in order. Other leaves stay constants.
template <class Tree>
void make_inputs(Tree& tree, Tape& tape) {
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          if constexpr (is_inexact_v<typename Leaf::value_type>) make_input(leaf, tape);
        }
      },
      tree);
}

// Replaces each input of the tree by its cotangent, which leaves the sweep, or by zeros where none came;
// other leaves by zeros. Inputs without a cotangent are added to `unreached`, where there is one.
template <class Tree>
void take_gradients(Tree& tree, std::size_t argument, Reverse& sweep, UnreachedInputs* unreached) {
  auto visit = [&](const tree::detail::Path& path, auto& leaf) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    if constexpr (is_array_v<Leaf>) {
      if constexpr (is_inexact_v<typename Leaf::value_type>) {
        if (ArrayBase* const cotangent = sweep.find(serial_of(leaf))) {
          leaf = typed<typename Leaf::value_type>(std::move(*cotangent));
          return;
        }
        if (unreached) unreached->add(argument, path);
      }
      leaf = zeros_over(leaf);
    } else {
      leaf = Leaf{};
    }
  };
  tree::detail::walk(tree::detail::Path{.name = "grad"}, visit, tree);
}
// Of several arguments, numbered as the caller gave them.
template <class... Tree, std::size_t... i>
void take_gradients(const char* function, std::tuple<Tree...>& trees, std::index_sequence<i...>,
                    Reverse& sweep) {
  if (!debugging_gradients().load(std::memory_order_relaxed)) [[likely]] {
    std::apply([&](Tree&... tree) { (take_gradients(tree, i, sweep, nullptr), ...); }, trees);
    return;
  }
  UnreachedInputs unreached(function);
  std::apply([&](Tree&... tree) { (take_gradients(tree, i, sweep, &unreached), ...); }, trees);
  unreached.warn();
}

// While a sweep runs: nothing is recorded unless an outer transform watches.
class SweepScope {
 public:
  explicit SweepScope(bool outermost) : off_(outermost ? nullptr : recording.tape) {}

 private:
  RecordOn off_;
  Sweeping sweeping_;
};

// A number or an array as one of element type T.
template <class T, class X>
Array<T> as_array_of(const X& x) {
  if constexpr (std::is_same_v<X, Array<T>> || Scalar<X>)
    return Array<T>(x);
  else
    return x.template astype<T>();
}

// The gradient's seed must have the axes of the result, hidden ones too.
template <class T>
Array<T> seed(const Array<T>& cotangent, const Frame& result) {
  return broadcast_frame(cotangent, broadcast("vjp", layout_of(cotangent), result));
}

// transpose_linear, declared in primitive.hpp.
template <class R, class T, class F>
Array<R> transpose_linear(const F& f, const Frame& domain, const Array<T>& t) {
  Frame frame = domain;
  for (int h = 0; h < layout_of(t).hidden(); ++h) {  // the tangent's own axes stay apart
    std::size_t at = 0;
    const Level level = layout_of(t).levels[h];
    while (at < frame.levels.size() && frame.levels[at] < level) ++at;
    if (at < frame.levels.size() && frame.levels[at] == level) continue;
    frame.levels.insert(at, level);
    frame.shape.insert(at, layout_of(t).shape[h]);
  }
  const TapeScope scope;
  const ComputeOn beside(t);
  Array<R> u = zeros_over<R>(frame);
  ArrayAccess::serial(u) = scope.tape()->emplace<LeafNode>(std::uint64_t{0}, frame.levels, Levels());
  const Array<T> image = f(u);
  const SweepScope sweeping(scope.outermost());
  Reverse sweep(*scope.tape(), scope.mark(), false);
  sweep.add(serial_of(image), seed(t, layout_of(image)));
  sweep.run(scope.mark() + 1);
  const ArrayBase* result = sweep.find(serial_of(u));
  return result ? typed<R>(*result) : zeros_over<R>(frame);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE Frame door_frame(const Frame& frame) {
  Frame out = frame;
  const auto& frames = vmap_stack().frames;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::size_t at = 0;
    while (at < out.levels.size() && out.levels[at] < frames[i].level) ++at;
    if (at < out.levels.size() && out.levels[at] == frames[i].level) continue;
    out.levels.insert(at, frames[i].level);
    out.shape.insert(at, frames[i].size);
  }
  return out;
}

}  // namespace detail
NAX_END
#endif
