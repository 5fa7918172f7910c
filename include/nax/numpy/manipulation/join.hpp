#pragma once

#include <cstring>
#include <tuple>
#include <type_traits>
#include <vector>

#include "nax/expr/differentiation/primitive_list.hpp"
#include "nax/expr/evaluation/zeros.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/indexing/select.hpp"
#include "nax/numpy/mistakes.hpp"
#include "nax/numpy/views/reshape.hpp"

// concatenate, stack and kin. They take braces of arrays or expressions of one element type, a vector of
// these, a std::tuple of several element types, or an array, whose rows they join.
NAX_BEGIN
namespace detail {

// Where input i lies in a result of this (visible) shape: [starts[i], starts[i + 1]) on `axis`, an axis that
// a stacked input has not.
struct JoinPlan {
  int axis;
  bool stacked;
  std::vector<std::int64_t> starts;
  Dims shape;

  Selection part(const Frame& result, std::size_t i) const;
};

template <class T>
ArrayList array_list(const std::vector<Array<T>>& list) {
  ArrayList pointers;
  for (const Array<T>& x : list) pointers.push_back(&x);
  return pointers;
}

inline constexpr std::int64_t most_bytes_of_small = std::int64_t{1} << 16;

// Arrays of one type joined as planned, recorded.
NAX_ENGINE ArrayBase join(const ArrayList& list, const JoinPlan& plan);
template <class T>
Array<T> join(const std::vector<Array<T>>& list, const JoinPlan& plan) {
  return typed<T>(join(array_list(list), plan));
}

NAX_ENGINE ArrayBase concatenate_on(const char* function, const ArrayList& list, std::int64_t axis);
template <class T>
Array<T> concatenate_on(const char* function, const std::vector<Array<T>>& list, std::int64_t axis) {
  return typed<T>(concatenate_on(function, array_list(list), axis));
}
NAX_ENGINE ArrayBase stack_on(const char* function, const ArrayList& list, std::int64_t axis);
template <class T>
Array<T> stack_on(const char* function, const std::vector<Array<T>>& list, std::int64_t axis) {
  return typed<T>(stack_on(function, array_list(list), axis));
}

template <class T>
std::vector<Array<T>> rows(const Array<T>& x) {
  std::vector<Array<T>> out;
  for (std::int64_t i = 0; i < x.shape(0); ++i) {
    const JoinPlan plan{0, true, {i, i + 1}, {}};
    out.push_back(get(x, plan.part(layout_of(x), 0)));
  }
  return out;
}

// Braces of arrays and expressions, mixed at will, have no type to deduce: one overload for each element type
// takes them. `Function::call(list, options)` does the work.
template <class Function, class T>
struct ListOverload {
  auto operator()(std::initializer_list<Array<T>> list,
                  const typename Function::Options& options = {}) const {
    return Function::call(std::vector<Array<T>>(list), options);
  }
};
template <class Function, class... T>
struct ListOverloads : ListOverload<Function, T>... {
  using ListOverload<Function, T>::operator()...;
  using Options = typename Function::Options;

  template <class U>
  auto operator()(const std::vector<Array<U>>& list, const Options& options = {}) const {
    return Function::call(list, options);
  }
  template <Expression E>
  auto operator()(const std::vector<E>& list, const Options& options = {}) const {
    return Function::call(std::vector<Array<typename E::value_type>>(list.begin(), list.end()), options);
  }
  template <Expression E>  // of numbers alone, say, which could be arrays of several types
  auto operator()(std::initializer_list<E> list, const Options& options = {}) const {
    return Function::call(std::vector<Array<typename E::value_type>>(list.begin(), list.end()), options);
  }
  template <ArrayLike X>
  auto operator()(const X& x, const Options& options = {}) const {
    return Function::call(rows(as_array(x)), options);
  }
  template <ArrayLike X, ArrayLike... Y>
  auto operator()(const X& x, const Y&...) const requires(sizeof...(Y) > 0) {
    refuse_arrays<X>();
    return as_array(x);
  }
};
template <class Function>
using ListFunction = ListOverloads<Function, bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, half, bfloat16,
                                   float, double, std::complex<float>, std::complex<double>>;

// A list whose elements may differ in type: braces cannot hold these, a tuple does, and they promote.
template <class Function>
struct PromotingListFunction : ListFunction<Function> {
  using ListFunction<Function>::operator();

