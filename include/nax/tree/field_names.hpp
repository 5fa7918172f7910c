#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "nax/core/compiler.hpp"
#include "nax/tree/fields.hpp"

// The names of an aggregate's fields. C++20 has no reflection, but a compiler spells out a template argument,
// and the address of a static object's field is one: its spelling ends with the field's name. Fields that a
// constexpr tree_fields lists are named likewise; those of another one by their class and position.
NAX_BEGIN
namespace tree::detail {

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
  return NAX_FUNCTION_SIGNATURE;
}

constexpr bool in_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

constexpr std::string_view last_name(std::string_view text) {
#if defined(NAX_FUNCTION_SIGNATURE_OF_MSVC)  // ...->field}>(void)
  text = text.substr(0, text.rfind(">(void)"));
#endif
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
// Of a field that tree_fields lists; constant where tree_fields is constexpr.
template <class T, std::size_t i>
constexpr auto listed_address() {
  auto* field = &std::get<i>(tree_fields(unmade<T>.value));
  return Address<decltype(field)>{field};
}
template <class T, std::size_t i>
concept NamesItsField = requires {
  typename std::integral_constant<std::size_t, sizeof(spelling<listed_address<T, i>()>())>;
};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <class T, std::size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> name_fields(std::index_sequence<I...>) {
  return {last_name(spelling<field_address<T, I>()>())...};
}

// The last word of a type's name: `Model` of `(anonymous namespace)::Model<float>`.
template <class T>
constexpr std::string_view class_name() {
  constexpr std::string_view text = NAX_FUNCTION_SIGNATURE;
#if defined(NAX_FUNCTION_SIGNATURE_OF_MSVC)  // ...::class_name<struct Model<float> >(void)
  std::size_t begin = text.find("class_name<") + 11, end = text.rfind(">(void)");
  while (end > begin && text[end - 1] == ' ') --end;
#else
  std::size_t begin = text.find("T = ") + 4, end = begin;
  for (std::size_t depth = 0; end < text.size(); ++end) {
    const char c = text[end];
    if (depth == 0 && (c == ';' || c == ']')) break;
    depth += c == '<' || c == '(' || c == '[' || c == '{';
    depth -= c == '>' || c == ')' || c == ']' || c == '}';
  }
#endif
  if (text[end - 1] == '>') {  // template arguments
    std::size_t depth = 0;
    do {
      --end;
      depth += text[end] == '>';
      depth -= text[end] == '<';
    } while (depth > 0 && end > begin);
  }
  return last_name(text.substr(begin, end - begin));
}

// `Model[0]`: the name of a field that has none.
template <class T, std::size_t i>
constexpr auto count_field() {
  constexpr std::string_view name = class_name<T>();
  std::array<char, name.size() + (i < 10 ? 3 : 4)> text{};
  std::size_t at = 0;
  for (const char c : name) text[at++] = c;
  text[at++] = '[';
  if (i >= 10) text[at++] = static_cast<char>('0' + i / 10);
  text[at++] = static_cast<char>('0' + i % 10);
  text[at] = ']';
  return text;
}
template <class T, std::size_t i>
inline constexpr auto counted_field = count_field<T, i>();

// The name of a field that tree_fields lists.
template <class T, std::size_t i>
constexpr std::string_view listed_name() {
  if constexpr (NamesItsField<T, i>)
    return last_name(spelling<listed_address<T, i>()>());
  else
    return {counted_field<T, i>.data(), counted_field<T, i>.size()};
}

template <class T>
inline constexpr auto field_names_v = name_fields<T>(std::make_index_sequence<field_count_v<T>>{});

}  // namespace tree::detail
NAX_END
