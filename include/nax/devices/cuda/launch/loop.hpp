#pragma once

#include <algorithm>
#include <bit>
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

// Divides 32-bit numbers below 2^31 by one that the host knows: by multiplication, since a GPU has no
// instruction that divides (Granlund and Montgomery 1994).
struct Divisor {
  std::uint32_t magic = 1, shift = 0;

  constexpr Divisor() = default;
  // Precondition: 0 < by <= 2^31.
  constexpr explicit Divisor(std::uint32_t by) : shift(static_cast<std::uint32_t>(std::bit_width(by - 1))) {
    const std::uint64_t rest = (std::uint64_t{1} << shift) - by;
    magic = static_cast<std::uint32_t>((rest << 32) / by + 1);
  }
  constexpr std::uint32_t quotient(std::uint32_t i) const {
    return (static_cast<std::uint32_t>((std::uint64_t{i} * magic) >> 32) + i) >> shift;
  }
};

// Divides numbers >= 0 of any size by one that the host knows: those below 2^31 by multiplication. (A GPU
// takes some 70 instructions for a division of 64 bits.)
struct AnyDivisor {
  std::int64_t by = 1;
  Divisor narrow;

  constexpr AnyDivisor() = default;
  // 0 is taken, as an extent of loops without elements; nothing is divided by it.
  constexpr explicit AnyDivisor(std::int64_t divisor)
      : by(divisor), narrow(divisor > 0 && divisor < most ? static_cast<std::uint32_t>(divisor) : 1) {}
  constexpr std::int64_t quotient(std::int64_t i) const {
    if (i < most && by < most) return narrow.quotient(static_cast<std::uint32_t>(i));
    return i / by;
  }
  // Replaces i by its quotient, and returns the remainder.
  constexpr std::int64_t split(std::int64_t& i) const {
    const std::int64_t whole = quotient(i), rest = i - whole * by;
    i = whole;
    return rest;
  }

 private:
  static constexpr std::int64_t most = std::int64_t{1} << 31;
};

template <int operands>
struct Loop {
  static constexpr std::int64_t most_narrow = std::int64_t{1} << 31;

  int rank = 0;
  std::int64_t size = 1;
  std::int64_t shape[most_axes];
  std::int64_t strides[operands][most_axes];  // in bytes
  char* data[operands];
  Divisor divisors[most_axes];  // by the extents of all axes but the first, where the loop is narrow

  // Can 32-bit numbers count the positions? (Those of one axis are not divided, and may be more.)
  constexpr bool narrow() const { return rank < 2 || size <= most_narrow; }

  // Where element i of the loop lies in each operand. Precondition: narrow().
  constexpr void locate(std::int64_t i, char* (&at)[operands]) const {
    for (int o = 0; o < operands; ++o) at[o] = data[o];
    if (rank > 1) {
      std::uint32_t rest = static_cast<std::uint32_t>(i);
      for (int axis = rank - 1; axis > 0; --axis) {
        const std::uint32_t outer = divisors[axis].quotient(rest);
        const std::int64_t index = rest - outer * static_cast<std::uint32_t>(shape[axis]);
        for (int o = 0; o < operands; ++o) at[o] += index * strides[o][axis];
        rest = outer;
      }
      i = rest;
    }
    if (rank > 0)
      for (int o = 0; o < operands; ++o) at[o] += i * strides[o][0];
  }
  // As locate(), for loops of any size.
  constexpr void locate_any(std::int64_t i, char* (&at)[operands]) const {
    if (narrow()) return locate(i, at);
    for (int o = 0; o < operands; ++o) at[o] = data[o];
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int axis = rank - 1; axis > 0; --axis) {
      const std::int64_t outer = i / shape[axis], index = i - outer * shape[axis];
      for (int o = 0; o < operands; ++o) at[o] += index * strides[o][axis];
      i = outer;
    }
    for (int o = 0; o < operands; ++o) at[o] += i * strides[o][0];
  }

  // Makes the size and the divisors of the extents.
  constexpr void count() {
    size = 1;
    for (int axis = 0; axis < rank; ++axis) size *= shape[axis];
    if (size == 0 || !narrow()) return;
    for (int axis = 1; axis < rank; ++axis) divisors[axis] = Divisor(static_cast<std::uint32_t>(shape[axis]));
  }
};

// `list`: `count` operands, collapsed over `shape`; the loop's others have no data.
template <int operands>
Loop<operands> make_loop(const Dims& shape, const loops::Operand* list, int count = operands) {
  if (shape.size() > static_cast<std::size_t>(most_axes))
    raise<DeviceError>({"a loop over ", shape.size(),
                        " axes that do not merge is more than a kernel of the GPU takes, ", most_axes});
  Loop<operands> loop;
  loop.rank = static_cast<int>(shape.size());
  for (int axis = 0; axis < loop.rank; ++axis) loop.shape[axis] = shape[axis];
  loop.count();
  for (int o = 0; o < operands; ++o) {
    loop.data[o] = o < count ? list[o].data : nullptr;
    for (int axis = 0; axis < loop.rank; ++axis)
      loop.strides[o][axis] =
          o < count ? list[o].strides[axis] * static_cast<std::int64_t>(dtype_size(list[o].stored)) : 0;
  }
  return loop;
}

// f(loop) for narrow loops that are parts of this one: itself, or the halves of its longest axis.
template <int operands, class F>
void for_each_narrow(const Loop<operands>& loop, const F& f,
                     std::int64_t most = Loop<operands>::most_narrow) {
  if (loop.size == 0) return;
  if (loop.rank < 2 || loop.size <= most) return f(loop);
  const int axis = static_cast<int>(std::max_element(loop.shape, loop.shape + loop.rank) - loop.shape);
  Loop<operands> half = loop;
  half.shape[axis] = loop.shape[axis] / 2;
  half.count();
  for_each_narrow(half, f, most);
  for (int o = 0; o < operands; ++o)
    if (half.data[o]) half.data[o] += half.shape[axis] * loop.strides[o][axis];
  half.shape[axis] = loop.shape[axis] - half.shape[axis];
  half.count();
  for_each_narrow(half, f, most);
}

}  // namespace cuda
NAX_END
