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

// Values at places counted from 1; 0 is none.
class ArrayPool {
 public:
  ArrayBase& of(std::uint32_t at) { return values_[at - 1]; }
  std::uint32_t put(ArrayBase&& value) {
    if (free_.empty()) {
      values_.push_back(std::move(value));
      return static_cast<std::uint32_t>(values_.size());
    }
    const std::uint32_t at = free_.back();
    free_.pop_back();
    of(at) = std::move(value);
    return at;
  }
  ArrayBase take(std::uint32_t at) {
    free_.push_back(at);
    return std::move(of(at));
  }

 private:
  std::vector<ArrayBase> values_;
  std::vector<std::uint32_t> free_;
};
class NumberPool {
 public:
  Number& of(std::uint32_t at) { return values_[at - 1]; }
  std::uint32_t make(DType dtype) {
    const std::uint32_t at = free_ ? free_ : grow();
    Number& number = of(at);
    if (free_) free_ = number.next;
    number.dtype = dtype;
    return at;
  }
  Number take(std::uint32_t at) {
    const Number number = of(at);
    of(at).next = std::exchange(free_, at);
    return number;
  }
  // The next `count` that are made leave the others where they are.
  void reserve(int count) {
    if (values_.capacity() - values_.size() < static_cast<std::size_t>(count)) [[unlikely]]
      values_.reserve(2 * values_.size() + static_cast<std::size_t>(count));
  }

 private:
  [[gnu::noinline]] std::uint32_t grow() {
    values_.emplace_back();
    return static_cast<std::uint32_t>(values_.size());
  }
  std::vector<Number> values_;
  std::uint32_t free_ = 0;
};

class Slots {
 public:
  explicit Slots(std::size_t begin) : begin_(begin) {}

  bool holds(std::size_t node) const { return word(node) != 0; }
  bool holds_number(std::size_t node) const { return word(node) & is_number; }
  // Pointers are good until the next call that makes or takes a value.
  ArrayBase* find(std::size_t node) {
    const std::uint32_t at = word(node);
    if (at == 0) return nullptr;
    return at & is_number ? &put(node, take_number(node).array()) : &arrays_.of(at);
  }
  ArrayBase& put(std::size_t node, ArrayBase&& value) {
    const std::uint32_t at = arrays_.put(std::move(value));
    own_word(node) = at;
    return arrays_.of(at);
  }
  // The number there; one whose value is yet to be written, unless `present`; null where an array is there
  // that is more than a number of this type.
  Number* number_for(std::size_t node, DType dtype, bool& present) {
    std::uint32_t& at = own_word(node);
    if (at == 0)
      at = numbers_.make(dtype) | is_number;
    else if (present = true; !(at & is_number) && !becomes_number(at, dtype)) [[unlikely]]
      return nullptr;
    return &numbers_.of(at & ~is_number);
  }
  void reserve_numbers(int count) { numbers_.reserve(count); }
  ArrayBase take(std::size_t node) {
    if (holds_number(node)) return take_number(node).array();
    return arrays_.take(std::exchange(word_[node - begin_], 0));
  }
  Number take_number(std::size_t node) {
    return numbers_.take(std::exchange(word_[node - begin_], 0) & ~is_number);
  }

 private:
  static constexpr std::uint32_t is_number = 1u << 31;

  [[gnu::noinline]] bool becomes_number(std::uint32_t& at, DType dtype) {
    const ArrayBase& array = arrays_.of(at);
    if (!layout_of(array).shape.empty() || array.dtype() != dtype || !ArrayAccess::buffer(array) ||
        on_accelerator(array))
      return false;
    const Number number(dtype, raw_data(array));
    arrays_.take(at);
    at = numbers_.make(dtype);
    numbers_.of(at) = number;
    at |= is_number;
    return true;
  }
  std::uint32_t word(std::size_t node) const {
    const std::size_t i = node - begin_;
    return i < word_.size() ? word_[i] : 0;
  }
  std::uint32_t& own_word(std::size_t node) {
    const std::size_t i = node - begin_;
    if (i >= word_.size()) [[unlikely]]
      grow(i);
    return word_[i];
  }
  [[gnu::noinline]] void grow(std::size_t i) { word_.resize(std::max(i + 1, 2 * word_.size()), 0); }

  std::size_t begin_;
  std::vector<std::uint32_t> word_;
  ArrayPool arrays_;
  NumberPool numbers_;
};

}  // namespace nax::detail
