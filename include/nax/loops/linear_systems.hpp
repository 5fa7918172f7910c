#pragma once

#include <cstdint>

#include "nax/core/layout.hpp"

NAX_BEGIN
namespace loops {

// Of triangular matrices the other triangle is not read, nor the diagonal of unit ones.
enum class SystemKind : std::uint8_t { general, lower, upper, unit_lower, unit_upper };

constexpr bool is_lower(SystemKind kind) {
  return kind == SystemKind::lower || kind == SystemKind::unit_lower;
}
constexpr bool is_unit(SystemKind kind) {
  return kind == SystemKind::unit_lower || kind == SystemKind::unit_upper;
}
// The kind of the transposed matrices.
constexpr SystemKind transposed(SystemKind kind) {
  switch (kind) {
    case SystemKind::general:
      break;
    case SystemKind::lower:
      return SystemKind::upper;
    case SystemKind::upper:
      return SystemKind::lower;
    case SystemKind::unit_lower:
      return SystemKind::unit_upper;
    case SystemKind::unit_upper:
      return SystemKind::unit_lower;
  }
  return kind;
}

// Matrices of a batch, by strides in elements: `batch` has one for each axis of the batch.
struct StridedMatrices {
  std::int64_t row = 0, column = 0;
  Dims batch;

  // The offset of matrix `number` of a batch of these extents.
  std::int64_t at(std::int64_t number, const Dims& extents) const {
    if (extents.size() == 1) return number * batch[0];
    std::int64_t offset = 0;
    for (std::size_t axis = extents.size(); axis-- > 0; number /= extents[axis])
      offset += number % extents[axis] * batch[axis];
    return offset;
  }
};

// Describes systems a x = b of a batch: a (n, n); b and x (n, m). The x are row-major, one after the other.
struct LinearSystems {
  SystemKind kind = SystemKind::general;
  std::int64_t n = 0, m = 0;
  Dims batches;
  StridedMatrices a, b;

  std::int64_t count() const {
    std::int64_t all = 1;
    for (const std::int64_t extent : batches) all *= extent;
    return all;
  }
};

}  // namespace loops
NAX_END
