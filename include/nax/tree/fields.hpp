#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nax/core/abi.hpp"

// The fields of an aggregate, counted and reached without registration.
//
// A struct has n fields when T{{}, {}, ...} takes n empty braces and not n + 1. Empty braces never spill over
// into a nested aggregate (brace elision) and never choose between the constructors of a field's class, so
// nested structs, C arrays and classes with many constructors all count as one. A struct with a field that
// has no default constructor falls back to a probe that converts to anything.
NAX_BEGIN
namespace tree {

inline constexpr std::size_t max_fields = 24;

namespace detail {

template <class T>
struct AnyField {
  template <class U>
  requires(!std::is_base_of_v<U, T>) operator U() const;
};
template <class T>
struct AnyBase {
  template <class U>
  requires(!std::is_same_v<U, T> && std::is_base_of_v<U, T>) operator U() const;
};

// True if a base class takes the first initialiser.
template <class T>
concept HasBase = requires {
  T{AnyBase<T>{}};
};

template <class T, std::size_t n>
consteval bool takes_empty_braces() {
  if constexpr (n == 0) {
    return requires { T{}; };
  } else if constexpr (n == 1) {
    return requires { T{{}}; };
  } else if constexpr (n == 2) {
    return requires { T{{}, {}}; };
  } else if constexpr (n == 3) {
    return requires { T{{}, {}, {}}; };
  } else if constexpr (n == 4) {
    return requires { T{{}, {}, {}, {}}; };
  } else if constexpr (n == 5) {
    return requires { T{{}, {}, {}, {}, {}}; };
  } else if constexpr (n == 6) {
    return requires { T{{}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 7) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 8) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 9) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 10) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 11) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 12) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 13) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 14) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 15) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 16) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 17) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 18) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 19) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 20) {
    return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  } else if constexpr (n == 21) {
    return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    };
  } else if constexpr (n == 22) {
    return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    };
  } else if constexpr (n == 23) {
    return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    };
  } else if constexpr (n == 24) {
    return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    };
  } else if constexpr (n == 25) {
    return requires {
      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    };
  } else {
    return false;
  }
}

template <class T, std::size_t... I>
consteval bool takes_probes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyField<T>{})...}; };
}

// The largest n in [low, high) that T takes, given that it takes `low`.
template <class T, std::size_t low, std::size_t high>
consteval std::size_t count_braces() {
  if constexpr (low + 1 == high) {
    return low;
  } else {
    constexpr std::size_t middle = (low + high) / 2;
    if constexpr (takes_empty_braces<T, middle>()) {
      return count_braces<T, middle, high>();
    } else {
      return count_braces<T, low, middle>();
    }
  }
}

template <class T, std::size_t n = max_fields + 1>
consteval std::size_t count_probes() {
  if constexpr (n == 0 || takes_probes<T>(std::make_index_sequence<n>{})) {
    return n;
  } else {
    return count_probes<T, n - 1>();
  }
}

template <class T>
consteval std::size_t count_fields() {
  if constexpr (std::is_empty_v<T>) {
    return 0;
  } else if constexpr (takes_empty_braces<T, 0>()) {
    return count_braces<T, 0, max_fields + 2>();
  } else {
    return count_probes<T>();
  }
}

}  // namespace detail

template <class T>
inline constexpr std::size_t field_count_v = detail::count_fields<std::remove_cv_t<T>>();

// A tuple of references to the fields; const ones for a const object.
template <class T>
constexpr auto fields_of(T& object) {
  constexpr std::size_t n = field_count_v<T>;
  static_assert(
      !detail::HasBase<std::remove_cv_t<T>>,
      "tree: a struct with a base class is no tree by itself; make the base a field, or give the class a "
      "friend tree_fields");
  static_assert(
      n <= max_fields,
      "tree: a struct may have at most 24 fields; group some of them, or give it a friend tree_fields");
  if constexpr (n == 0) {
    return std::tuple<>{};
  } else if constexpr (n == 1) {
    auto& [f0] = object;
    return std::tie(f0);
  } else if constexpr (n == 2) {
    auto& [f0, f1] = object;
    return std::tie(f0, f1);
  } else if constexpr (n == 3) {
    auto& [f0, f1, f2] = object;
    return std::tie(f0, f1, f2);
  } else if constexpr (n == 4) {
    auto& [f0, f1, f2, f3] = object;
    return std::tie(f0, f1, f2, f3);
  } else if constexpr (n == 5) {
    auto& [f0, f1, f2, f3, f4] = object;
    return std::tie(f0, f1, f2, f3, f4);
  } else if constexpr (n == 6) {
    auto& [f0, f1, f2, f3, f4, f5] = object;
    return std::tie(f0, f1, f2, f3, f4, f5);
  } else if constexpr (n == 7) {
    auto& [f0, f1, f2, f3, f4, f5, f6] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6);
  } else if constexpr (n == 8) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7);
  } else if constexpr (n == 9) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8);
  } else if constexpr (n == 10) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9);
  } else if constexpr (n == 11) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10);
  } else if constexpr (n == 12) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11);
  } else if constexpr (n == 13) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12);
  } else if constexpr (n == 14) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13);
  } else if constexpr (n == 15) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14);
  } else if constexpr (n == 16) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15);
  } else if constexpr (n == 17) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16);
  } else if constexpr (n == 18) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17);
  } else if constexpr (n == 19) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18);
  } else if constexpr (n == 20) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19);
  } else if constexpr (n == 21) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20] =
        object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                    f20);
  } else if constexpr (n == 22) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20,
           f21] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                    f20, f21);
  } else if constexpr (n == 23) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21,
           f22] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                    f20, f21, f22);
  } else if constexpr (n == 24) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21,
           f22, f23] = object;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                    f20, f21, f22, f23);
  }
}

}  // namespace tree
NAX_END
