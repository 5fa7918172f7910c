#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "nax/lax/parts.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/rules/signature.hpp"
#include "nax/tree/leaf_types.hpp"

// A tree as one vector, for solvers and line searches that know vectors only.
NAX_BEGIN
namespace tree {
namespace detail {

// The element type that all arrays of a tree promote to; float where it has none.
template <class Elements, class... Leaf>
struct RavelType : std::type_identity<float> {};
template <class... T>
requires(sizeof...(T) > 0) struct RavelType<TypeList<T...>, TypeList<>>
    : std::type_identity<rules::promote_all_t<T...>> {
};
template <class... T, class First, class... Rest>
struct RavelType<TypeList<T...>, TypeList<First, Rest...>> : RavelType<TypeList<T...>, TypeList<Rest...>> {};
template <class... T, class E, class... Rest>
struct RavelType<TypeList<T...>, TypeList<Array<E>, Rest...>>
    : RavelType<TypeList<T..., E>, TypeList<Rest...>> {};

// The tree again from its vector.
template <class T, class E>
class Unravel {
 public:
  explicit Unravel(T t) : tree_(std::move(t)) {
    tree::for_each(
        [&](auto& leaf) {
          using Leaf = std::remove_cvref_t<decltype(leaf)>;
          if constexpr (is_array_v<Leaf>) {
            shapes_.push_back(leaf.shape());
            starts_.push_back(starts_.back() + leaf.size());
            leaf = Leaf();
          }
        },
        tree_);
  }

  T operator()(const Array<E>& flat) const {
    if (flat.ndim() != 1 || flat.shape(0) != starts_.back())
      raise<ShapeError>(
          {"tree::ravel: the tree has ", starts_.back(), " elements, the vector shape ", flat.shape()});
    const std::vector<ArrayBase> parts = nax::detail::cut_rows(flat, starts_, false);
    T out = tree_;
    std::size_t i = 0;
    tree::for_each(
        [&](auto& leaf) {
          using Leaf = std::remove_cvref_t<decltype(leaf)>;
          if constexpr (is_array_v<Leaf>) {
            const Array<E> part = nax::detail::typed<E>(parts[i]);
            leaf = part.reshape(shapes_[i]).template astype<typename Leaf::value_type>();
            ++i;
          }
        },
        out);
    return out;
  }

 private:
  T tree_;
  std::vector<Shape> shapes_;
  std::vector<std::int64_t> starts_{0};
};

}  // namespace detail

// {flat, unravel}: the arrays of a tree, one after another, as a vector of the type that they promote to, and
// the function that makes the tree of such a vector. Numbers and Statics are not among the elements; unravel
// puts the first tree's in their places. Both are differentiable and go under vmap; complex elements lose
// their imaginary parts where unravel puts them into real arrays. flat has shape (n,) for n elements.
template <class T>
auto ravel(const T& t) {
  using E = typename detail::RavelType<detail::TypeList<>, leaf_types_t<T>>::type;
  std::vector<Array<E>> parts;
  for_each(
      [&](const auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>)
          parts.push_back(leaf.template astype<E>().reshape(Shape{leaf.size()}));
      },
      t);
  Array<E> flat = parts.empty() ? Array<E>() : Array<E>(nax::detail::concatenate_on("tree::ravel", parts, 0));
  return std::pair{std::move(flat), detail::Unravel<T, E>(t)};
}

}  // namespace tree
NAX_END
