#pragma once

#include <optional>
#include <vector>

#include "nax/transform/call.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"

// Jacobians: all pullbacks, or all pushforwards, in one vmap over a basis.
NAX_BEGIN
namespace detail {

// The rows of the identity of size n, each shaped like x and where x lies: (n, *x.shape).
template <class T>
Array<T> basis(const Array<T>& x) {
  const Shape shape = x.shape();
  const std::int64_t n = shape.count();
  Frame frame;
  frame.shape = shape;
  frame.shape.insert(0, n);
  const ComputeOn beside(x);
  const ArrayBase rows = allocate_on_host(dtype_of<T>, frame);
  T* out = reinterpret_cast<T*>(raw_data(rows));
  for (std::int64_t i = 0; i < n * n; ++i) out[i] = T(0);
  for (std::int64_t i = 0; i < n; ++i) out[i * n + i] = T(1);
  return typed<T>(placed(rows));
}

// Visible axis `axis` of extent `shape.count()` opens up into the axes of `shape`.
template <class T>
Array<T> open_axis(const Array<T>& x, int axis, const Shape& shape) {
  Shape to;
  for (int i = 0; i < x.ndim(); ++i) {
    if (i == axis)
      to.append(shape.begin(), shape.end());
    else
      to.push_back(layout_of(x).visible(i));
  }
  return x.reshape(to);
}

// Visits the arrays of a tree.
template <class Tree, class F>
void for_each_array_leaf(Tree& t, const F& f) {
  tree::for_each(
      [&](auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>) f(leaf);
      },
      t);
}

// Leaf `number` of a tree, an L.
template <class L, class Tree>
L leaf_at(const Tree& t, std::size_t number) {
  std::optional<L> found;
  std::size_t i = 0;
  tree::for_each(
      [&](const auto& leaf) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(leaf)>, L>)
          if (i == number) found = leaf;
        ++i;
      },
      t);
  return std::move(*found);
}

// A tree of blocks in the place of a result's leaves: f(leaf, its number). Containers stay what they were; a
// struct, whose fields cannot hold blocks, becomes the tuple of its fields' blocks.
template <class T, class F>
auto blocks_of(const T& t, const F& f, std::size_t& number);

template <class Pair, class... Block>
auto join_blocks(Block... blocks) {
  if constexpr (IsPair<Pair>::value)
    return std::make_pair(std::move(blocks)...);
  else
    return std::tuple<Block...>(std::move(blocks)...);
}

template <class T, class F>
auto blocks_of(const T& t, const F& f, std::size_t& number) {
  constexpr tree::NodeKind kind = tree::detail::kind_of<T>;
  if constexpr (kind == tree::NodeKind::leaf) {
    return f(t, number++);
  } else if constexpr (kind == tree::NodeKind::fixed) {
    return T(t);
  } else if constexpr (kind == tree::NodeKind::sequence) {
    using Block = decltype(blocks_of(t[0], f, number));
    typename tree::detail::Resequence<T, Block>::type out{};
    for (std::size_t i = 0; i < t.size(); ++i) {
      if constexpr (requires { out.reserve(t.size()); })
        out.push_back(blocks_of(t[i], f, number));
      else
        out[i] = blocks_of(t[i], f, number);
    }
    return out;
  } else if constexpr (kind == tree::NodeKind::map) {
    using Block = decltype(blocks_of(t.begin()->second, f, number));
    typename tree::detail::Remap<T, Block>::type out;
    for (const auto& [key, value] : t) out.emplace_hint(out.end(), key, blocks_of(value, f, number));
    return out;
  } else if constexpr (kind == tree::NodeKind::optional) {
    std::optional<decltype(blocks_of(*t, f, number))> out;
    if (t.has_value()) out.emplace(blocks_of(*t, f, number));
    return out;
  } else {
    // (Braces keep the order of the leaves.)
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto children = tree::detail::children(t);
      std::tuple<decltype(blocks_of(std::get<i>(children), f, number))...> out{
          blocks_of(std::get<i>(children), f, number)...};
      return std::apply([](auto&... block) { return join_blocks<T>(std::move(block)...); }, out);
    }
    (std::make_index_sequence<tree::detail::child_count_v<const T>>{});
  }
}
template <class T, class F>
auto blocks_of(const T& t, const F& f) {
  std::size_t number = 0;
  return blocks_of(t, f, number);
}

