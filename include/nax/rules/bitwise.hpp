#pragma once

#include "nax/rules/math.hpp"

// Bits of integers; of truth values these are the logical operations.
NAX_BEGIN
namespace rules {

struct Bitwise : Arithmetic {
  static constexpr bool differentiable = false, masks = true;
};
struct bitwise_and : Bitwise {
  static constexpr const char* name = "bitwise_and";
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_inexact_v<V>, "bitwise_and: integers or truth values only");
    return static_cast<V>(x & y);
  }
};
struct bitwise_or : Bitwise {
  static constexpr const char* name = "bitwise_or";
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_inexact_v<V>, "bitwise_or: integers or truth values only");
    return static_cast<V>(x | y);
  }
};
struct bitwise_xor : Bitwise {
  static constexpr const char* name = "bitwise_xor";
  template <class V>
  static constexpr V value(V x, V y) {
    static_assert(!is_inexact_v<V>, "bitwise_xor: integers or truth values only");
    return static_cast<V>(x ^ y);
  }
};
struct invert : Bitwise {
  static constexpr const char* name = "invert";
  template <class V>
  static constexpr V value(V x) {
    static_assert(!is_inexact_v<V>, "invert: integers or truth values only");
    if constexpr (std::is_same_v<V, bool> || !requires { ~x; })
      return !x;
    else
      return static_cast<V>(~x);
  }
};

// Shifts. A count beyond the width, or below 0, leaves no bit: 0, or the sign for a right shift of signed
// integers.
struct Shift : Arithmetic {
  static constexpr bool differentiable = false;
  template <class V>
  static constexpr bool beyond(V count) {
    return static_cast<std::make_unsigned_t<V>>(count) >= 8 * sizeof(V);
  }
};
struct left_shift : Shift {
  static constexpr const char* name = "left_shift";
  template <class V>
  static constexpr V value(V x, V count) {
    static_assert(is_integer_v<V>, "left_shift: integers only");
    return beyond(count) ? V(0) : static_cast<V>(static_cast<wrapping_t<V>>(x) << count);
  }
};
struct right_shift : Shift {
  static constexpr const char* name = "right_shift";
  template <class V>
  static constexpr V value(V x, V count) {
    static_assert(is_integer_v<V>, "right_shift: integers only");
    if (!beyond(count)) return static_cast<V>(x >> count);
    if constexpr (std::is_signed_v<V>)
      return static_cast<V>(x < V(0) ? -1 : 0);
    else
      return V(0);
  }
};

}  // namespace rules
NAX_END
