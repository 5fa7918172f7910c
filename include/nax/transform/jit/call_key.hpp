#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nax/core/array.hpp"
#include "nax/tree/for_each.hpp"
#include "nax/tree/structure.hpp"
#include "nax/tree/traits.hpp"

NAX_BEGIN
namespace detail {

// Distinguishes calls: by trees, shapes, types, numbers, static arguments, devices.
class CallKey {
 public:
  template <class Tree>
  void add(const Tree& t) {
    structures_.push_back(tree::structure(t));
    tree::for_each(
        [&](const auto& leaf) {
          using Leaf = std::remove_cvref_t<decltype(leaf)>;
          if constexpr (is_array_v<Leaf>)
            add_array(leaf);
          else if constexpr (Scalar<Leaf>)
            add_bytes(&leaf, sizeof leaf);
        },
        t);
  }
  void add_array(const ArrayBase& a) {
    const Dims& shape = layout_of(a).shape;
    const std::uint64_t head = shape.size() << 16 | static_cast<std::uint64_t>(a.device().platform) << 8 |
                               static_cast<std::uint64_t>(a.dtype());
    add_bytes(&head, sizeof head);
    for (std::int64_t n : shape) add_bytes(&n, sizeof n);
  }
  template <class Value>
  void add_value(Value value) {
    add_bytes(&value, sizeof value);
  }
  friend bool operator==(const CallKey&, const CallKey&) = default;

 private:
  void add_bytes(const void* from, std::size_t count) { text_.append(static_cast<const char*>(from), count); }
  std::string text_;
  std::vector<tree::Structure> structures_;
};

}  // namespace detail
NAX_END
