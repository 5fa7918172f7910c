#pragma once

#include <cfenv>
#include <cmath>
#include <limits>
#include <string_view>

#include "nax/core/half.hpp"

// Floating numbers as PTX computes with them.
namespace ptx {

using nax::bfloat16, nax::half;

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
// The type that arithmetic of T is done in.
template <class T>
using Computed = std::conditional_t<is_small_float<T>, float, T>;

template <class T>
Computed<T> widen(T x) {
  return static_cast<Computed<T>>(x);
}

// Modifiers of arithmetic, as Instruction::mode has them.
enum : std::uint8_t {
  round_mask = 3,
  round_nearest = 0,
  round_zero = 1,
  round_down = 2,
  round_up = 3,
  flushes = 4,
  saturates = 8,
  keeps_nan = 16
};

template <class T>
T flush(T x, std::uint8_t mode) {
  if constexpr (std::is_same_v<T, float>)
    if (mode & flushes && std::fpclassify(x) == FP_SUBNORMAL) return std::copysign(0.f, x);
  return x;
}
// Values outside [0, 1] saturate, NaN becomes 0.
template <class T>
T finish(T x, std::uint8_t mode) {
  x = flush(x, mode);
  if (mode & saturates) x = x != x || x <= T(0) ? T(0) : x > T(1) ? T(1) : x;
  return x;
}

// f() rounded as told. Its operands must be volatile, so that it is computed there.
template <class F>
auto rounded(std::uint8_t mode, const F& f) {
  constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  if ((mode & round_mask) == round_nearest) return f();
  std::fesetround(modes[mode & round_mask]);
  const volatile auto result = f();
  std::fesetround(FE_TONEAREST);
  return static_cast<std::remove_cv_t<decltype(result)>>(result);
}

template <class F>
bool with_float(std::string_view type, const F& f) {
  if (type == "f32") return f(std::type_identity<float>()), true;
  if (type == "f64") return f(std::type_identity<double>()), true;
  if (type == "f16") return f(std::type_identity<half>()), true;
  if (type == "bf16") return f(std::type_identity<bfloat16>()), true;
  return false;
}

}  // namespace ptx
