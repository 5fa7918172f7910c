#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "nax/core/rounded.hpp"
#include "nax/numpy/views/copy.hpp"

// Arrays from nothing: constants, ranges, identities. The element type is the template argument, float where
// none is given; where a number says the value (`full`, `arange`) its kind decides, as JAX has it.
NAX_BEGIN
namespace detail {

inline Frame new_frame(const char* function, const Shape& shape) {
  count_elements(function, shape);
  return Frame{shape, {}};
}

template <class T>
Array<T> filled_on_host(const char* function, const Shape& shape, T value) {
  Array<T> a = typed<T>(allocate_on_host(dtype_of<T>, new_frame(function, shape)));
  T* out = elements<T>(a);
  const std::int64_t n = layout_of(a).size();
  parallel_for(n, std::int64_t{1} << 16, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = value;
  });
  return a;
}
template <class T>
Array<T> filled(const char* function, const Shape& shape, T value) {
  if (on_accelerator(current_device))
    return typed<T>(
        copy_over(broadcast_frame(Array<T>(value), new_frame(function, shape)), Frame{shape, {}}));
  return filled_on_host(function, shape, value);
}

// A new 1-d array with element i = f(i).
template <class T, class F>
Array<T> generated_on_host(const char* function, std::int64_t n, F f) {
  Array<T> a = typed<T>(allocate_on_host(dtype_of<T>, new_frame(function, Shape{n})));
  T* out = elements<T>(a);
  for (std::int64_t i = 0; i < n; ++i) out[i] = f(i);
  return a;
}
template <class T, class F>
Array<T> generated(const char* function, std::int64_t n, F f) {
  return typed<T>(placed(generated_on_host<T>(function, n, std::move(f))));
}

// The type asked for, or what the kind of the numbers gives.
template <class T, class... S>
struct TypeOrDefault {
  using type = T;
};
template <class... S>
struct TypeOrDefault<void, S...> {
  using type = typename rules::detail::Promote<default_type_t<S>...>::type;
};
template <class T, class... S>
using type_or_default_t = typename TypeOrDefault<T, S...>::type;

// A floating type wide enough to compute T's values in.
template <class T>
using range_t = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;

// i * delta, rounded before it is added: as NumPy has it.
template <class I, class R>
R step_of(I i, R delta) {
  if constexpr (is_complex_v<R>)
    return R(rounded(i * delta.real()), rounded(i * delta.imag()));
  else
    return rounded(i * delta);
}

template <class T, class R>
T from_range(R x) {
  if constexpr (is_integer_v<T>)
    return static_cast<T>(std::floor(x));
  else if constexpr (is_complex_v<T>)
    return T(static_cast<real_t<T>>(x.real()), static_cast<real_t<T>>(x.imag()));
  else
    return static_cast<T>(x);
}

}  // namespace detail

// A new array of zeros, of the shape `shape`. Throws ValueError if an extent is negative or the array is too
// big.
template <Dtype T = float>
Array<T> zeros(const Shape& shape) {
  return detail::filled<T>("zeros", shape, T(0));
}
// A new array of ones, of the shape `shape`. Throws ValueError if an extent is negative or the array is too
// big.
template <Dtype T = float>
Array<T> ones(const Shape& shape) {
  return detail::filled<T>("ones", shape, T(1));
}
// A new array of the shape `shape`, whose elements are not initialised. Throws ValueError if an extent is
// negative or the array is too big.
template <Dtype T = float>
Array<T> empty(const Shape& shape) {
  return detail::typed<T>(detail::allocate(dtype_of<T>, detail::new_frame("empty", shape)));
}
// full({2, 3}, 7.f): float; full<double>({2, 3}, 7): double. The result has the shape `shape`. Throws
// ValueError if an extent is negative or the array is too big.
template <class T = void, Scalar S>
auto full(const Shape& shape, S value) {
  using To = detail::type_or_default_t<T, S>;
  return detail::filled<To>("full", shape, detail::element_from<To>("full", value));
}

// Arrays of the shape (and, unless another is asked for, the type) of x. A batched x gives the same for each
// example. They lie where x does. Throws ValueError if the array is too big.
template <class T = void, detail::ArrayLike X>
auto zeros_like(const X& x) {
  using To = std::conditional_t<std::is_void_v<T>, typename X::value_type, T>;
  const detail::ComputeOn beside_x(detail::device_of_values(x));
  return detail::filled<To>("zeros_like", x.shape(), To(0));
}
// A new array of ones with the shape, type and device of x. Throws ValueError if the array is too big.
template <class T = void, detail::ArrayLike X>
auto ones_like(const X& x) {
  using To = std::conditional_t<std::is_void_v<T>, typename X::value_type, T>;
  const detail::ComputeOn beside_x(detail::device_of_values(x));
  return detail::filled<To>("ones_like", x.shape(), To(1));
}
// A new array of the shape, type and device of x, filled with a number. Throws ValueError if the array is too
// big.
template <class T = void, detail::ArrayLike X, Scalar S>
auto full_like(const X& x, S value) {
  using To = std::conditional_t<std::is_void_v<T>, typename X::value_type, T>;
  const detail::ComputeOn beside_x(detail::device_of_values(x));
  return detail::filled<To>("full_like", x.shape(), detail::element_from<To>("full_like", value));
}
// A new array of the shape, type and device of x; its elements have no certain values.
template <class T = void, detail::ArrayLike X>
auto empty_like(const X& x) {
  using To = std::conditional_t<std::is_void_v<T>, typename X::value_type, T>;
  const detail::ComputeOn beside_x(detail::device_of_values(x));
  return empty<To>(x.shape());
}

