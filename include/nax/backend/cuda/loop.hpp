#pragma once

#include <type_traits>

#include "nax/core/error.hpp"
#include "nax/loops/operand.hpp"

// A loop nest as a kernel gets it: by value, without pointers to host memory.
//
// The extents and strides are those of loops::Operand after collapsing: neighbouring axes that every operand
// walks as one are merged, so that most loops have one axis.
NAX_BEGIN
namespace cuda {

inline constexpr int most_axes = 8;
inline constexpr std::uintptr_t piece_bytes = 16;  // the widest access of a thread

template <int operands>
struct Loop {
  int rank = 0;
  std::int64_t size = 1;
  std::int64_t shape[most_axes];
  std::int64_t strides[operands][most_axes];  // in bytes
  char* data[operands];

  // Where element i of the loop lies in each operand.
  constexpr void locate(std::int64_t i, char* (&at)[operands]) const {
    for (int o = 0; o < operands; ++o) at[o] = data[o];
    for (int axis = rank - 1; axis > 0; --axis) {
      const std::int64_t outer = quotient(i, shape[axis]), index = i - outer * shape[axis];
      for (int o = 0; o < operands; ++o) at[o] += index * strides[o][axis];
      i = outer;
    }
    if (rank > 0)
      for (int o = 0; o < operands; ++o) at[o] += i * strides[o][0];
  }

 private:
  // Division of 64 bits takes a GPU long.
  static constexpr std::int64_t quotient(std::int64_t i, std::int64_t by) {
    return ((i | by) >> 32) == 0 ? static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(by) : i / by;
  }
};

// `list`: as many operands, collapsed over `shape`.
template <int operands>
Loop<operands> make_loop(const Dims& shape, const loops::Operand* list) {
  if (shape.size() > static_cast<std::size_t>(most_axes))
    raise<DeviceError>({"a loop over ", shape.size(),
                        " axes that do not merge is more than a kernel of the GPU takes, ", most_axes});
  Loop<operands> loop;
  loop.rank = static_cast<int>(shape.size());
  for (int axis = 0; axis < loop.rank; ++axis) loop.size *= loop.shape[axis] = shape[axis];
  for (int o = 0; o < operands; ++o) {
    loop.data[o] = list[o].data;
    for (int axis = 0; axis < loop.rank; ++axis)
      loop.strides[o][axis] = list[o].strides[axis] * static_cast<std::int64_t>(dtype_size(list[o].stored));
  }
  return loop;
}

// Is the loop one run, in which each operand is read in a row from an aligned address, or is one element for
// all? (An operand without data does not take part.)
template <int operands>
bool is_flat(const Loop<operands>& loop, const loops::Operand* list) {
  if (loop.rank > 1) return false;
  for (int o = 0; o < operands; ++o) {
    if (!loop.data[o] || loop.rank == 0 || loop.strides[o][0] == 0) continue;
    if (loop.strides[o][0] != static_cast<std::int64_t>(dtype_size(list[o].stored)) ||
        reinterpret_cast<std::uintptr_t>(loop.data[o]) % piece_bytes != 0)
      return false;
  }
  return true;
}

// Some bytes that move in one access.
template <std::size_t bytes>
struct alignas(bytes) Piece {
  unsigned char at[bytes];
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

}  // namespace cuda
NAX_END
