#pragma once

#include <cstring>

#include "nax/core/array_base.hpp"
#include "nax/tree/structure.hpp"

// Telling calls of a function apart, quickly.
NAX_BEGIN
namespace detail {

// Numbers that say of which structure, shapes and types arguments are. They are compared as a whole.
class Signature {
 public:
  void add(std::uint64_t x) { numbers_.push_back(x); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add_bytes(const T& x) {
    for (std::size_t at = 0; at < sizeof x; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, reinterpret_cast<const char*>(&x) + at, sizeof x - at < 8 ? sizeof x - at : 8);
      add(word);
    }
  }
  void add_array(const ArrayBase& a) {
    const Dims& shape = layout_of(a).shape;
    add(shape.size() << 8 | static_cast<std::uint64_t>(a.dtype()));
    for (std::int64_t n : shape) add(static_cast<std::uint64_t>(n));
  }
  friend bool operator==(const Signature& a, const Signature& b) {
    return a.numbers_.size() == b.numbers_.size() &&
           std::memcmp(a.numbers_.data(), b.numbers_.data(), a.numbers_.size() * sizeof(std::uint64_t)) == 0;
  }

 private:
  SmallVector<std::uint64_t, 32> numbers_;
};

}  // namespace detail
namespace tree::detail {

// Visits the leaves of a tree, and adds to the signature what its type leaves open: how many elements a
// vector has, whether an optional holds something. False for trees with maps and Statics, whose keys and
// values are compared in another way.
template <class T>
constexpr bool has_quick_signature() {
  constexpr NodeKind kind = kind_of<T>;
  if constexpr (kind == NodeKind::leaf) {
    return true;
  } else if constexpr (kind == NodeKind::sequence) {
    return has_quick_signature<typename T::value_type>();
  } else if constexpr (kind == NodeKind::optional) {
    return has_quick_signature<typename T::value_type>();
  } else if constexpr (kind == NodeKind::product) {
    return []<std::size_t... i>(std::index_sequence<i...>) {
      return (has_quick_signature<Child<const T, i>>() && ...);
    }
    (std::make_index_sequence<child_count_v<const T>>());
  } else {
    return false;
  }
}
template <class T, class Visit>
void add_signature(const T& t, nax::detail::Signature& to, const Visit& visit) {
  constexpr NodeKind kind = kind_of<T>;
  if constexpr (kind == NodeKind::leaf) {
    visit(t);
  } else if constexpr (kind == NodeKind::sequence) {
    to.add(t.size());
    for (const auto& one : t) add_signature(one, to, visit);
  } else if constexpr (kind == NodeKind::optional) {
    to.add(t.has_value());
    if (t) add_signature(*t, to, visit);
  } else if constexpr (Marked<T>) {
    to.add(tree_mark(t));
  } else if constexpr (kind == NodeKind::product) {
    std::apply([&](const auto&... child) { (add_signature(child, to, visit), ...); }, children(t));
  }
}

}  // namespace tree::detail
NAX_END
