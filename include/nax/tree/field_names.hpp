#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "nax/tree/fields.hpp"

// The names of an aggregate's fields. C++20 has no reflection, but a compiler spells out a template argument,
// and the address of a static object's field is one: its spelling ends with the field's name.
namespace nax::inline NAX_ABI::tree::detail {

// Declared, never defined: only addresses inside it are formed. It need not be a literal type.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class T>
struct Unmade {
  T value;
};
template <class T>
extern Unmade<T> unmade;

// clang 14 takes the address of a subobject as a template argument only inside a class.
template <class P>
struct Address {
  P value;
};

template <Address field>
constexpr const char* spelling() {
  return __PRETTY_FUNCTION__;
}

constexpr bool in_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

constexpr std::string_view last_name(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !in_name(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && in_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

template <class T, std::size_t i>
consteval auto field_address() {
  auto* field = &std::get<i>(fields_of(unmade<T>.value));
  return Address<decltype(field)>{field};
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <class T, std::size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> name_fields(std::index_sequence<I...>) {
  return {last_name(spelling<field_address<T, I>()>())...};
}

template <class T>
inline constexpr auto field_names_v = name_fields<T>(std::make_index_sequence<field_count_v<T>>{});

}  // namespace nax::inline NAX_ABI::tree::detail
