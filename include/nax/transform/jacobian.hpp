#pragma once

#include "nax/transform/call.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"

// Jacobians: all pullbacks, or all pushforwards, in one vmap over a basis.
namespace nax::inline NAX_ABI {
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
  return Array<T>(placed(rows));
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

// For a result that is one array: its block. For a tuple or pair of results: a tuple of blocks.
template <class Out, class Block>
auto tree_jacobian(const Out& out, const Block& block) {
  if constexpr (is_array_v<Out>) {
    return block(out, [](const auto& g) { return g; });
  } else {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::make_tuple([&] {
        constexpr std::size_t k = i;
        return block(std::get<k>(out), [&](const auto& g) {
          Out cotangent = out;
          tree::for_each(
              [](auto& leaf) {
                using Leaf = std::remove_cvref_t<decltype(leaf)>;
                if constexpr (is_array_v<Leaf>) leaf = zeros_over(leaf);
              },
              cotangent);
          std::get<k>(cotangent) = g;
          return cotangent;
        });
      }()...);
    }
    (std::make_index_sequence<std::tuple_size_v<Out>>{});
  }
}

template <int argnum, class F, class... A>
auto reverse_jacobian(const F& f, const A&... args) {
  constexpr std::size_t which = argument_at<argnum, A...>;
  const lifted_t<F, A...> inputs = lift_for<F>(args...);
  const auto of_one = [&](const auto& x) {
    auto all = inputs;
    std::get<which>(all) = x;
    return call_with(f, std::as_const(all));
  };
  auto both = vjp(of_one, std::get<which>(inputs));
  const auto& pullback = both.second;
  return tree_jacobian(both.first, [&](const auto& leaf, auto place) {
    using T = typename std::remove_cvref_t<decltype(leaf)>::value_type;
    const Shape shape = leaf.shape();
    auto rows = vmap([&](const Array<T>& g) { return std::get<0>(pullback(place(g))); })(basis<T>(leaf));
    return tree::map(
        [&](const auto& row) {
          if constexpr (is_array_v<decltype(row)>)
            return open_axis(row, 0, shape);
          else
            return row;
        },
        rows);
  });
}

// The tangents of a tree that are zero but for one leaf, which is `value`.
template <class Tree, class T>
Tree tangent_at(const Tree& primal, std::size_t which, const Array<T>& value) {
  Tree tangents = primal;
  std::size_t i = 0;
  for_each_input(tangents, [&](auto& leaf) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    using U = typename Leaf::value_type;
    if constexpr (std::is_same_v<U, T>)
      leaf = i == which ? value : zeros_over(leaf);
    else
      leaf = zeros_over(leaf);
    ++i;
  });
  return tangents;
}

// The columns of the jacobian with regard to one floating leaf, its axes last.
template <class Out>
auto last_axes(const Out& columns, const Shape& shape) {
  return tree::map(
      [&](const auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>)
          return open_axis(leaf, leaf.ndim() - 1, shape);
        else
          return leaf;
      },
      columns);
}

template <int argnum, class F, class... A>
auto forward_jacobian(const F& f, const A&... args) {
  constexpr std::size_t which = argument_at<argnum, A...>;
  const lifted_t<F, A...> inputs = lift_for<F>(args...);
  const auto of_one = [&](const auto& x) {
    auto all = inputs;
    std::get<which>(all) = x;
    return call_with(f, std::as_const(all));
  };
  const auto& x = std::get<which>(inputs);
  const auto push = linearize(of_one, x).second;
  // One block for each leaf of the argument, put where the leaf was.
  std::size_t count = 0;
  return tree::map(
      [&](const auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        static_assert(is_array_v<Leaf>, "jacfwd: the argument holds a number; make it an array");
        using T = typename Leaf::value_type;
        const Shape shape = leaf.shape();
        const std::size_t at = count++;
        auto columns = vmap([&](const Array<T>& t) { return push(tangent_at(x, at, t)); },
                            {.out_axes = -1})(basis<T>(leaf));
        return last_axes(columns, shape);
      },
      x);
}

}  // namespace detail

// The jacobian of f with regard to one argument, by reverse mode: for a result of shape S and an argument
// leaf of shape X an array of shape S + X, in the structure of the argument (a tuple of these where f returns
// a tuple).
template <int argnum = 0, class F>
auto jacrev(F f) {
  return detail::transformed<detail::CheckDerivative<argnum>, F>(
      [f = std::move(f)](const auto&... args) { return detail::reverse_jacobian<argnum>(f, args...); });
}

// The same by forward mode.
template <int argnum = 0, class F>
auto jacfwd(F f) {
  return detail::transformed<detail::CheckDerivative<argnum>, F>(
      [f = std::move(f)](const auto&... args) { return detail::forward_jacobian<argnum>(f, args...); });
}

template <int argnum = 0, class F>
auto jacobian(F f) {
  return jacrev<argnum>(std::move(f));
}

// The matrix of second derivatives of a scalar function: shape X + X. Reverse mode twice: the second sweep
// runs fused kernels over all rows at once, and costs less than a forward one here.
template <int argnum = 0, class F>
auto hessian(F f) {
  return jacrev<argnum>(jacrev<argnum>(std::move(f)));
}

}  // namespace nax::inline NAX_ABI
