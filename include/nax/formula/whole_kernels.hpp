#pragma once

#include <type_traits>

#include "nax/backend/cpu/packets/convert.hpp"
#include "nax/formula/step_kernels.hpp"

// Operations on whole numbers, and conversions, as loops over lanes: what blocks run beside packets. Whole
// numbers wrap around.
NAX_BEGIN
namespace formula::detail {

// f(T()) for the numbers in which elements of a type are computed. Truth values are bytes.
template <class F>
decltype(auto) with_lane(DType type, const F& f) {
  switch (type) {
    case DType::boolean:
    case DType::uint8:
      return f(std::uint8_t());
    case DType::int8:
      return f(std::int8_t());
    case DType::int16:
      return f(std::int16_t());
    case DType::int32:
      return f(std::int32_t());
    case DType::int64:
      return f(std::int64_t());
    case DType::uint16:
      return f(std::uint16_t());
    case DType::uint32:
      return f(std::uint32_t());
    case DType::uint64:
      return f(std::uint64_t());
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
      return f(float());
    case DType::float64:
      return f(double());
    case DType::complex64:
    case DType::complex128:
      break;
  }
  throw TypeError("formula: numbers must be real: " + std::string(dtype_name(type)));
}

// f(T()) for the type of elements; truth values are bytes.
template <class F>
decltype(auto) with_stored(DType type, const F& f) {
  if (type == DType::float16) return f(half());
  if (type == DType::bfloat16) return f(bfloat16());
  return with_lane(type, f);
}

template <class T, class F>
void over_lanes(const T* const* in, T* out, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(f([&](int k) { return in[k][i]; }));
}

#define NAX_STEP(operation, value) \
  case Operation::operation:       \
    return over_lanes(in, out, n, [](const auto& x) { return value; });
// (An unsigned type of 32 bits or more wraps around.)
template <class T>
void run_whole_step(const Step& step, const T* const* in, T* out, std::int64_t n) {
  using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
  switch (step.operation) {
    NAX_STEP(add, static_cast<U>(x(0)) + static_cast<U>(x(1)))
    NAX_STEP(subtract, static_cast<U>(x(0)) - static_cast<U>(x(1)))
    NAX_STEP(multiply, static_cast<U>(x(0)) * static_cast<U>(x(1)))
    NAX_STEP(negative, U(0) - static_cast<U>(x(0)))
    NAX_STEP(absolute, x(0) < T(0) ? U(0) - static_cast<U>(x(0)) : static_cast<U>(x(0)))
    NAX_STEP(maximum, x(0) < x(1) ? x(1) : x(0))
    NAX_STEP(minimum, x(1) < x(0) ? x(1) : x(0))
    NAX_STEP(at_least, x(0) < x(1) ? x(1) : x(0))
    NAX_STEP(at_most, x(1) < x(0) ? x(1) : x(0))
    NAX_STEP(equal, x(0) == x(1))
    NAX_STEP(not_equal, x(0) != x(1))
    NAX_STEP(less, x(0) < x(1))
    NAX_STEP(less_equal, x(0) <= x(1))
    NAX_STEP(both, x(0) & x(1))
    NAX_STEP(either, x(0) | x(1))
    NAX_STEP(differ, x(0) ^ x(1))
    NAX_STEP(opposite, x(0) == T(0))
    NAX_STEP(bit_and, x(0) & x(1))
    NAX_STEP(bit_or, x(0) | x(1))
    NAX_STEP(bit_xor, x(0) ^ x(1))
    NAX_STEP(bit_not, ~x(0))
    NAX_STEP(select, x(0) != T(0) ? x(1) : x(2))
    NAX_STEP(keep, x(0) != T(0) ? x(1) : T(0))
    case Operation::call:
      return step.function().run(reinterpret_cast<const void* const*>(in), out, n);
    default:
      throw ValueError(std::string("formula: no way to run ") + facts(step.operation).name +
                       " of whole numbers");
  }
}
#undef NAX_STEP

// Rounds floats to a type of 16 bits, and holds them as floats.
template <class Half, class From>
void round_lanes(const From* from, float* to, std::int64_t n) {
  constexpr std::int64_t piece = 64;
  Half halves[piece];
  for (std::int64_t i = 0; i < n; i += piece) {
    const std::int64_t some = n - i < piece ? n - i : piece;
    if constexpr (std::is_same_v<From, float>)
      cpu::convert_run<float, Half>(from + i, 1, halves, 1, some);
    else
      for (std::int64_t k = 0; k < some; ++k) halves[k] = static_cast<Half>(from[i + k]);
    cpu::convert_run<Half, float>(halves, 1, to + i, 1, some);
  }
}
// Converts lanes of one type to those of another; truths to the numbers 1 and 0.
inline void convert_lanes(DType from, const void* in, DType to, void* out, std::int64_t n) {
  with_lane(from, [&]<class From>(From) {
    const From* const x = static_cast<const From*>(in);
    if (to == DType::float16) return round_lanes<half>(x, static_cast<float*>(out), n);
    if (to == DType::bfloat16) return round_lanes<bfloat16>(x, static_cast<float*>(out), n);
    if (to == DType::boolean) {
      for (std::int64_t i = 0; i < n; ++i) static_cast<std::uint8_t*>(out)[i] = x[i] != From(0);
      return;
    }
    with_lane(to, [&]<class To>(To) {
      for (std::int64_t i = 0; i < n; ++i) static_cast<To*>(out)[i] = cpu::convert_element<From, To>(x[i]);
    });
  });
}

// Any step that has operands, of these types.
inline void run_any_step(const Step& step, const DType* types, const void* const* in, void* out,
                         std::int64_t n) {
  if (step.operation == Operation::convert || step.operation == Operation::truth_as)
    return convert_lanes(types[0], in[0], step.type, out, n);
  with_lane(step.type, [&]<class T>(T) {
    const T* typed[Step::most_operands];
    for (int j = 0; j < step.arity; ++j) typed[j] = static_cast<const T*>(in[j]);
    if constexpr (std::is_floating_point_v<T>)
      run_step<T>(step, typed, static_cast<T*>(out), n);
    else
      run_whole_step<T>(step, typed, static_cast<T*>(out), n);
  });
}

}  // namespace formula::detail
NAX_END
