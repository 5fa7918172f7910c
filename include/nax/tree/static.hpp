#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "nax/core/abi.hpp"

// Fields that are no arrays: names, enums, functions, options.
NAX_BEGIN
namespace tree {

// A field that belongs to the structure of a tree: `tree::Static<std::string> name`. It has no leaves, so
// transforms and tree::map carry it along as it is. Trees that differ in it have different structures, and
// jit records a program for each; it is saved to files and compared when they are loaded.
//
// Two are equal where their values are, by ==. Values of a type without == (a std::function) are equal where
// one is a copy of the other. `*name`, `name->size()`, and a Static where a T is wanted, read the value;
// another one is assigned.
template <class T>
class Static {
  static constexpr bool by_value = std::equality_comparable<T> && std::copy_constructible<T>;

 public:
  using static_type = T;

  Static() requires std::default_initializable<T> : Static(T()) {}
  template <class U>
  requires(!std::same_as<std::remove_cvref_t<U>, Static> && std::is_convertible_v<U, T>) Static(U&& value)
      : Static(T(std::forward<U>(value))) {}
  Static(T value) : held_(hold(std::move(value))) {}

  const T& operator*() const {
    if constexpr (by_value)
      return held_;
    else
      return *held_;
  }
  const T* operator->() const { return &**this; }
  operator const T&() const { return **this; }
  template <class... X>
  requires std::invocable<const T&, X...>
  decltype(auto) operator()(X&&... x) const { return (**this)(std::forward<X>(x)...); }

  friend bool operator==(const Static& a, const Static& b) { return a.held_ == b.held_; }
  template <std::same_as<T> U>
  requires std::equality_comparable<T>
  friend bool operator==(const Static& a, const U& b) { return *a == b; }
  friend std::ostream& operator<<(std::ostream& out, const Static& s) requires requires { out << *s; }
  { return out << *s; }

 private:
  static auto hold(T value) {
    if constexpr (by_value)
      return value;
    else
      return std::make_shared<const T>(std::move(value));
  }
  std::conditional_t<by_value, T, std::shared_ptr<const T>> held_;
};

namespace detail {

template <class T>
inline constexpr bool is_static_v = false;
template <class T>
inline constexpr bool is_static_v<Static<T>> = true;

// The value as people read it: 'relu', 3; `static` where it has no text.
template <class T>
std::string static_text(const Static<T>& s) {
  if constexpr (std::is_convertible_v<const T&, std::string>) {
    return '\'' + std::string(*s) + '\'';
  } else if constexpr (std::same_as<T, bool>) {
    return *s ? "True" : "False";
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::underlying_type_t<T>>(*s));
  } else if constexpr (std::is_arithmetic_v<T> ||
                       (std::is_class_v<T> && !std::is_constructible_v<bool, const T&> &&
                        requires(std::ostream & out) { out << *s; })) {
    std::ostringstream out;
    out << *s;
    return std::move(out).str();
  } else {
    return "static";
  }
}

// A Static of any type, for comparing structures.
class AnyStatic {
 public:
  template <class T>
  explicit AnyStatic(Static<T> value) : held_(std::make_shared<const Model<T>>(std::move(value))) {}

  friend bool operator==(const AnyStatic& a, const AnyStatic& b) { return a.held_->equals(*b.held_); }

 private:
  struct Concept {
    virtual ~Concept() = default;
    virtual bool equals(const Concept& other) const = 0;
  };
  template <class T>
  struct Model final : Concept {
    explicit Model(Static<T> v) : value(std::move(v)) {}
    bool equals(const Concept& other) const override {
      const auto* same = dynamic_cast<const Model*>(&other);
      return same && same->value == value;
    }
    Static<T> value;
  };
  std::shared_ptr<const Concept> held_;
};

}  // namespace detail
}  // namespace tree
NAX_END
