#pragma once

#include <cstdint>

#include "nax/loops/operand.hpp"

// Reading and writing at places that an index array names.
//
// All is one loop over the selected values. At each position stand a value, an index, and a place in the
// data: that of the position's own coordinates plus index * scale. Axes that an operand has not are strides
// of 0, so that rows, single elements, batched indices and batched data are the same loop with other strides.
// Where no index takes part (a slice), it is one 0 with strides of 0.
NAX_BEGIN
namespace loops {

// An index that names no place: reads give 0 there, writes do nothing.
inline constexpr std::int64_t dropped_index = INT64_MIN;

struct SelectLoop {
  Dims shape;
  Operand operands[3];  // values, data, indices
  std::int64_t scale = 0;
  Dims extents, strides;  // of the data's axes along which an index moves: what it may name

  Operand& values() { return operands[0]; }
  Operand& data() { return operands[1]; }
  Operand& indices() { return operands[2]; }
};

}  // namespace loops
NAX_END
