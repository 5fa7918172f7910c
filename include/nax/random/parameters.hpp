#pragma once

#include <initializer_list>

#include "nax/backend/cpu/draws/samplers.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/reductions/reduce.hpp"
#include "nax/numpy/views/broadcast_to.hpp"
#include "nax/random/integers.hpp"
#include "nax/random/uniform.hpp"

// Shared by samplers with parameters: parameters are numbers, arrays or expressions that broadcast to the
// shape of the draw.
NAX_BEGIN
namespace random {
namespace detail {

// The type of a draw: the one asked for, else that of the parameters (numbers and integers count as float).
template <class T, class... P>
struct SampleType {
  static auto pick() {
    if constexpr (!std::is_void_v<T>) {
      static_assert(is_floating_v<T>, "random: the type of the draw must be floating");
      return std::type_identity<T>{};
    } else {
      using Strong = typename nax::detail::Strong<P...>::type;
      if constexpr (std::is_void_v<Strong>)
        return std::type_identity<float>{};
      else
        return std::type_identity<inexact_t<Strong>>{};
    }
  }
  using type = typename decltype(pick())::type;
};
template <class T, class... P>
using sample_t = typename SampleType<T, std::remove_cvref_t<P>...>::type;

template <class T, class P>
Array<T> parameter(const char* function, const P& p) {
  static_assert(Operand<P>, "random: a parameter must be a number, an array or an expression");
  if constexpr (ArrayLike<P>) {
    static_assert(!is_complex_v<typename P::value_type>, "random: a parameter must be real");
    const Array<T> x = as_type<T>(p);
    check_operand(function, x);
    return x;
  } else {
    return Array<T>(static_cast<T>(p));
  }
}

// 1 or -1 to multiply draws of type T with: JAX's, which takes 64 bits for each where the draws are double.
template <class T>
Array<T> signs(const Key& key, const Shape& shape) {
  if constexpr (std::is_same_v<T, double>)
    return nax::where(uniform<T>(key, shape) < 0.5, Array<T>(1.), Array<T>(-1.));
  else
    return rademacher<T>(key, shape);
}

// Throws ShapeError unless the parameters broadcast to `shape`.
NAX_ENGINE void check_fit(const char* function, const Shape& shape,
                          std::initializer_list<const Shape*> parameters);
template <class... T>
void check_parameters(const char* function, const Shape& shape, const Array<T>&... p) {
  const Shape shapes[] = {p.shape()...};
  for (const Shape& s : shapes) check_fit(function, shape, {&s});
}

// The shape of a draw that was not given one.
template <class P>
Shape shape_of_parameter(const P& p) {
  if constexpr (ArrayLike<P>)
    return p.shape();
  else
    return {};
}
template <class... P>
Shape joint_shape(const char* function, const P&... p) {
  Frame frame;
  ((frame = broadcast(function, frame, Frame{shape_of_parameter(p), {}})), ...);
  return frame.shape;
}

// Draws from each key, with parameters that broadcast to the shape and lie where the kernels expect: hidden
// axes are those of the key and of the parameters. Computes where the parameters with axes are, else where
// the key or this thread is. Throws DeviceError for operands on different devices. The result is not
// recorded.
NAX_ENGINE ArrayBase sample(const char* function, const Key& key, const Shape& shape, Sampler kind,
                            DType dtype, std::initializer_list<const ArrayBase*> parameters);
template <Sampler kind, class R, class... T>
Array<R> draw_sampled(const char* function, const Key& key, const Shape& shape,
                      const Array<T>&... parameters) {
  cpu::provide<cpu::SamplerKernel<kind>, R>();
  return nax::detail::typed<R>(sample(function, key, shape, kind, dtype_of<R>, {&parameters...}));
}

}  // namespace detail
}  // namespace random
NAX_END

#if !defined(NAX_CALLS_KERNELS)
#include "nax/backend/cpu/draws/sampler_rows.hpp"
#endif
#if !defined(NAX_CALLS_LIBRARY)
#include "nax/random/parameters-inl.hpp"
#endif
