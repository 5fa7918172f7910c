#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "nax/tape/number.hpp"

// Values that travel with a sweep (cotangents, tangents): for each node of a range nothing, an array or a
// number. A node has one byte that says which, and eight that are read only then: the number itself, or the
// array's place in a pool, since most nodes of a long tape hold no array at any time. A number becomes an
// array when the array is asked for.
NAX_BEGIN
namespace detail {

class ArrayPool {
 public:
  ArrayBase& of(std::uint32_t at) { return values_[at]; }
  std::uint32_t put(ArrayBase&& value);
  ArrayBase take(std::uint32_t at);
  void clear();

 private:
  std::vector<ArrayBase> values_;
  std::vector<std::uint32_t> free_;
};

class Slots {
 public:
  explicit Slots(std::size_t begin);
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  Device device{};  // of arrays that numbers become

  bool holds(std::size_t node) const { return kind(node) != Kind::none; }
  bool holds_number(std::size_t node) const { return kind(node) > Kind::array; }
  // Pointers are good until the next call that makes or takes a value.
  ArrayBase* find(std::size_t node);
  ArrayBase& put(std::size_t node, ArrayBase&& value);
  ArrayBase take(std::size_t node);
  void put_number(std::size_t node, Number number) {
    room_.reach(node - begin_);
    room_.kinds[node - begin_] = kind_of(number.dtype);
    number.give(bytes(node), false);
  }
  // It stays where it is until something is put there.
  Number take_number(std::size_t node) {
    const Kind was = std::exchange(room_.kinds[node - begin_], Kind::none);
    return {bytes(node), was == Kind::single ? DType::float32 : DType::float64};
  }
  // The number of a node that lies before one which has held something. Null where an array is there that is
  // more than a number of this type; yet to be written, unless `present`.
  void* number_for(std::size_t node, DType dtype, bool& present) {
    Kind& kind = room_.kinds[node - begin_];
    if (kind == Kind::none)
      kind = kind_of(dtype);
    else if (present = true; kind == Kind::array && !becomes_number(node, dtype)) [[unlikely]]
      return nullptr;
    return bytes(node);
  }

 private:
  enum class Kind : std::uint8_t { none, array, single, wide };
  struct Value {
    alignas(8) unsigned char bytes[8];
  };
  static constexpr std::size_t most_kept = 4096;

  // The memory of slots, which the next sweep of the thread takes over.
  struct Room {
    std::size_t size = 0, used = 0;  // `kinds` is none from `used` on
    Kind* kinds = nullptr;
    Value* values = nullptr;
    ArrayPool arrays;

    Room() = default;
    Room(Room&& other) noexcept;
    Room& operator=(Room&& other) noexcept;
    ~Room();
    void reach(std::size_t i) {
      if (i < used) return;
      if (i >= size) [[unlikely]]
        grow(i);
      used = i + 1;
    }
    void grow(std::size_t i);
    void clear();
  };
  static Room& spare();

  static Kind kind_of(DType dtype) { return dtype == DType::float32 ? Kind::single : Kind::wide; }
  Kind kind(std::size_t node) const {
    const std::size_t i = node - begin_;
    return i < room_.used ? room_.kinds[i] : Kind::none;
  }
  unsigned char* bytes(std::size_t node) { return room_.values[node - begin_].bytes; }
  std::uint32_t& place(std::size_t node) { return *reinterpret_cast<std::uint32_t*>(bytes(node)); }
  bool becomes_number(std::size_t node, DType dtype);

  std::size_t begin_;
  Room room_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/tape/slots-inl.hpp"
#endif