struct EyeOptions {
  std::optional<std::int64_t> M = {};  // columns; as many as rows when not given
  std::int64_t k = 0;                  // the diagonal: above the main one where positive
};
namespace detail {

template <class T>
Array<T> eye_on_host(std::int64_t N, const EyeOptions& options) {
  const std::int64_t M = options.M.value_or(N);
  Array<T> a = filled_on_host<T>("eye", Shape{N, M}, T(0));
  T* out = elements<T>(a);
  const std::int64_t k = std::clamp(options.k, -N, M);
  for (std::int64_t i = 0; i < N; ++i)
    if (const std::int64_t j = i + k; j >= 0 && j < M) out[i * M + j] = T(1);
  return a;
}

}  // namespace detail

// Ones on a diagonal, shape (N, M). Throws ValueError if an extent is negative.
template <Dtype T = float>
Array<T> eye(std::int64_t N, const EyeOptions& options = {}) {
  return detail::typed<T>(detail::placed(detail::eye_on_host<T>(N, options)));
}
// The n x n matrix with ones on the diagonal.
template <Dtype T = float>
Array<T> identity(std::int64_t n) {
  return eye<T>(n);
}

struct TriOptions {
  std::optional<std::int64_t> M = {};
  std::int64_t k = 0;
};
// Ones at and below diagonal k, shape (N, M). Throws ValueError if an extent is negative.
template <Dtype T = float>
Array<T> tri(std::int64_t N, const TriOptions& options = {}) {
  const std::int64_t M = options.M.value_or(N);
  Array<T> a = detail::filled_on_host<T>("tri", Shape{N, M}, T(0));
  T* out = detail::elements<T>(a);
  const std::int64_t k = std::clamp(options.k, -N, M);
  for (std::int64_t i = 0; i < N; ++i)
    for (std::int64_t j = 0; j < M && j <= i + k; ++j) out[i * M + j] = T(1);
  return detail::typed<T>(detail::placed(std::move(a)));
}

namespace detail {

// How many numbers there are from start, by steps, before stop. (Large integers are all alike as doubles.)
template <class A, class B, class C>
std::int64_t range_length(A start, B stop, C step) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && std::is_integral_v<C>) {
    const auto negative = [](auto i) { return std::is_signed_v<decltype(i)> && i < decltype(i)(0); };
    const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(stop),
               by = static_cast<std::uint64_t>(step);
    const bool up = negative(start) != negative(stop) ? negative(start) : from < to;
    if (from == to || up == negative(step)) return 0;
    const std::uint64_t length = ((up ? to - from : from - to) - 1) / (up ? by : -by) + 1;
    return length > std::uint64_t{most_elements} ? INT64_MAX : static_cast<std::int64_t>(length);
  } else {
    const double distance = static_cast<double>(stop) - static_cast<double>(start);
    const double steps = distance / static_cast<double>(step), length = std::ceil(steps);
    if (length != length) throw ValueError("arange: cannot compute the length: an argument is NaN");
    if (std::isinf(length)) return INT64_MAX;
    if (steps == 0 && distance != 0) return std::signbit(steps) ? 0 : 1;  // a step beyond stop
    if (length > static_cast<double>(most_elements)) return INT64_MAX;
    return length > 0 ? static_cast<std::int64_t>(length) : 0;
  }
}

}  // namespace detail

