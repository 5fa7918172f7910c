#pragma once

#include <atomic>

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
    return nax::where(uniform<double>(key, shape) < 0.5, Array<double>(1.), Array<double>(-1.));
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

// Draws on the host from each key, element by element: kernel(key, first, n, parameters..., out), the
// parameters being addresses of the first of these elements. Hidden axes are those of the key and of the
// parameters. The result is not recorded. A kernel that has `rejects` and `rounds` gets behind the parameters
// the most rounds that any element of the key's draw takes (see samplers.hpp).
template <class R, class Kernel, class... T>
Array<R> draw_elements(const char* function, const Key& key, const Shape& shape, const Kernel& kernel,
                       const Array<T>&... parameters) {
  check_single(function, key);
  need_host(function, key.words(), parameters...);
  count_elements(function, shape);
  Frame rows = layout_of(key.words());
  ((rows = broadcast(function, rows, below(layout_of(parameters), {}))), ...);
  const Frame frame = below(rows, shape);
  count_elements(function, frame.shape);
  const Device host = on_accelerator(current_device) ? Device{} : current_device;
  Array<R> result = nax::detail::typed<R>(allocate(dtype_of<R>, frame, host));
  const std::int64_t n = shape.count();
  if (frame.size() == 0) return nax::detail::typed<R>(placed(std::move(result)));
  const auto fill = [&](const Array<T>&... full) {
    const ArrayBase words = copy_over(key.words(), rows);
    const std::uint64_t* keys = elements<const std::uint64_t>(words, transforms_handled);
    R* out = elements<R>(result);
    if constexpr (requires { kernel.rounds(keys[0], 0, n, elements<const T>(full)...); }) {
      for (std::int64_t row = 0; row < rows.size(); ++row) {
        std::atomic<std::size_t> rounds{0};
        if (kernel.rejects(n, (elements<const T>(full, transforms_handled) + row * n)...))
          parallel_for(n, std::int64_t{1} << 8, [&](std::int64_t begin, std::int64_t end) {
            const std::size_t mine =
                kernel.rounds(keys[row], static_cast<std::uint64_t>(begin), end - begin,
                              (elements<const T>(full, transforms_handled) + row * n + begin)...);
            for (std::size_t most = rounds; mine > most && !rounds.compare_exchange_weak(most, mine);) {
            }
          });
        parallel_for(n, std::int64_t{1} << 8, [&](std::int64_t begin, std::int64_t end) {
          kernel(keys[row], static_cast<std::uint64_t>(begin), end - begin,
                 (elements<const T>(full, transforms_handled) + row * n + begin)..., rounds.load(),
                 out + row * n + begin);
        });
      }
    } else {
      parallel_for(frame.size(), std::int64_t{1} << 8, [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
          const std::int64_t row = begin / n, first = begin - row * n;
          const std::int64_t count = n - first < end - begin ? n - first : end - begin;
          kernel(keys[row], static_cast<std::uint64_t>(first), count,
                 (elements<const T>(full, transforms_handled) + begin)..., out + begin);
          begin += count;
        }
      });
    }
  };
  fill(nax::detail::typed<T>(copy_over(constant(parameters), frame))...);
  return nax::detail::typed<R>(placed(std::move(result)));
}

}  // namespace detail
}  // namespace random
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/random/parameters-inl.hpp"
#endif
