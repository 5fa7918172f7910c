#pragma once

#include <limits>

#include "nax/core/where_used.hpp"
#include "nax/expr/evaluation/assignments.hpp"
#include "nax/expr/evaluation/leaf_steps.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/optim/schedules.hpp"
#include "nax/rules/floating.hpp"
#include "nax/tree/tree.hpp"

// Updates of the leaves of optimisers' trees.
NAX_BEGIN
namespace optim {
namespace detail {

using namespace nax::detail;

template <class Leaf>
inline constexpr bool trained_v = false;
template <class T>
inline constexpr bool trained_v<Array<T>> = is_inexact_v<T>;

// tree::map for the leaves that are trained, zero in place of the others.
template <class F, class T, class... R>
auto map(const char* function, const F& f, const T& t, const R&... rest) {
  return tree::detail::map(
      function,
      [&f](const auto& leaf, const auto&... others) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (trained_v<Leaf>)
          return Leaf(f(leaf, others...));
        else if constexpr (is_array_v<Leaf>)
          return zeros_like(leaf);
        else
          return Leaf(0);
      },
      t, rest...);
}

// A tree like this one whose trained leaves are yet to be assigned.
template <class T>
auto blank(const char* function, const T& t) {
  return map(
      function, [](const auto& leaf) { return std::remove_cvref_t<decltype(leaf)>(); }, t);
}
template <class P>
auto filled(const P& params, double value) {
  return map(
      "init", [value](const auto& p) { return full_like(p, value); }, params);
}
template <class P>
using Like = decltype(filled(std::declval<const P&>(), 0.0));

// A mean that decays and gets nothing more would end among the subnormal numbers and stay there (0.9 times
// the smallest of them rounds to itself), where each operation takes the processor a hundred times as long.
// Such a mean is zero. (Numbers of 16 bits are computed as floats, and theirs stay.)
template <class E>
auto flush_subnormals(E&& e) {
  using Real = real_t<lane_t<typename std::remove_cvref_t<E>::value_type>>;
  return detail::apply<rules::flush>(std::forward<E>(e), double{std::numeric_limits<Real>::min()});
}

// a x + b y and a x^2 + b y: most of what optimisers do, compiled once for all of them.
// (A y that is given away is written over.)
template <class T>
Array<T> mix(double a, const Array<T>& x, double b, Array<T> y) {
  y = flush_subnormals(a * x + b * y);
  return y;
}
template <class T>
Array<T> mix_square(double a, const Array<T>& x, double b, const Array<T>& y) {
  return flush_subnormals(a * (x * x) + b * y);
}

// Adds the assignment to `to`, which may be one of the operands.
template <class T>
void mix(Assignments& now, Array<T>& to, double a, const Array<T>& x, double b, const Array<T>& y) {
  now.assign(to, flush_subnormals(a * x + b * y));
}
template <class T>
void mix_square(Assignments& now, Array<T>& to, double a, const Array<T>& x, double b, const Array<T>& y) {
  now.assign(to, flush_subnormals(a * (x * x) + b * y));
}

// A step against the gradient: x times the negative rate.
template <class T>
Array<T> descend(const Array<T>& x, double rate) {
  return x * -rate;
}
template <class T>
Array<T> descend(const Array<T>& x, const Array<float>& rate) {
  return x * -rate.astype<T>();
}
template <class T>
void descend(Assignments& now, Array<T>& to, const Array<T>& x, double rate) {
  now.assign(to, x * -rate);
}
template <class T>
void descend(Assignments& now, Array<T>& to, const Array<T>& x, const Array<float>& rate) {
  now.assign(to, x * -rate.astype<T>());
}

// The steps of all leaves of a tree that lie on a GPU, for a rate as rate_at() gives it.
template <class Now>
where_used_t<LeafSteps, Now> leaf_steps(loops::StepNumbers numbers, const Now& rate, const Count* count) {
  if constexpr (is_array_v<Now>) {
    return {numbers, &rate, count};
  } else {
    numbers.rate = rate;
    return {numbers, nullptr, count};
  }
}

inline Count no_steps() { return Count(0); }
template <class T>
Array<T> next(const Array<T>& count) {
  return count + 1;
}

}  // namespace detail

}  // namespace optim
NAX_END
