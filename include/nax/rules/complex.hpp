#pragma once

#include "nax/rules/math.hpp"

// Parts of complex numbers. Shares follow JAX: the gradient of f is df/dx - i df/dy.
NAX_BEGIN
namespace rules {

struct real : RealPart {
  static constexpr const char* name = "real";
  static constexpr bool linear = true;
  template <class V>
  static constexpr auto value(V x) {
    if constexpr (is_complex_v<V>)
      return x.real();
    else
      return x;
  }
  template <class G, class V>
  static constexpr auto vjp(G g, V, G) {
    return std::tuple{V(1) * g};
  }
};
struct imag : RealPart {
  static constexpr const char* name = "imag";
  static constexpr bool linear = true;
  template <class V>
  static constexpr auto value(V x) {
    if constexpr (is_complex_v<V>)
      return x.imag();
    else
      return V(0);
  }
  template <class G, class V>
  static constexpr auto vjp(G g, V, G) {
    if constexpr (std::is_same_v<G, V>)
      return std::tuple{V(0)};
    else
      return std::tuple{V(std::complex<float>(0, -1)) * g};
  }
};
struct conjugate : Arithmetic {
  static constexpr const char* name = "conjugate";
  static constexpr bool linear = true, holomorphic = false;
  template <class V>
  static constexpr V value(V x) {
    using math::conj;
    return conj(x);
  }
  template <class V>
  static constexpr auto vjp(V g, V, V) {
    using math::conj;
    return std::tuple{conj(g)};
  }
};
// The angle; of real numbers 0 or pi.
struct angle {
  static constexpr const char* name = "angle";
  static constexpr bool linear = false, hands_on = false, differentiable = true, masks = false;
  template <int, class T>
  using operand = inexact_t<T>;
  template <class T>
  using result = real_t<inexact_t<T>>;
  template <class V>
  static constexpr auto value(V x) {
    if constexpr (is_complex_v<V>) {
      using std::arg;
      return arg(x);
    } else {
      using std::atan2;
      return atan2(V(0), x);
    }
  }
  template <class G, class V>
  static constexpr auto vjp(G g, V x, G) {
    if constexpr (std::is_same_v<G, V>)
      return std::tuple{V(0)};
    else
      return std::tuple{guarded(V(1) * g, V(std::complex<float>(0, -1)) / x)};
  }
};

}  // namespace rules
NAX_END
