#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "nax/tape/number.hpp"

// What travels along with a sweep (cotangents, tangents): for each node of a range nothing, an array or a
// number. A node has one 32-bit word, since most nodes of a long tape hold nothing at any time: 0, or the
// place of its value in a pool, counted from 1, in the pool of numbers where the highest bit is set. A number
// becomes an array, there, when somebody asks for the array.
namespace nax::detail {

class Slots {
 public:
  explicit Slots(std::size_t begin) : begin_(begin) {}

  bool holds(std::size_t node) const { return word(node) != 0; }
  // Pointers are good until the next call that makes or takes a value.
  ArrayBase* find(std::size_t node) {
    const std::uint32_t at = word(node);
    if (at == 0) return nullptr;
    return at & is_number ? &put(node, take_number(node).array()) : &arrays_.of(at);
  }
  Number* find_number(std::size_t node) {
    const std::uint32_t at = word(node);
    return at & is_number ? &numbers_.of(at & ~is_number) : nullptr;
  }
  ArrayBase& put(std::size_t node, ArrayBase&& value) {
    const std::uint32_t at = arrays_.put(std::move(value));
    make_word(node) = at;
    return arrays_.of(at);
  }
  // The number there; one whose value is yet to be written, unless `present`; null where an array is there
  // that is more than a number of this type.
  Number* number_for(std::size_t node, DType dtype, bool& present) {
    const std::uint32_t at = word(node);
    if (at == 0) return &make_number(node, dtype);
    present = true;
    if (!(at & is_number) && !becomes_number(node, dtype)) return nullptr;
    return &numbers_.of(word(node) & ~is_number);
  }
  void reserve_numbers(int count) {
    std::vector<Number>& all = numbers_.values;
    if (all.capacity() - all.size() < static_cast<std::size_t>(count)) [[unlikely]]
      all.reserve(2 * all.size() + static_cast<std::size_t>(count));
  }
  ArrayBase take(std::size_t node) {
    if (find_number(node)) return take_number(node).array();
    return arrays_.take(std::exchange(word_[node - begin_], 0));
  }
  Number take_number(std::size_t node) {
    return numbers_.take(std::exchange(word_[node - begin_], 0) & ~is_number);
  }

 private:
  static constexpr std::uint32_t is_number = 1u << 31;

  template <class T>
  struct Pool {
    std::vector<T> values;
    std::vector<std::uint32_t> free;

    T& of(std::uint32_t at) { return values[at - 1]; }
    std::uint32_t make() {
      if (free.empty()) {
        values.emplace_back();
        return static_cast<std::uint32_t>(values.size());
      }
      const std::uint32_t at = free.back();
      free.pop_back();
      return at;
    }
    std::uint32_t put(T&& value) {
      const std::uint32_t at = make();
      of(at) = std::move(value);
      return at;
    }
    T take(std::uint32_t at) {
      free.push_back(at);
      return std::move(of(at));
    }
  };

  [[gnu::noinline]] bool becomes_number(std::size_t node, DType dtype) {
    const ArrayBase& array = arrays_.of(word(node));
    if (!layout_of(array).shape.empty() || array.dtype() != dtype || !ArrayAccess::buffer(array) ||
        on_accelerator(array))
      return false;
    const Number number(dtype, raw_data(array));
    take(node);
    make_number(node, dtype) = number;
    return true;
  }
  Number& make_number(std::size_t node, DType dtype) {
    const std::uint32_t at = numbers_.make();
    make_word(node) = at | is_number;
    Number& number = numbers_.of(at);
    number.dtype = dtype;
    return number;
  }
  std::uint32_t word(std::size_t node) const {
    const std::size_t i = node - begin_;
    return i < word_.size() ? word_[i] : 0;
  }
  std::uint32_t& make_word(std::size_t node) {
    const std::size_t i = node - begin_;
    if (i >= word_.size()) [[unlikely]]
      grow(i);
    return word_[i];
  }
  [[gnu::noinline]] void grow(std::size_t i) { word_.resize(std::max(i + 1, 2 * word_.size()), 0); }

  std::size_t begin_;
  std::vector<std::uint32_t> word_;
  Pool<ArrayBase> arrays_;
  Pool<Number> numbers_;
};

}  // namespace nax::detail
