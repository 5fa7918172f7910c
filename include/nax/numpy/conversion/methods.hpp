#pragma once

#include "nax/core/methods.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/prod.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/numpy/sorting/sort.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"

// ndarray's methods (core/methods.hpp) by their functions.
NAX_BEGIN
namespace detail {

template <class T>
struct MethodOptions {
  using Sum = SumOptions<T>;
  using Mean = MeanOptions;
  using Reduce = ReduceOptions<T>;
  using Var = VarOptions;
  using Place = AxisOptions;
  using Sort = SortOptions;
  using Cumulative = CumulativeOptions;
  using Squeeze = SqueezeOptions;
  using Round = RoundOptions;
  using Transpose = TransposeOptions;
};

}  // namespace detail

#define NAX_METHOD(name, options)                                               \
  template <class X>                                                            \
  template <class S>                                                            \
  auto ArrayMethods<X>::name(const typename Options<S>::options& given) const { \
    return nax::name(static_cast<const S&>(self()), given);                     \
  }
NAX_FOR_EACH_ARRAY_METHOD(NAX_METHOD)
NAX_METHOD(round, Round)
NAX_METHOD(transpose, Transpose)
#undef NAX_METHOD

#define NAX_METHOD(name)                             \
  template <class X>                                 \
  template <class S>                                 \
  auto ArrayMethods<X>::name() const {               \
    return nax::name(static_cast<const S&>(self())); \
  }
NAX_METHOD(ravel)
NAX_METHOD(flatten)
NAX_METHOD(copy)
#undef NAX_METHOD

template <class X>
template <class S>
auto ArrayMethods<X>::tolist() const {
  return static_cast<const S&>(self()).to_vector();
}
template <class X>
template <class Low, class High, class S>
auto ArrayMethods<X>::clip(const Low& low, const High& high) const {
  return nax::clip(static_cast<const S&>(self()), low, high);
}
template <class X>
template <class Y, class S>
auto ArrayMethods<X>::dot(const Y& y) const {
  return nax::dot(static_cast<const S&>(self()), y);
}

NAX_END
