#pragma once

#include <limits>

#include "nax/devices/cuda/launch/elements.hpp"

// Ways to reduce elements of the wide type A. A thread takes some elements into a Short, and joins those in a
// State; joins commute and are associative but for rounding. `exact`: nothing is rounded, and results do not
// depend on how elements are shared out.
NAX_BEGIN
namespace cuda {

// Whole numbers wrap around, which signed ones may not.
template <class A>
using Wrapping = std::conditional_t<std::is_integral_v<A>, std::uint64_t, A>;

// Floats add up in short chains, and these in double: no chain of additions is long.
template <class A>
struct SumReducer {
  using Short = Wrapping<A>;
  using State = std::conditional_t<std::is_same_v<A, float>, double, Short>;
  using Wide = A;
  static constexpr bool exact = std::is_integral_v<A>;
  A divisor;
  constexpr Short none() const { return Short(0); }
  constexpr Short take(Short sum, A x, std::int64_t) const { return sum + static_cast<Short>(x); }
  constexpr State state(Short sum) const { return static_cast<State>(sum); }
  constexpr State join(State a, State b) const { return a + b; }
  constexpr A result(State sum) const {
    if constexpr (std::is_integral_v<A>)
      return static_cast<A>(sum);
    else
      return static_cast<A>(sum) / divisor;
  }
};
template <class A>
struct ProductReducer {
  using Short = Wrapping<A>;
  using State = Short;
  using Wide = A;
  static constexpr bool exact = std::is_integral_v<A>;
  constexpr Short none() const { return Short(1); }
  constexpr Short take(Short product, A x, std::int64_t) const { return product * static_cast<Short>(x); }
  constexpr State state(Short product) const { return product; }
  constexpr State join(State a, State b) const { return a * b; }
  constexpr A result(State product) const { return static_cast<A>(product); }
};

// The greatest or the least; NaN wins. Of truth, it is any or all: truth is 1, and NaN is true.
template <class A>
struct ExtremeReducer {
  using Short = A;
  using State = A;
  using Wide = A;
  static constexpr bool exact = std::is_integral_v<A>;  // of zeros of both signs the last is taken
  A identity;
  bool greatest, of_truth;
  constexpr A none() const { return identity; }
  constexpr A take(A best, A x, std::int64_t) const { return join(best, of_truth ? A(x != A(0)) : x); }
  constexpr A state(A best) const { return best; }
  constexpr A join(A a, A b) const { return (greatest ? a > b : a < b) || a != a ? a : b; }
  constexpr A result(A best) const { return best; }
};

// The place of the first greatest or least, or of the first NaN.
template <class A>
struct ArgReducer {
  static constexpr bool exact = true;
  using Place = std::conditional_t<sizeof(A) == 4, std::int32_t, std::int64_t>;
  struct Short {
    A value;
    Place place;  // -1 of none
  };
  using State = Short;
  using Wide = std::int64_t;
  bool greatest;

  constexpr bool beats(A a, A b) const { return (greatest ? a > b : a < b) || (a != a && b == b); }
  constexpr Short none() const { return {A(0), -1}; }
  constexpr Short take(const Short& best, A x, std::int64_t place) const {
    return join(best, {x, static_cast<Place>(place)});
  }
  constexpr State state(const Short& best) const { return best; }
  constexpr State join(const State& a, const State& b) const {
    if (a.place < 0 || b.place < 0) return a.place < 0 ? b : a;
    if (beats(a.value, b.value)) return a;
    if (beats(b.value, a.value)) return b;
    return a.place < b.place ? a : b;
  }
  constexpr std::int64_t result(const State& best) const { return best.place; }
  // The best of pieces that begin at place `first`.
  template <class Best>
  constexpr State at(const Best& best, std::int64_t first) const {
    return best.element < 0 ? none() : State{best.value, static_cast<Place>(first + best.element)};
  }
};
template <class Reducer>
inline constexpr bool finds_place = false;
template <class A>
inline constexpr bool finds_place<ArgReducer<A>> = true;

// The extremum of no elements: the other end of the dtype.
template <class A>
A extreme_identity(DType dtype, bool lowest) {
  return with_type(dtype, [lowest]<class T>(std::type_identity<T>) -> A {
    using L = std::conditional_t<is_floating_v<T>, std::conditional_t<sizeof(T) == 8, double, float>, T>;
    if constexpr (std::is_floating_point_v<L>)
      return static_cast<A>(lowest ? -std::numeric_limits<L>::infinity()
                                   : std::numeric_limits<L>::infinity());
    else
      return static_cast<A>(lowest ? std::numeric_limits<L>::lowest() : std::numeric_limits<L>::max());
  });
}

}  // namespace cuda
NAX_END
