#pragma once

#include <concepts>

#include "nax/core/abi.hpp"

// ndarray's methods on arrays and expressions, each short for the function of its name: x.sum({.axis = 0}) is
// sum(x, {.axis = 0}). Methods that write to an array are refused in a sentence. Defined in
// numpy/conversion/methods.hpp, whose functions they call.
NAX_BEGIN
namespace detail {

// The options of functions on elements of T.
template <class T>
struct MethodOptions;

template <class I>
constexpr void refuse_axis_of_method() {
  static_assert(sizeof(I) == 0, "the axis is an option: write x.f({.axis = 0})");
}

}  // namespace detail

// Methods that take their function's options, with the name of these in MethodOptions.
#define NAX_FOR_EACH_ARRAY_METHOD(f)                                                                        \
  f(sum, Sum) f(prod, Sum) f(mean, Mean) f(max, Reduce) f(min, Reduce) f(var, Var) f(std, Var) f(any, Mean) \
      f(all, Mean) f(argmax, Place) f(argmin, Place) f(argsort, Sort) f(cumsum, Cumulative)                 \
          f(cumprod, Cumulative) f(squeeze, Squeeze)

// (Not in detail: the namespaces of bases take part in unqualified calls.)
// The base of X, an array or an expression. (Templates, since X is not complete here.)
template <class X>
class ArrayMethods {
  template <class S>
  using Options = detail::MethodOptions<typename S::value_type>;

 public:
#define NAX_METHOD(name, options)                                  \
  template <class S = X>                                           \
  auto name(const typename Options<S>::options& given = {}) const; \
  template <std::integral I>                                       \
  const X& name(I) const {                                         \
    detail::refuse_axis_of_method<I>();                            \
    return self();                                                 \
  }
  NAX_FOR_EACH_ARRAY_METHOD(NAX_METHOD)
#undef NAX_METHOD
  template <class S = X>
  auto round(const typename Options<S>::Round& given = {}) const;
  template <std::integral I>
  const X& round(I) const {
    static_assert(sizeof(I) == 0, "the decimals are an option: write x.round({.decimals = 2})");
    return self();
  }
  template <class S = X>
  auto transpose(const typename Options<S>::Transpose& given = {}) const;
  template <class S = X>
  auto ravel() const;
  template <class S = X>
  auto flatten() const;
  template <class S = X>
  auto copy() const;
  template <class S = X>
  auto tolist() const;
  template <class Low, class High, class S = X>
  auto clip(const Low& low, const High& high) const;
  template <class Y, class S = X>
  auto dot(const Y& y) const;

  template <class V>
  void fill(const V&) const {
    static_assert(sizeof(V) == 0, "arrays are values: write x = full(x.shape(), value)");
  }
  template <class S = X>
  void sort() const {
    static_assert(sizeof(S) == 0, "arrays are values: write x = sort(x)");
  }

 private:
  const X& self() const { return static_cast<const X&>(*this); }
};

NAX_END
