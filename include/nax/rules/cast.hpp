#pragma once

#include "nax/rules/signature.hpp"

NAX_BEGIN
namespace rules {

// astype: the operand is converted on its way in. Floats to integers truncate, numbers to bool ask whether
// they are not zero, complex numbers to real ones keep the real part; the cotangent is converted back.
template <class To>
struct cast {
  static constexpr const char* name = "astype";
  static constexpr bool linear = true, hands_on = true, differentiable = true, masks = true;
  using identity = void;
  template <int, class T>
  using operand = To;
  template <class T>
  using result = To;
  template <class V>
  static constexpr V value(V x) {
    return x;
  }
  template <class V>
  static constexpr auto vjp(V g, V, V) {
    return std::tuple{g};
  }
};

}  // namespace rules
NAX_END
