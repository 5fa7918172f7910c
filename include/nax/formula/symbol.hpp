#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include "nax/backend/cpu/packets/packet_more.hpp"
#include "nax/core/error.hpp"
#include "nax/formula/recorder.hpp"

// Symbol<T>: a number that is not there yet. Rules and packet functions that are called with it write
// themselves down in the thread's Recorder, each operation a step. Truth<T> is what its comparisons give.
NAX_BEGIN
namespace formula {

template <class T>
struct Truth {
  int at = -1;
  Truth() = default;
  explicit Truth(bool value) : at(Recorder::current().truth(value)) {}
  static Truth of(int at) {
    Truth result;
    result.at = at;
    return result;
  }
};

template <class T>
struct Symbol {
  using value_type = T;
  int at = -1;

  Symbol() = default;
  template <class S>
  requires std::is_arithmetic_v<S>
  explicit Symbol(S value)
      : at(Recorder::current().constant(static_cast<double>(static_cast<T>(value)), dtype_of<T>)) {}
  static Symbol of(int at) {
    Symbol result;
    result.at = at;
    return result;
  }
  static Symbol input(int number) { return of(Recorder::current().input(number, dtype_of<T>)); }
  Symbol& operator+=(Symbol b) { return *this = *this + b; }
  Symbol& operator-=(Symbol b) { return *this = *this - b; }
  Symbol& operator*=(Symbol b) { return *this = *this * b; }
  Symbol& operator/=(Symbol b) { return *this = *this / b; }
};

namespace detail {
template <class T, class... V>
Symbol<T> number(Operation operation, V... x) {
  return Symbol<T>::of(Recorder::current().record(operation, Places{x.at...}));
}
template <class T, class... V>
Truth<T> truth(Operation operation, V... x) {
  return Truth<T>::of(Recorder::current().record(operation, Places{x.at...}));
}
}  // namespace detail

#define NAX_NUMBER_1(name, operation)                  \
  template <class T>                                   \
  Symbol<T> name(Symbol<T> x) {                        \
    return detail::number<T>(Operation::operation, x); \
  }
#define NAX_NUMBER_2(name, operation)                     \
  template <class T>                                      \
  Symbol<T> name(Symbol<T> x, Symbol<T> y) {              \
    return detail::number<T>(Operation::operation, x, y); \
  }
#define NAX_TRUTH_2(name, operation)                     \
  template <class T>                                     \
  Truth<T> name(Symbol<T> x, Symbol<T> y) {              \
    return detail::truth<T>(Operation::operation, x, y); \
  }
#define NAX_LOGIC_2(name, operation)                     \
  template <class T>                                     \
  Truth<T> name(Truth<T> x, Truth<T> y) {                \
    return detail::truth<T>(Operation::operation, x, y); \
  }
NAX_NUMBER_2(operator+, add)
NAX_NUMBER_2(operator-, subtract)
NAX_NUMBER_2(operator*, multiply)
NAX_NUMBER_2(operator/, divide)
NAX_NUMBER_1(operator-, negative)
NAX_NUMBER_1(abs, absolute)
NAX_NUMBER_1(fabs, absolute)
NAX_NUMBER_1(sqrt, sqrt)
NAX_NUMBER_1(floor, floor)
NAX_NUMBER_1(ceil, ceil)
NAX_NUMBER_1(trunc, trunc)
NAX_NUMBER_1(rint, rint)
NAX_NUMBER_1(nearbyint, rint)
NAX_NUMBER_1(round, rint)
NAX_NUMBER_2(max, maximum)
NAX_NUMBER_2(min, minimum)
NAX_NUMBER_2(copysign, copysign)
NAX_NUMBER_2(with_sign, with_sign)
NAX_NUMBER_2(scale, scale)
NAX_NUMBER_1(limited, limited)
NAX_NUMBER_2(guarded, guarded)
NAX_TRUTH_2(operator==, equal)
NAX_TRUTH_2(operator!=, not_equal)
NAX_TRUTH_2(operator<, less)
NAX_TRUTH_2(operator<=, less_equal)
NAX_LOGIC_2(operator&, both)
NAX_LOGIC_2(operator&&, both)
NAX_LOGIC_2(operator|, either)
NAX_LOGIC_2(operator||, either)
NAX_LOGIC_2(operator^, differ)
// Of whole numbers.
NAX_NUMBER_2(operator&, bit_and)
NAX_NUMBER_2(operator|, bit_or)
NAX_NUMBER_2(operator^, bit_xor)
NAX_NUMBER_1(operator~, bit_not)
#define NAX_ONE(name, ...) NAX_NUMBER_1(name, name)
NAX_FORMULA_FUNCTIONS_1(NAX_ONE)
#undef NAX_ONE
#define NAX_ONE(name, ...) NAX_NUMBER_2(name, name)
NAX_FORMULA_FUNCTIONS_2(NAX_ONE)
#undef NAX_ONE
#undef NAX_NUMBER_1
#undef NAX_NUMBER_2
#undef NAX_TRUTH_2
#undef NAX_LOGIC_2

template <class T>
Symbol<T> operator+(Symbol<T> x) {
  return x;
}
template <class T>
Symbol<T> fma(Symbol<T> x, Symbol<T> y, Symbol<T> z) {
  return detail::number<T>(Operation::fma, x, y, z);
}
template <class T>
Truth<T> operator>(Symbol<T> x, Symbol<T> y) {
  return y < x;
}
template <class T>
Truth<T> operator>=(Symbol<T> x, Symbol<T> y) {
  return y <= x;
}
template <class T>
Truth<T> operator!(Truth<T> x) {
  return detail::truth<T>(Operation::opposite, x);
}
template <class M, class T>
Symbol<T> select(Truth<M> mask, Symbol<T> x, Symbol<T> y) {
  return detail::number<T>(Operation::select, mask, x, y);
}
template <class T>
Truth<T> select(Truth<T> mask, Truth<T> x, Truth<T> y) {
  return (mask & x) | ((!mask) & y);
}
template <class T>
Symbol<T> kept(Truth<T> mask, Symbol<T> x) {
  return detail::number<T>(Operation::keep, mask, x);
}
template <class T>
Symbol<T> unless_zero(Symbol<T> g, Symbol<T> x) {
  return detail::number<T>(Operation::unless_ended, g != Symbol<T>(0), x);
}
template <class T>
Truth<T> isnan(Symbol<T> x) {
  return x != x;
}
template <class T>
Truth<T> isinf(Symbol<T> x) {
  return abs(x) == Symbol<T>(simd::infinity<T>);
}
template <class T>
Truth<T> isfinite(Symbol<T> x) {
  return abs(x) < Symbol<T>(simd::infinity<T>);
}
template <class T>
Truth<T> signbit(Symbol<T> x) {
  return detail::truth<T>(Operation::sign_bit, x);
}
template <class T>
Symbol<T> sign(Symbol<T> x) {
  if constexpr (std::is_integral_v<T>)
    return select(x > Symbol<T>(0), Symbol<T>(1), select(x < Symbol<T>(0), Symbol<T>(-1), x));
  else
    // (A select of x for 0 would have the slope 1 there.)
    return select(isnan(x), x, copysign(select(x == Symbol<T>(0), Symbol<T>(0), Symbol<T>(1)), x));
}
template <class T>
Symbol<T> fmax(Symbol<T> x, Symbol<T> y) {
  return select(isnan(x), y, select(isnan(y), x, max(x, y)));
}
template <class T>
Symbol<T> fmin(Symbol<T> x, Symbol<T> y) {
  return select(isnan(x), y, select(isnan(y), x, min(x, y)));
}
template <class T>
Symbol<T> clamp_above(Symbol<T> x, Symbol<T> high) {
  return detail::number<T>(Operation::at_most, x, high);
}
template <class T>
Symbol<T> clamp(Symbol<T> x, Symbol<T> low, Symbol<T> high) {
  return detail::number<T>(Operation::at_least, clamp_above(x, high), low);
}
template <class T>
Symbol<T> rsqrt(Symbol<T> x) {
  return Symbol<T>(1) / sqrt(x);
}
template <class T>
Symbol<T> conj(Symbol<T> x) {
  return x;
}
template <class T>
Symbol<T> polygamma_at(Symbol<T> n, Symbol<T> x) {
  return polygamma(n, x);
}
template <class T>
Symbol<T> split(Symbol<T> x, Symbol<T>& e) {
  e = detail::number<T>(Operation::exponent, x);
  return detail::number<T>(Operation::mantissa, x);
}
template <int k, class T>
Truth<T> bit(Symbol<T> x) {
  return Truth<T>::of(Recorder::current().record(Operation::bit, Places{x.at}, k));
}
// A number that the formula knows; a ValueError for one that it does not.
template <class T>
T uniform(Symbol<T> x) {
  const Step& step = Recorder::current().step(x.at);
  if (step.operation != Operation::constant)
    throw ValueError(
        "formula: a number that must be the same for all elements is no constant of the formula");
  return static_cast<T>(step.number());
}

// ---- functions of lanes

namespace detail {

template <class F, class T, int arity>
void run_on_lanes(const void* const* in, void* out, std::int64_t n) {
  static_assert(std::is_empty_v<F>, "by_lanes: a formula has no place for what the function has captured");
  const auto at = [&](int k, std::int64_t i) { return static_cast<const T*>(in[k])[i]; };
  T* const to = static_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (arity == 1)
      to[i] = static_cast<T>(F{}(at(0, i)));
    else if constexpr (arity == 2)
      to[i] = static_cast<T>(F{}(at(0, i), at(1, i)));
    else if constexpr (arity == 3)
      to[i] = static_cast<T>(F{}(at(0, i), at(1, i), at(2, i)));
    else
      to[i] = static_cast<T>(F{}(at(0, i), at(1, i), at(2, i), at(3, i)));
  }
}
template <class F>
constexpr const char* lane_name() {
  if constexpr (requires { F::name; })
    return F::name;
  else
    return "by_lanes";
}
template <class F, class T, int arity>
inline constexpr LaneFunction lane_function{lane_name<F>(), arity, run_on_lanes<F, T, arity>};

template <class F>
std::uint64_t address_of(const F& function) {
  return std::bit_cast<std::uintptr_t>(&function);
}

}  // namespace detail