// An argument's tree of zeros, the derivative of a result's leaf that does not depend on it.
template <class Tree>
Tree no_derivative(const Tree& x, const Shape& of) {
  Tree zeros = x;
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          Frame frame = layout_of(leaf);
          for (std::size_t i = 0; i < of.size(); ++i) frame.shape.insert(frame.levels.size() + i, of[i]);
          leaf = zeros_over<typename Leaf::value_type>(frame, leaf.device());
        } else {
          leaf = Leaf{};
        }
      },
      zeros);
  return zeros;
}

template <class Leaf>
inline constexpr bool is_floating_leaf_v = false;
template <class T>
inline constexpr bool is_floating_leaf_v<Array<T>> = is_inexact_v<T>;

// f as a function of argument `which` alone, recorded at it.
template <std::size_t which, class F, class Inputs>
auto record_argument(const F& f, const Inputs& inputs) {
  const auto of_one = [&](const auto& x) {
    auto all = inputs;
    std::get<which>(all) = x;
    return call_with(f, std::as_const(all));
  };
  return record_function(of_one, std::get<which>(inputs));
}

// {what f returns, its jacobian with regard to argument `argnum`}.
template <int argnum, class F, class... A>
auto value_and_reverse_jacobian(const F& f, const A&... args) {
  constexpr std::size_t which = argument_at<argnum, A...>;
  const lifted_t<F, A...> inputs = lift_for<F>(args...);
  const auto& x = std::get<which>(inputs);
  const auto record = record_argument<which>(f, inputs);
  auto blocks = blocks_of(record.out, [&](const auto& leaf, std::size_t) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    if constexpr (is_floating_leaf_v<Leaf>) {
      const Shape shape = leaf.shape();
      auto rows = vmap([&](const Leaf& g) {
        const Sweeping sweeping;
        Reverse sweep(*record.tape, record.mark, false);
        if (serial_of(leaf)) sweep.add(serial_of(leaf), seed(g, layout_of(leaf)));
        sweep.run(record.begin);
        auto gradient = std::get<0>(record.inputs);
        take_gradients(gradient, which, sweep, nullptr);
        return gradient;
      })(basis(leaf));
      for_each_array_leaf(rows, [&](auto& row) { row = open_axis(row, 0, shape); });
      return rows;
    } else if constexpr (is_array_v<Leaf>) {
      return no_derivative(x, leaf.shape());
    } else {
      return no_derivative(x, Shape{});
    }
  });
  return std::pair{record.out, std::move(blocks)};
}

// A block of a jacobian by forward mode. It has the result's element type; within a tree, whose structs hold
// arrays of the argument's, it takes that one.
template <class At, bool alone, class T>
auto block_as(Array<T> block) {
  using U = typename At::value_type;
  if constexpr (alone || std::is_same_v<T, U> || is_complex_v<T> != is_complex_v<U>)
    return block;
  else
    return block.template astype<U>();
}