// start, start + step, ... up to stop, which is not among them. The result has shape (n,), n = ceil((stop -
// start) / step). Throws ValueError for a step of 0, for NaN and for ranges that no array can hold.
template <class T = void, Scalar A, Scalar B, Scalar C>
auto arange(A start, B stop, C step) {
  using To = detail::type_or_default_t<T, A, B, C>;
  static_assert(!is_complex_v<To> && !std::is_same_v<To, bool>,
                "arange: the type must be an integer or floating");
  if (step == C(0)) throw ValueError("arange: the step must not be 0");
  const std::int64_t n = detail::range_length(start, stop, step);
  if constexpr (is_integer_v<To>) {
    // (Where there are none, the first may be no integer. Without a sign, since a product may be beyond the
    // range where the sum is within it.)
    const auto first = static_cast<std::uint64_t>(n > 0 ? static_cast<std::int64_t>(start) : 0),
               delta = static_cast<std::uint64_t>(n > 1 ? static_cast<std::int64_t>(step) : 0);
    return detail::generated<To>("arange", n, [=](std::int64_t i) {
      return static_cast<To>(static_cast<std::int64_t>(first + static_cast<std::uint64_t>(i) * delta));
    });
  } else {
    using Wide = std::conditional_t<std::is_same_v<To, double>, double, float>;
    const Wide first = static_cast<Wide>(start), delta = n > 1 ? static_cast<Wide>(step) : Wide(0);
    return detail::generated<To>("arange", n, [=](std::int64_t i) {
      return static_cast<To>(first + detail::step_of(static_cast<Wide>(i), delta));
    });
  }
}
template <class T = void, Scalar A, Scalar B>
auto arange(A start, B stop) {
  return arange<detail::type_or_default_t<T, A, B>>(start, stop, 1);
}
template <class T = void, Scalar B>
auto arange(B stop) {
  return arange<detail::type_or_default_t<T, B>>(0, stop, 1);
}

struct LinspaceOptions {
  bool endpoint = true;  // is stop the last sample?
};
// `num` samples evenly spaced from start to stop. Integer types round down, as NumPy's do. The result has
// shape (num,). Throws ValueError if `num` is negative.
template <Dtype T = float, Scalar A, Scalar B>
Array<T> linspace(A start, B stop, std::int64_t num = 50, const LinspaceOptions& options = {}) {
  if (num < 0) raise<ValueError>({"linspace: the number of samples, ", num, ", must not be negative"});
  using R = detail::range_t<T>;
  const R first = static_cast<R>(start), last = static_cast<R>(stop);
  const std::int64_t steps = options.endpoint ? num - 1 : num;
  const R delta = steps > 0 ? (last - first) / static_cast<double>(steps) : R(0);
  return detail::generated<T>("linspace", num, [=](std::int64_t i) {
    if (options.endpoint && i == steps && i > 0) return detail::from_range<T>(last);
    return detail::from_range<T>(first + detail::step_of(static_cast<double>(i), delta));
  });
}

struct LogspaceOptions {
  bool endpoint = true;
  double base = 10;
};
// base to the power of linspace(start, stop, num). The result has shape (num,). Throws ValueError if `num` is
// negative.
template <Dtype T = float, Scalar A, Scalar B>
Array<T> logspace(A start, B stop, std::int64_t num = 50, const LogspaceOptions& options = {}) {
  using R = detail::range_t<T>;
  const Array<R> exponents = linspace<R>(start, stop, num, {.endpoint = options.endpoint});
  const std::vector<R> x = exponents.to_vector();
  return detail::generated<T>("logspace", num, [&](std::int64_t i) {
    return detail::from_range<T>(std::pow(R(options.base), x[static_cast<std::size_t>(i)]));
  });
}

// `num` samples from start to stop, each a fixed multiple of the one before. Neither end may be 0. The result
// has shape (num,). Throws ValueError if `num` is negative, if an end is 0, or if real ends differ in sign.
template <Dtype T = float, Scalar A, Scalar B>
Array<T> geomspace(A start, B stop, std::int64_t num = 50, const LinspaceOptions& options = {}) {
  if (num < 0) raise<ValueError>({"geomspace: the number of samples, ", num, ", must not be negative"});
  using R = detail::range_t<T>;
  const R first = static_cast<R>(start), last = static_cast<R>(stop);
  if (first == R(0) || last == R(0)) throw ValueError("geomspace: a geometric sequence cannot include zero");
  if constexpr (!is_complex_v<T>)
    if ((first < 0) != (last < 0)) throw ValueError("geomspace: start and stop must have the same sign");
  const std::int64_t steps = options.endpoint ? num - 1 : num;
  const auto inner = [&] {
    if constexpr (is_complex_v<T>) {
      const R ratio = std::log(last / first);
      return [=](std::int64_t i) {
        return first * std::exp(ratio * (static_cast<double>(i) / static_cast<double>(steps)));
      };
    } else {  // powers of 10 as NumPy has them, so that integers are those of NumPy
      const double low = std::log10(std::abs(first)),
                   delta = (std::log10(std::abs(last)) - low) / static_cast<double>(steps);
      return [=](std::int64_t i) {
        const double size = std::pow(10., low + detail::step_of(static_cast<double>(i), delta));
        return std::copysign(is_integer_v<T> ? std::floor(size) : size, first);
      };
    }
  }();
  return detail::generated<T>("geomspace", num, [=](std::int64_t i) {
    if (i == 0) return detail::from_range<T>(first);
    if (options.endpoint && i == steps) return detail::from_range<T>(last);
    return detail::from_range<T>(inner(i));
  });
}

NAX_END
