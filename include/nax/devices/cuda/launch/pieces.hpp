#pragma once

#include <cstring>

#include "nax/devices/cuda/launch/loop.hpp"

// Accesses of several elements at once: 16 bytes are the widest that a thread has.
NAX_BEGIN
namespace cuda {

inline constexpr int piece_bytes = 16;

// Some bytes that move in one access: in words, since the compiler takes an array of bytes apart and puts it
// together byte by byte.
template <int bytes>
struct alignas(bytes) Piece {
  using Word = std::conditional_t<bytes % 4 == 0, std::uint32_t,
                                  std::conditional_t<bytes % 2 == 0, std::uint16_t, std::uint8_t>>;
  Word words[bytes / static_cast<int>(sizeof(Word))];

  // The bytes at `data`, an address that bytes divide.
  static constexpr Piece load(const char* data) { return *reinterpret_cast<const Piece*>(data); }
  constexpr void store(char* data) const { *reinterpret_cast<Piece*>(data) = *this; }

  // Element j of those that lie in it.
  template <class T>
  constexpr T get(int j) const {
    T x;
    std::memcpy(&x, reinterpret_cast<const char*>(words) + j * static_cast<int>(sizeof(T)), sizeof(T));
    return x;
  }
  template <class T>
  constexpr void set(int j, const T& x) {
    std::memcpy(reinterpret_cast<char*>(words) + j * static_cast<int>(sizeof(T)), &x, sizeof(T));
  }
};

// f(type_identity of a piece of so many bytes).
template <class F>
void with_piece(std::size_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f(std::type_identity<Piece<1>>());
    case 2:
      return f(std::type_identity<Piece<2>>());
    case 4:
      return f(std::type_identity<Piece<4>>());
    case 8:
      return f(std::type_identity<Piece<8>>());
    default:
      return f(std::type_identity<Piece<16>>());
  }
}

// A loop whose positions are pieces of `per` elements along the last axis. An operand lies there in a row, at
// addresses that pieces may have, or is one element for all.
template <int operands>
struct PieceLoop {
  Loop<operands> pieces;
  std::int64_t elements;  // of the whole loop; the last piece of one that has a single axis may be cut short
  unsigned repeated;      // bit o: operand o is one element along the last axis
};

// A body of such a loop: what it loads and stores.
template <int operands, int per_piece>
struct PieceBody {
  static constexpr int per = per_piece;
  PieceLoop<operands> loop;

  // How many elements of the piece there are.
  constexpr int count(std::int64_t piece) const {
    const std::int64_t left = loop.elements - piece * per;
    return left < per ? static_cast<int>(left) : per;
  }
  // The elements of an operand, of so many bytes each.
  template <int bytes>
  constexpr void load(int operand, const char* at, int count, Piece<16>& to) const {
    using One = Piece<bytes>;
    if (loop.repeated >> operand & 1) {
      const One one = One::load(at);
      for (int j = 0; j < per; ++j) to.set(j, one);
    } else if (count == per) {
      to.set(0, Piece<per * bytes>::load(at));
    } else {
      for (int j = 0; j < per; ++j)
        if (j < count) to.set(j, One::load(at + j * bytes));
    }
  }
  template <int bytes>
  static constexpr void store(const Piece<16>& from, char* at, int count) {
    using One = Piece<bytes>;
    if (count == per) {
      from.template get<Piece<per * bytes>>(0).store(at);
    } else {
      for (int j = 0; j < per; ++j)
        if (j < count) from.template get<One>(j).store(at + j * bytes);
    }
  }
};

// Can the loop be taken in pieces? Fills `to` where it can. An operand without data does not take part.
template <int operands>
bool in_pieces(const Loop<operands>& loop, const loops::Operand* list, int per, PieceLoop<operands>& to) {
  const int last = loop.rank - 1;
  if (loop.rank > 1 && loop.shape[last] % per != 0) return false;
  to.pieces = loop;
  to.elements = loop.size;
  to.repeated = 0;
  for (int o = 0; o < operands; ++o) {
    if (!loop.data[o]) continue;
    const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(list[o].stored));
    if (loop.rank == 0 || loop.strides[o][last] == 0) {
      to.repeated |= 1u << o;
      continue;
    }
    if (loop.strides[o][last] != bytes) return false;
    std::uintptr_t steps = reinterpret_cast<std::uintptr_t>(loop.data[o]);
    for (int axis = 0; axis < last; ++axis) steps |= static_cast<std::uintptr_t>(loop.strides[o][axis]);
    if (steps % static_cast<std::uintptr_t>(per * bytes) != 0) return false;
    to.pieces.strides[o][last] = per * bytes;
  }
  if (loop.rank > 0) {
    to.pieces.shape[last] = (loop.shape[last] + per - 1) / per;
    to.pieces.count();
  }
  return true;
}

}  // namespace cuda
NAX_END
