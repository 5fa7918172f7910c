#pragma once

#include "nax/devices/cuda/places/gather_kernels.hpp"
#include "nax/devices/cuda/sort/sort_kernels.hpp"

// Bodies of kernels that write at places that an index array names (scatter_kernels.hpp says how).
NAX_BEGIN
namespace cuda {

// Ways to combine the values for one place.
template <class Unit>
struct WriteLast {
  static constexpr bool adds = false;
  constexpr void write(char* to, const char* value) const {
    *reinterpret_cast<Unit*>(to) = *reinterpret_cast<const Unit*>(value);
  }
};
template <class A>
struct AddAll {
  static constexpr bool adds = true;
  using Sum = std::conditional_t<std::is_integral_v<A>, std::uint64_t, A>;  // which wraps around
  DType from, to;
  constexpr Sum load(const char* place) const { return static_cast<Sum>(load_as<A>(to, place)); }
  constexpr Sum add(Sum sum, const char* value) const {
    return sum + static_cast<Sum>(load_as<A>(from, value));
  }
  constexpr void store(char* place, Sum sum) const { store_as<A>(to, place, static_cast<A>(sum)); }
};

struct ScatterAxes {
  Loop<3> moving;      // values, data, indices
  Loop<2> standing;    // values, indices
  std::int64_t scale;  // in bytes
  AnyDivisor by_moving;

  // Element i of the loop: its position along the standing axes, and where the moving ones are.
  constexpr std::int64_t locate(std::int64_t i, char* (&at)[3]) const {
    moving.locate_any(by_moving.split(i), at);
    return i;
  }

  constexpr std::int64_t index_at(const char* line, std::int64_t s) const {
    if (!line) return 0;
    return *reinterpret_cast<const std::int64_t*>(line + offset(1, s));
  }
  // Bytes from position 0 of the standing axes to position s.
  constexpr std::int64_t offset(int operand, std::int64_t s) const {
    char* at[2];
    standing.locate_any(s, at);
    return at[operand] - standing.data[operand];
  }
};

template <class Write>
struct ScatterBySearch {
  ScatterAxes axes;
  Write write;

  constexpr void operator()(std::int64_t i) const {
    char* at[3];
    const std::int64_t s = axes.locate(i, at), n = axes.standing.size;
    const char* const line = axes.moving.data[2] ? at[2] : nullptr;
    const std::int64_t index = axes.index_at(line, s);
    if (index == loops::dropped_index) return;
    char* const to = at[1] + index * axes.scale;
    if constexpr (Write::adds) {
      for (std::int64_t j = 0; j < s; ++j)
        if (axes.index_at(line, j) == index) return;
      auto sum = write.load(to);
      for (std::int64_t j = s; j < n; ++j)
        if (axes.index_at(line, j) == index) sum = write.add(sum, at[0] + axes.offset(0, j));
      write.store(to, sum);
    } else {
      for (std::int64_t j = s + 1; j < n; ++j)
        if (axes.index_at(line, j) == index) return;
      write.write(to, at[0] + axes.offset(0, s));
    }
  }
};

// The third operand of the moving axes is the line of sorted indices.
template <class Write, class Key>
struct ScatterSorted {
  ScatterAxes axes;
  Write write;
  KeyRun<Key> sorted;
  Key none;  // of a dropped index

  constexpr void operator()(std::int64_t i) const {
    char* at[3];
    const std::int64_t s = axes.locate(i, at), n = axes.standing.size;
    const Key* const keys = reinterpret_cast<const Key*>(at[2]);
    const std::int32_t* const places = sorted.places + (keys - sorted.keys);
    // Loads that do not wait for one another begin together.
    const Key key = keys[s], before = s > 0 ? keys[s - 1] : none, after = s + 1 < n ? keys[s + 1] : none;
    std::int32_t place = places[s];
    if (key == none || (Write::adds ? before : after) == key) return;
    char* const to = at[1] + static_cast<std::int64_t>(key) * axes.scale;
    if constexpr (Write::adds) {
      auto sum = write.load(to);
      bool more = after == key;
      for (std::int64_t j = s + 1;; ++j) {
        sum = write.add(sum, at[0] + axes.offset(0, place));
        if (!more) break;
        place = places[j];
        more = j + 1 < n && keys[j + 1] == key;
      }
      write.store(to, sum);
    } else {
      write.write(to, at[0] + axes.offset(0, place));
    }
  }
};

// Ways to combine values a piece at once, for ScatterSorted over pieces. `repeated`: a value is one element.
template <int bytes>
constexpr Piece<piece_bytes> piece_of_values(const char* value, bool repeated) {
  if (!repeated) return Piece<piece_bytes>::load(value);
  const Piece<bytes> one = Piece<bytes>::load(value);
  Piece<piece_bytes> all{};
  for (int j = 0; j < piece_bytes / bytes; ++j) all.set(j, one);
  return all;
}
template <int bytes>
struct WriteLastPiece {
  static constexpr bool adds = false;
  static constexpr int per = piece_bytes / bytes;
  bool repeated;
  constexpr void write(char* to, const char* value) const {
    piece_of_values<bytes>(value, repeated).store(to);
  }
};
template <class T>
struct AddAllPieces {
  static constexpr bool adds = true;
  static constexpr int per = piece_bytes / static_cast<int>(sizeof(T));
  using A = wide_t<T>;
  struct Sum {
    A of[per];
  };
  bool repeated;
  static constexpr A element(const Piece<piece_bytes>& piece, int j) {
    const T x = piece.template get<T>(j);
    return LoadAs<A>{reinterpret_cast<const char*>(&x)}(std::type_identity<T>());
  }
  constexpr Sum load(const char* place) const {
    const auto piece = Piece<piece_bytes>::load(place);
    Sum sum{};
    for (int j = 0; j < per; ++j) sum.of[j] = element(piece, j);
    return sum;
  }
  constexpr Sum add(Sum sum, const char* value) const {
    const auto piece = piece_of_values<sizeof(T)>(value, repeated);
    for (int j = 0; j < per; ++j) sum.of[j] = sum.of[j] + element(piece, j);
    return sum;
  }
  constexpr void store(char* place, const Sum& sum) const {
    Piece<piece_bytes> piece{};
    for (int j = 0; j < per; ++j) piece.set(j, static_cast<T>(sum.of[j]));
    piece.store(place);
  }
};

}  // namespace cuda
NAX_END
