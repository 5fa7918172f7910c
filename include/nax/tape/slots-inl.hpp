#pragma once

#include <algorithm>
#include <cstring>

#include "nax/core/per_thread.hpp"
#include "nax/tape/slots.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::uint32_t ArrayPool::put(ArrayBase&& value) {
  if (free_.empty()) {
    values_.push_back(std::move(value));
    return static_cast<std::uint32_t>(values_.size() - 1);
  }
  const std::uint32_t at = free_.back();
  free_.pop_back();
  of(at) = std::move(value);
  return at;
}
NAX_ENGINE ArrayBase ArrayPool::take(std::uint32_t at) {
  free_.push_back(at);
  return std::move(of(at));
}
NAX_ENGINE void ArrayPool::clear() {
  values_.clear();
  free_.clear();
}

NAX_ENGINE Slots::Room::Room(Room&& other) noexcept
    : size(std::exchange(other.size, 0)),
      used(std::exchange(other.used, 0)),
      kinds(std::exchange(other.kinds, nullptr)),
      values(std::exchange(other.values, nullptr)),
      arrays(std::move(other.arrays)) {}
NAX_ENGINE Slots::Room& Slots::Room::operator=(Room&& other) noexcept {
  std::swap(size, other.size);
  std::swap(used, other.used);
  std::swap(kinds, other.kinds);
  std::swap(values, other.values);
  std::swap(arrays, other.arrays);
  return *this;
}
NAX_ENGINE Slots::Room::~Room() {
  delete[] kinds;
  delete[] values;
}
NAX_COMPILED_ONCE void Slots::Room::grow(std::size_t i) {
  const std::size_t larger = std::max({i + 1, 2 * size, std::size_t{64}});
  auto new_values = std::unique_ptr<Value[]>(new Value[larger]);
  auto new_kinds = std::make_unique<Kind[]>(larger);
  std::copy_n(values, used, new_values.get());
  std::copy_n(kinds, used, new_kinds.get());
  delete[] std::exchange(values, new_values.release());
  delete[] std::exchange(kinds, new_kinds.release());
  size = larger;
}
NAX_ENGINE void Slots::Room::clear() {
  std::fill_n(kinds, used, Kind::none);
  used = 0;
  arrays.clear();
}

NAX_ENGINE Slots::Room& Slots::spare() { return per_thread<Room>(); }
NAX_ENGINE Slots::Slots(std::size_t begin) : begin_(begin), room_(std::move(spare())) {}
NAX_ENGINE Slots::~Slots() {
  if (room_.size > most_kept) return;
  room_.clear();
  spare() = std::move(room_);
}

NAX_ENGINE ArrayBase* Slots::find(std::size_t node) {
  const Kind found = kind(node);
  if (found == Kind::none) return nullptr;
  return found == Kind::array ? &room_.arrays.of(place(node)) : &put(node, take_number(node).array(device));
}
NAX_ENGINE ArrayBase& Slots::put(std::size_t node, ArrayBase&& value) {
  room_.reach(node - begin_);
  room_.kinds[node - begin_] = Kind::array;
  place(node) = room_.arrays.put(std::move(value));
  return room_.arrays.of(place(node));
}
NAX_ENGINE ArrayBase Slots::take(std::size_t node) {
  if (holds_number(node)) return take_number(node).array(device);
  room_.kinds[node - begin_] = Kind::none;
  return room_.arrays.take(place(node));
}
NAX_COMPILED_ONCE bool Slots::becomes_number(std::size_t node, DType dtype) {
  const ArrayBase& array = room_.arrays.of(place(node));
  if (!layout_of(array).shape.empty() || array.dtype() != dtype || !ArrayAccess::buffer(array) ||
      !is_readable(array))
    return false;
  const ArrayBase taken = room_.arrays.take(place(node));
  std::memcpy(bytes(node), raw_data(taken), dtype_size(dtype));
  room_.kinds[node - begin_] = kind_of(dtype);
  return true;
}

}  // namespace detail
NAX_END