  template <ArrayLike... X>
  auto operator()(const std::tuple<X...>& list, const typename Function::Options& options = {}) const
      requires(sizeof...(X) > 0) {
    using T = typename Strong<Array<typename X::value_type>...>::type;
    return Function::call(
        std::apply([](const X&... x) { return std::vector<Array<T>>{as_type<T>(x)...}; }, list), options);
  }
};

}  // namespace detail

struct ConcatenateOptions {
  Axis axis = 0;  // none: of the flattened arrays
};
struct StackOptions {
  std::int64_t axis = 0;
};
struct NoOptions {};

namespace detail {

struct Concatenate {
  using Options = ConcatenateOptions;
  template <class T>
  static Array<T> call(std::vector<Array<T>> list, const Options& options) {
    if (!options.axis.given())
      for (Array<T>& x : list) x = reshape_to("concatenate", x, Shape{x.size()});
    return concatenate_on("concatenate", list, options.axis.given() ? options.axis.list()[0] : 0);
  }
};
struct Stack {
  using Options = StackOptions;
  template <class T>
  static Array<T> call(const std::vector<Array<T>>& list, const Options& options) {
    return stack_on("stack", list, options.axis);
  }
};
struct Vstack {
  using Options = NoOptions;
  template <class T>
  static Array<T> call(std::vector<Array<T>> list, const Options&) {
    for (Array<T>& x : list) x = atleast_2d(x);
    return concatenate_on("vstack", list, 0);
  }
};
struct Hstack {
  using Options = NoOptions;
  template <class T>
  static Array<T> call(std::vector<Array<T>> list, const Options&) {
    for (Array<T>& x : list) x = atleast_1d(x);
    return concatenate_on("hstack", list, !list.empty() && list[0].ndim() == 1 ? 0 : 1);
  }
};
struct Dstack {
  using Options = NoOptions;
  template <class T>
  static Array<T> call(std::vector<Array<T>> list, const Options&) {
    for (Array<T>& x : list) x = atleast_3d(x);
    return concatenate_on("dstack", list, 2);
  }
};
struct ColumnStack {
  using Options = NoOptions;
  template <class T>
  static Array<T> call(std::vector<Array<T>> list, const Options&) {
    for (Array<T>& x : list)
      if (x.ndim() < 2) x = reshape_to("column_stack", x, Shape{x.size(), 1});
    return concatenate_on("column_stack", list, 1);
  }
};

}  // namespace detail

// Arrays that agree but for one axis, one after the other on that axis: concatenate({a, b}, {.axis = 1}); of
// several element types, which promote, in a tuple: concatenate(std::tuple{a, b}), as in the functions below.
// The result has their shape, with the sum of their extents along `axis`. Throws ValueError for an empty
// list, ShapeError if other extents differ or an array is 0-d, and IndexError if `axis` is out of bounds.
inline constexpr detail::PromotingListFunction<detail::Concatenate> concatenate{}, concat{};
// Arrays of one shape along a new axis, which is `axis` of the result: stack({a, b}, {.axis = -1}). The
// result has the shape of one with their number as extent of that axis. Throws ValueError for an empty list,
// ShapeError if the shapes differ, and IndexError if `axis` is out of bounds.
inline constexpr detail::PromotingListFunction<detail::Stack> stack{};
// On the first axis, 1-d arrays as rows. n arrays of shape (k,) give (n, k); of shape (m, k), (n m, k).
// Throws ValueError for an empty list, and ShapeError if other extents differ.
inline constexpr detail::PromotingListFunction<detail::Vstack> vstack{};
// On the second axis; 1-d arrays on their only one. n arrays of shape (k,) give (n k,); of shape (m, k), (m,
// n k). Throws ValueError for an empty list, and ShapeError if other extents differ.
inline constexpr detail::PromotingListFunction<detail::Hstack> hstack{};
// On the third axis. n arrays of shape (k,) give (1, k, n); of shape (m, k), (m, k, n). Throws ValueError for
// an empty list, and ShapeError if other extents differ.
inline constexpr detail::PromotingListFunction<detail::Dstack> dstack{};
// On the second axis, 1-d arrays as columns. n arrays of shape (k,) give (k, n); of shape (m, k), (m, n k).
// Throws ValueError for an empty list, and ShapeError if other extents differ.
inline constexpr detail::PromotingListFunction<detail::ColumnStack> column_stack{};

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/manipulation/join-inl.hpp"
#endif
