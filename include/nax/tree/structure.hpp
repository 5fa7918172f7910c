#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/tree/path.hpp"
#include "nax/tree/traits.hpp"

NAX_BEGIN
namespace tree {

// A tree without its leaves: comparable and printable. `[{*, *}, {*, *}]` is a vector of two structs of two
// leaves; tuples print as Python's, maps with their keys, an empty optional as None, a Static as its value.
class Structure {
 public:
  Structure(std::string text, std::size_t leaf_count, std::vector<detail::AnyStatic> statics = {})
      : text_(std::move(text)), leaf_count_(leaf_count), statics_(std::move(statics)) {}

  const std::string& to_string() const { return text_; }
  std::size_t leaf_count() const { return leaf_count_; }

  friend bool operator==(const Structure& a, const Structure& b) {
    return a.text_ == b.text_ && a.statics_ == b.statics_;
  }
  friend std::ostream& operator<<(std::ostream& out, const Structure& s) { return out << s.text_; }

 private:
  std::string text_;
  std::size_t leaf_count_;
  std::vector<detail::AnyStatic> statics_;
};

namespace detail {

struct Description {
  std::string text;
  std::size_t leaves = 0;
  std::vector<AnyStatic> statics;
};

template <class T>
void describe(const T& t, Description& d);

template <class Tuple, std::size_t... I>
void describe_children(const Tuple& children, std::index_sequence<I...>, Description& d) {
  bool first = true;
  [[maybe_unused]] const auto one = [&]<class Child>(const Child& child) {
    if constexpr (Marked<Child>) {
      if (const std::uint64_t mark = tree_mark(child); mark != 0)
        d.statics.emplace_back(Static<nax::detail::where_used_t<std::uint64_t, Child>>(mark));
    } else {
      d.text += std::exchange(first, false) ? "" : ", ";
      describe(child, d);
    }
  };
  (one(std::get<I>(children)), ...);
}

template <class T>
void describe(const T& t, Description& d) {
  constexpr NodeKind kind = kind_of<T>;
  std::string& out = d.text;
  if constexpr (kind == NodeKind::leaf) {
    out += '*';
    ++d.leaves;
  } else if constexpr (kind == NodeKind::fixed) {
    out += static_text(t);
    d.statics.emplace_back(t);
  } else if constexpr (kind == NodeKind::sequence) {
    out += '[';
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (i > 0) out += ", ";
      describe(t[i], d);
    }
    out += ']';
  } else if constexpr (kind == NodeKind::map) {
    out += '{';
    bool first = true;
    for (const auto& [key, value] : t) {
      out += (std::exchange(first, false) ? "" : ", ") + key_text<typename T::key_type>(&key) + ": ";
      describe(value, d);
    }
    out += '}';
  } else if constexpr (kind == NodeKind::optional) {
    if (t.has_value()) {
      describe(*t, d);
    } else {
      out += "None";
    }
  } else {
    constexpr std::size_t n = child_count_v<const T>;
    out += TupleLike<T> ? '(' : '{';
    describe_children(children(t), std::make_index_sequence<n>{}, d);
    out += TupleLike<T> ? (n == 1 ? ",)" : ")") : "}";
  }
}

}  // namespace detail

// The structure of a tree without its leaves: comparable and printable.
template <class T>
Structure structure(const T& t) {
  detail::Description d;
  detail::describe(t, d);
  return {std::move(d.text), d.leaves, std::move(d.statics)};
}

}  // namespace tree
NAX_END