// The columns with regard to each floating leaf of the argument are trees like the result; their leaves, put
// in the place of the argument's, are the blocks.
template <int argnum, class F, class... A>
auto value_and_forward_jacobian(const F& f, const A&... args) {
  constexpr std::size_t which = argument_at<argnum, A...>;
  const lifted_t<F, A...> inputs = lift_for<F>(args...);
  const auto record = record_argument<which>(f, inputs);
  using Out = std::remove_cvref_t<decltype(record.out)>;
  std::vector<Out> columns;
  for_each_input(std::get<0>(record.inputs), [&](const auto& leaf) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    const Shape shape = leaf.shape();
    columns.push_back(vmap(
        [&](const Leaf& t) {
          const Sweeping sweeping;
          Forward sweep(*record.tape, record.mark);
          sweep.put(sweep.tape().find(serial_of(leaf)), seed(t, layout_of(leaf)));
          sweep.run(record.begin, record.end);
          Out out = record.out;
          take_tangents(out, sweep);
          return out;
        },
        {.out_axes = -1})(basis(leaf)));
    for_each_array_leaf(columns.back(),
                        [&](auto& column) { column = open_axis(column, column.ndim() - 1, shape); });
  });
  const auto& x = std::get<which>(inputs);
  using X = std::remove_cvref_t<decltype(x)>;
  auto blocks = blocks_of(record.out, [&](const auto& leaf, std::size_t number) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    Shape shape{};
    if constexpr (is_array_v<Leaf>) shape = leaf.shape();
    if constexpr (is_floating_leaf_v<Leaf>) {
      std::size_t column = 0;
      return tree::map(
          [&](const auto& at) {
            using At = std::remove_cvref_t<decltype(at)>;
            if constexpr (!is_floating_leaf_v<At>)
              return no_derivative(at, shape);
            else
              return block_as<At, std::is_same_v<X, At>>(leaf_at<Leaf>(columns[column++], number));
          },
          x);
    } else {
      return no_derivative(x, shape);
    }
  });
  return std::pair{record.out, std::move(blocks)};
}

}  // namespace detail

// The jacobian of f with regard to one argument, by reverse mode: for a result of shape S and an argument
// of shape X an array of shape S + X. Trees give trees of trees: the result's outside, the argument's in the
// place of each of its arrays. A struct among results becomes the tuple of its fields, in order: where f
// returns `struct {Array<float> a, b;}`, `auto [of_a, of_b] = jacrev(f)(params)` are two structs of params.
// Numbers and arrays of integers have derivatives of zero.
template <int argnum = 0, class F>
auto jacrev(F f) {
  return detail::transformed<detail::CheckDerivative<argnum>, F>([f = std::move(f)](const auto&... args) {
    return detail::value_and_reverse_jacobian<argnum>(f, args...).second;
  });
}

// The Jacobian by forward mode.
template <int argnum = 0, class F>
auto jacfwd(F f) {
  return detail::transformed<detail::CheckDerivative<argnum>, F>([f = std::move(f)](const auto&... args) {
    return detail::value_and_forward_jacobian<argnum>(f, args...).second;
  });
}

// value_and_jacrev(f)(args...): the pair {f(args...), its jacobian as of jacrev}, f called once. The jacobian
// has the shape of jacrev's.
template <int argnum = 0, class F>
auto value_and_jacrev(F f) {
  return detail::transformed<detail::CheckDerivative<argnum>, F>([f = std::move(f)](const auto&... args) {
    return detail::value_and_reverse_jacobian<argnum>(f, args...);
  });
}

// value_and_jacfwd(f)(args...): the pair {f(args...), its jacobian as of jacfwd}, f called once. The jacobian
// has the shape of jacfwd's.
template <int argnum = 0, class F>
auto value_and_jacfwd(F f) {
  return detail::transformed<detail::CheckDerivative<argnum>, F>([f = std::move(f)](const auto&... args) {
    return detail::value_and_forward_jacobian<argnum>(f, args...);
  });
}

// The Jacobian by reverse mode. As jacrev.
template <int argnum = 0, class F>
auto jacobian(F f) {
  return jacrev<argnum>(std::move(f));
}

// The matrix of second derivatives of a scalar function: shape X + X; for a tree a tree of trees, as jacrev
// gives: `auto [w, b] = hessian(loss)(layer)`, and w.b are the second derivatives by w and b. Reverse mode
// twice: the second sweep runs fused kernels over all rows at once, and costs less than a forward one here.
template <int argnum = 0, class F>
auto hessian(F f) {
  return jacrev<argnum>(jacrev<argnum>(std::move(f)));
}

NAX_END
