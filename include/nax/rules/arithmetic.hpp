#pragma once

#include "nax/rules/complex_arithmetic.hpp"
#include "nax/rules/math.hpp"

NAX_BEGIN
namespace rules {

struct add : Arithmetic {
  static constexpr const char* name = "add";
  static constexpr bool linear = true;
  template <class V>
  static constexpr V value(V x, V y) {
    if constexpr (is_integer_v<V>)
      return static_cast<V>(static_cast<wrapping_t<V>>(x) + static_cast<wrapping_t<V>>(y));
    else
      return x + y;
  }
  template <class V>
  static constexpr auto vjp(V g, V, V, V) {
    return std::tuple{g, g};
  }
};

struct subtract : Arithmetic {
  static constexpr const char* name = "subtract";
  static constexpr bool linear = true;
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!std::is_same_v<V, bool>, "subtract: truth values have no difference; use logical_xor");
    if constexpr (is_integer_v<V>)
      return static_cast<V>(static_cast<wrapping_t<V>>(x) - static_cast<wrapping_t<V>>(y));
    else
      return x - y;
  }
  template <class V>
  static constexpr auto vjp(V g, V, V, V) {
    return std::tuple{g, -g};
  }
};

struct multiply : Arithmetic {
  static constexpr const char* name = "multiply";
  template <class V>
  static constexpr V value(V x, V y) {
    if constexpr (is_integer_v<V>)
      return static_cast<V>(static_cast<wrapping_t<V>>(x) * static_cast<wrapping_t<V>>(y));
    else if constexpr (std::is_same_v<V, bool>)
      return x && y;
    else if constexpr (is_complex_v<V>)
      return math::product(x, y);
    else
      return x * y;
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V) {
    return std::tuple{value(g, y), value(g, x)};
  }
};
// A tangent times a derivative. A zero contributes zero, either way round: forward mode has products that in
// reverse mode a zero ends.
struct scale : Arithmetic {
  static constexpr const char* name = "multiply";
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr V value(V t, V d) {
    return unless_zero(d, guarded(t, d));
  }
};
// Adds a tangent times a derivative to a sum.
struct add_scaled : Arithmetic {
  static constexpr const char* name = "add";
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr V value(V sum, V t, V d) {
    return sum + unless_zero(d, guarded(t, d));
  }
};

struct divide : Inexact {
  static constexpr const char* name = "divide";
  template <class V>
  static constexpr V value(V x, V y) {
    if constexpr (is_complex_v<V>)
      return math::quotient(x, y);
    else
      return x / y;
  }
  // By the same number everywhere: where its reciprocal is exact, multiplying gives the same and is faster.
  template <class V, class C>
  static constexpr V value_by(V x, C c) {
    return math::is_power_of_two(c) ? x * V(1 / c) : x / V(c);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y, V r) {
    const V d = V(1) / y;
    return std::tuple{guarded(g, d), guarded(g, -(r * d))};
  }
};

struct reciprocal : Inexact {
  static constexpr const char* name = "reciprocal";
  template <class V>
  static constexpr V value(V x) {
    return V(1) / x;
  }
  template <class V>
  static constexpr auto vjp(V g, V, V y) {
    return std::tuple{guarded(g, -(y * y))};
  }
};

struct negative : Arithmetic {
  static constexpr const char* name = "negative";
  static constexpr bool linear = true;
  template <class V>
  static constexpr V value(V x) {
    static_assert(!std::is_same_v<V, bool>, "negative: truth values have no negative; use logical_not");
    if constexpr (is_integer_v<V>)
      return static_cast<V>(wrapping_t<V>(0) - static_cast<wrapping_t<V>>(x));
    else
      return -x;
  }
  template <class V>
  static constexpr auto vjp(V g, V, V) {
    return std::tuple{-g};
  }
};

// Truth values are counted, in int8 as NumPy has it.
struct square : Arithmetic {
  static constexpr const char* name = "square";
  template <int, class T>
  using operand = std::conditional_t<std::is_same_v<T, bool>, std::int8_t, T>;
  template <class T>
  using result = operand<0, T>;
  template <class V>
  static constexpr V value(V x) {
    return multiply::value(x, x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V) {
    return std::tuple{g * (x + x)};
  }
};

// |x|; of complex numbers the modulus. The derivative at 0 is 0.
struct absolute : RealPart {
  static constexpr const char* name = "absolute";
  template <class V>
  static constexpr auto value(V x) {
    using std::abs;
    if constexpr (is_integer_v<V>)
      return x < V(0) ? negative::value(x) : x;
    else if constexpr (std::is_same_v<V, bool>)
      return x;
    else if constexpr (is_complex_v<V>)
      return math::modulus(x);
    else
      return abs(x);
  }
  template <class G, class V>
  static constexpr auto vjp(G g, V x, G y) {
    if constexpr (std::is_same_v<G, V>) {
      using math::sign;
      return std::tuple{g * sign(x)};
    } else {  // the conjugate, as JAX has it
      using math::conj;
      return std::tuple{conj(x) * (g / select(y == G(0), G(1), y))};
    }
  }
};
struct fabs : Inexact {
  static constexpr const char* name = "fabs";
  template <class V>
  static constexpr V value(V x) {
    static_assert(!is_complex_v<V>, "fabs: complex numbers have a modulus: absolute");
    return absolute::value(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y) {
    return absolute::vjp(g, x, y);
  }
};

struct sign : Arithmetic {
  static constexpr const char* name = "sign";
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr V value(V x) {
    using math::sign;
    return sign(x);
  }
};

// Division toward minus infinity and its remainder, which has the sign of the divisor. Integers: 0 where the
// divisor is 0.
struct mod : Arithmetic {
  static constexpr const char* name = "remainder";
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_complex_v<V>, "remainder: complex numbers have none");
    if constexpr (std::is_integral_v<V>) {
      return math::integer_mod(x, y);
    } else {
      using std::copysign, std::fmod;
      const V r = fmod(x, y);
      const V turned = select(((r < V(0)) & (y > V(0))) | ((r > V(0)) & (y < V(0))), r + y, r);
      return select(r == V(0), copysign(r, y), turned);
    }
  }
  // By y: less the quotient. That of a finite number and an infinity is 0, or -1 where their signs differ.
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V r) {
    using std::rint;
    const V beyond = select(x == r, V(0), select(r == r, V(1), r));
    return std::tuple{g, guarded(g, select(y - y == V(0), -rint((x - r) / y), beyond))};
  }
};
struct floor_divide : Arithmetic {
  static constexpr const char* name = "floor_divide";
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_complex_v<V>, "floor_divide: complex numbers have no floor");
    if constexpr (std::is_integral_v<V>) {
      return math::integer_floor_divide(x, y);
    } else {
      using std::copysign, std::fmod, std::rint;
      const V r = fmod(x, y), toward_zero = (x - r) / y;
      const auto below = ((r < V(0)) & (y > V(0))) | ((r > V(0)) & (y < V(0)));
      const V q = rint(select(below, toward_zero - V(1), toward_zero));
      return select(y == V(0), x / y, select(q == V(0), copysign(V(0), x / y), q));
    }
  }
};
// The remainder of division toward zero.
struct fmod : Arithmetic {
  static constexpr const char* name = "fmod";
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_complex_v<V>, "fmod: complex numbers have none");
    if constexpr (std::is_integral_v<V>) {
      return math::integer_fmod(x, y);
    } else {
      using std::fmod;
      return fmod(x, y);
    }
  }
  template <class V>
  static constexpr auto vjp(V g, V x, V y, V r) {
    return mod::vjp(g, x, y, r);
  }
};

}  // namespace rules
NAX_END