template <class F, class T, class... V>
Symbol<T> by_lanes(F, Symbol<T> x, V... y) {
  constexpr int arity = 1 + static_cast<int>(sizeof...(V));
  return Symbol<T>::of(Recorder::current().record(Operation::call, Places{x.at, y.at...},
                                                  detail::address_of(detail::lane_function<F, T, arity>)));
}
// f of numbers that are converted to double and back (rules/scalar_lanes.hpp).
template <class F, class T, class... V>
Symbol<T> in_double(F, Symbol<T> x, V... y) {
  const auto convert = [](T a, auto... more) {
    return static_cast<T>(F{}(static_cast<double>(a), static_cast<double>(more)...));
  };
  return by_lanes(convert, x, y...);
}
// A function of packets that serves where |x| is small enough, and one of numbers elsewhere.
template <class T, class Fast, class Slow>
Symbol<T> trigonometric(Symbol<T> x, Fast fast, Slow) {
  const Truth<T> reducible = abs(x) <= Symbol<T>(simd::detail::TrigConstants<T>::most);
  const Symbol<T> y = fast(x);
  return Symbol<T>::of(Recorder::current().record(Operation::rescue, Places{reducible.at, y.at, x.at},
                                                  detail::address_of(detail::lane_function<Slow, T, 1>)));
}

}  // namespace formula

namespace simd {
inline namespace NAX_SIMD_ABI {
namespace detail {
template <class T>
inline constexpr bool split_marks<formula::Symbol<T>> = true;
template <class T>
inline constexpr bool limits_remainder<formula::Symbol<T>> = true;
}  // namespace detail
}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/formula/lowered-inl.hpp"
#include "nax/formula/recorder-inl.hpp"
#endif
