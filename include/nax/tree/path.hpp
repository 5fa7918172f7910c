#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "nax/tree/field_names.hpp"
#include "nax/tree/traits.hpp"

// Where in a tree: `[0].w`, `['bias']`, `.layers[2]`. Field names are the struct's own; so are those of a
// class whose tree_fields is constexpr. Another class counts its fields: `.Model[0]`, `.Model[1]`. A path is
// a chain of steps on the stack, and becomes text only when asked for.
NAX_BEGIN
namespace tree::detail {

struct Path {
  const Path* up = nullptr;
  std::string_view name = {};  // a field; at the root the function's name, for errors
  std::size_t index = 0;
  const void* key = nullptr;
  std::string (*key_text)(const void*) = nullptr;

  std::string text() const;

  std::string_view function() const { return up == nullptr ? name : up->function(); }
};

template <class K>
std::string key_text(const void* key) {
  const K& k = *static_cast<const K*>(key);
  if constexpr (std::is_arithmetic_v<K>) {
    return std::to_string(k);
  } else {
    static_assert(std::is_convertible_v<const K&, std::string_view>,
                  "tree: the keys of a map must be strings or numbers");
    return '\'' + std::string(std::string_view(k)) + '\'';
  }
}

template <class K>
Path key_path(const Path& up, const K& key) {
  return {.up = &up, .key = &key, .key_text = key_text<K>};
}

template <class T, std::size_t i>
Path child_path(const Path& up) {
  using U = std::remove_cv_t<T>;
  if constexpr (TupleLike<U>) {
    return {.up = &up, .index = i};
  } else if constexpr (ListsFields<U>) {
    static_assert(i < max_fields, "tree: tree_fields may list at most 24 fields");
    constexpr std::string_view name = listed_name<U, i>();
    return {.up = &up, .name = name};
  } else {
    return {.up = &up, .name = field_names_v<U>[i]};
  }
}

}  // namespace tree::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace tree::detail {

NAX_ENGINE std::string Path::text() const {
  if (up == nullptr) return {};
  std::string step;
  if (key_text != nullptr) {
    step = '[' + key_text(key) + ']';
  } else if (!name.empty()) {
    step = '.' + std::string(name);
  } else {
    step = '[' + std::to_string(index) + ']';
  }
  return up->text() + step;
}

}  // namespace tree::detail
NAX_END
#endif
