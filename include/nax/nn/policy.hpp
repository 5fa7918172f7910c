#pragma once

#include <array>
#include <complex>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/tree/map.hpp"
#include "nax/tree/static.hpp"

// Mixed precision: trees with their floating arrays in another type.
NAX_BEGIN
namespace detail {

template <class T>
inline constexpr bool is_recast_number = is_inexact_v<T> && !is_complex_v<T>;

// A type with its floating element types, also those of template arguments within it, replaced by To.
template <class To, class T>
struct Recast {
  using type = T;
};
template <class To, class T>
using recast_t = typename Recast<To, T>::type;
template <class To, class T>
struct Recast<To, const T> {
  using type = const recast_t<To, T>;
};
template <class To, class T>
requires is_recast_number<T>
struct Recast<To, T> {
  using type = To;
};
template <class To, class T>
struct Recast<To, std::complex<T>> {
  using type = std::complex<T>;
};
template <class To, template <class...> class Made, class... A>
struct Recast<To, Made<A...>> {
  using type = Made<recast_t<To, A>...>;
};
template <class To, template <class, auto...> class Made, class A, auto first, auto... rest>
struct Recast<To, Made<A, first, rest...>> {
  using type = Made<recast_t<To, A>, first, rest...>;
};
template <class To, class T>
struct Recast<To, tree::Static<T>> {  // a setting
  using type = tree::Static<T>;
};

// A leaf that is a number stays: it is no data but a setting.
template <class To, class T>
using recast_tree_t =
    typename std::conditional_t<is_recast_number<T>, std::type_identity<T>, Recast<To, T>>::type;
template <class To, class... T>
struct Recast<To, std::tuple<T...>> {
  using type = std::tuple<recast_tree_t<To, T>...>;
};
template <class To, class A, class B>
struct Recast<To, std::pair<A, B>> {
  using type = std::pair<recast_tree_t<To, A>, recast_tree_t<To, B>>;
};
template <class To, class T>
struct Recast<To, std::optional<T>> {
  using type = std::optional<recast_tree_t<To, T>>;
};
template <class To, class T>
struct Recast<To, std::vector<T>> {
  using type = std::vector<recast_tree_t<To, T>>;
};
template <class To, class T, std::size_t n>
struct Recast<To, std::array<T, n>> {
  using type = std::array<recast_tree_t<To, T>, n>;
};
template <class To, class K, class T, class Order>
struct Recast<To, std::map<K, T, Order>> {
  using type = std::map<K, recast_tree_t<To, T>, Order>;
};

template <class Result, class... Child>
Result recast_struct(Child&&... child) {
  static_assert(
      requires { Result{std::forward<Child>(child)...}; },
      "Policy: make this struct a template <class T> of one element type whose fields follow it (Array<T>, "
      "nn::Linear<T>), with settings as numbers or in a tree::Static; or use a std::tuple");
  return Result{std::forward<Child>(child)...};
}

template <class To, class T>
auto recast(const T& t) -> recast_tree_t<To, T> {
  using Result = recast_tree_t<To, T>;
  using tree::NodeKind;
  constexpr NodeKind kind = tree::detail::kind_of<T>;
  if constexpr (kind == NodeKind::leaf && is_array_v<T> && !std::is_same_v<Result, T>) {
    return t.template astype<To>();
  } else if constexpr (kind == NodeKind::leaf || kind == NodeKind::fixed) {
    return t;
  } else if constexpr (kind == NodeKind::sequence) {
    Result result{};
    if constexpr (requires { result.reserve(t.size()); }) {
      result.reserve(t.size());
      for (const auto& x : t) result.push_back(recast<To>(x));
    } else {
      for (std::size_t i = 0; i < t.size(); ++i) result[i] = recast<To>(t[i]);
    }
    return result;
  } else if constexpr (kind == NodeKind::map) {
    Result result;
    for (const auto& [key, x] : t) result.emplace_hint(result.end(), key, recast<To>(x));
    return result;
  } else if constexpr (kind == NodeKind::optional) {
    return t ? Result(recast<To>(*t)) : Result();
  } else {
    return std::apply([](const auto&... child) { return recast_struct<Result>(recast<To>(child)...); },
                      tree::detail::children(t));
  }
}

}  // namespace detail

namespace nn {

// The types of a mixed-precision step, as in jmp: parameters are kept in Params, cast to Compute for the
// function and its gradient, and what leaves it is cast to Output. Casting a tree casts its floating arrays;
// integers, complex numbers and settings stay. A struct becomes its template's other instance: Linear<float>
// becomes Linear<bfloat16>. Gradients of a function that casts its parameters have the parameters' type.
template <class Compute, class Params = float, class Output = float>
struct Policy {
  using compute = Compute;
  using params = Params;
  using output = Output;

  template <class Tree>
  auto cast_to_compute(const Tree& t) const {
    return nax::detail::recast<Compute>(t);
  }
  template <class Tree>
  auto cast_to_params(const Tree& t) const {
    return nax::detail::recast<Params>(t);
  }
  template <class Tree>
  auto cast_to_output(const Tree& t) const {
    return nax::detail::recast<Output>(t);
  }
};

}  // namespace nn
NAX_END
