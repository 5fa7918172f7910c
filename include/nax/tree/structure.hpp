#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>

#include "nax/tree/path.hpp"
#include "nax/tree/traits.hpp"

namespace nax::inline NAX_ABI::tree {

// A tree without its leaves: comparable and printable. `[{*, *}, {*, *}]` is a vector of two structs of two
// leaves; tuples print as Python's, maps with their keys, an empty optional as None.
class Structure {
 public:
  Structure(std::string text, std::size_t leaf_count) : text_(std::move(text)), leaf_count_(leaf_count) {}

  const std::string& to_string() const { return text_; }
  std::size_t leaf_count() const { return leaf_count_; }

  friend bool operator==(const Structure& a, const Structure& b) { return a.text_ == b.text_; }
  friend std::ostream& operator<<(std::ostream& out, const Structure& s) { return out << s.text_; }

 private:
  std::string text_;
  std::size_t leaf_count_;
};

namespace detail {

template <class T>
void describe(const T& t, std::string& out, std::size_t& leaves);

template <class Tuple, std::size_t... I>
void describe_children(const Tuple& children, std::index_sequence<I...>, std::string& out,
                       [[maybe_unused]] std::size_t& leaves) {
  ((out += I > 0 ? ", " : "", describe(std::get<I>(children), out, leaves)), ...);
}

template <class T>
void describe(const T& t, std::string& out, std::size_t& leaves) {
  constexpr NodeKind kind = kind_of<T>;
  if constexpr (kind == NodeKind::leaf) {
    out += '*';
    ++leaves;
  } else if constexpr (kind == NodeKind::sequence) {
    out += '[';
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (i > 0) out += ", ";
      describe(t[i], out, leaves);
    }
    out += ']';
  } else if constexpr (kind == NodeKind::map) {
    out += '{';
    bool first = true;
    for (const auto& [key, value] : t) {
      out += (std::exchange(first, false) ? "" : ", ") + key_text<typename T::key_type>(&key) + ": ";
      describe(value, out, leaves);
    }
    out += '}';
  } else if constexpr (kind == NodeKind::optional) {
    if (t.has_value()) {
      describe(*t, out, leaves);
    } else {
      out += "None";
    }
  } else {
    constexpr std::size_t n = child_count_v<const T>;
    out += TupleLike<T> ? '(' : '{';
    describe_children(children(t), std::make_index_sequence<n>{}, out, leaves);
    out += TupleLike<T> ? (n == 1 ? ",)" : ")") : "}";
  }
}

}  // namespace detail

// The structure of a tree without its leaves: comparable and printable.
template <class T>
Structure structure(const T& t) {
  std::string text;
  std::size_t leaves = 0;
  detail::describe(t, text, leaves);
  return {std::move(text), leaves};
}

}  // namespace nax::inline NAX_ABI::tree
