#include <gtest/gtest.h>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/views/copy.hpp"
#include "table/checks.hpp"

namespace table {
namespace {

enum class Lie { permuted, strided, reversed, repeated };

// Copies an operand into another layout; `repeated`: the first row for all, by a stride of 0.
Real relaid(const Real& x, Lie lie) {
  const nax::Layout own = nax::Layout::contiguous(nax::Frame{x.shape(), {}});
  const std::size_t n = own.shape.size();
  const Numbers numbers = x.to_vector();
  nax::Layout layout = own;
  std::int64_t offset = 0, size = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t axis = lie == Lie::permuted ? i : n - 1 - i;
    const std::int64_t extent = own.shape[axis];
    if (lie == Lie::permuted || lie == Lie::reversed) layout.strides[axis] = size;
    if (lie == Lie::strided) layout.strides[axis] = 2 * size;
    if (lie == Lie::reversed) {
      layout.strides[axis] = -size;
      offset += (extent - 1) * size;
    }
    size *= extent * (lie == Lie::strided ? 2 : 1);
  }
  if (x.size() == 0) return x;
  if (lie == Lie::repeated) {
    if (n > 0) layout.strides[0] = 0;
    return nax::detail::typed<double>(nax::detail::view(array_of(own.shape, numbers), layout));
  }
  if (lie == Lie::strided) offset = n == 0 ? 0 : 1;
  Numbers to(static_cast<std::size_t>(size + 1), std::nan(""));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = offset;
    for (std::size_t axis = n; axis-- > 0; rest /= own.shape[axis])
      at += rest % own.shape[axis] * layout.strides[axis];
    to[static_cast<std::size_t>(at)] = numbers[i];
  }
  return nax::detail::typed<double>(nax::detail::view(array_of(Dims(1, size + 1), to), layout, offset));
}

}  // namespace

void check_layouts(const Row& row, const Operands& x, Random& random) {
  for (const Lie lie : {Lie::permuted, Lie::strided, Lie::reversed, Lie::repeated}) {
    SCOPED_TRACE("layout " + std::to_string(static_cast<int>(lie)));
    Operands views, rows;
    for (const Real& a : x) {
      views.push_back(relaid(a, lie));
      rows.push_back(array_of(a.shape(), views.back().to_vector()));
      if (lie == Lie::repeated) continue;
      ASSERT_EQ(rows.back().to_vector(), a.to_vector());
    }
    const Real y = row.f(rows);
    expect_close("value", row.f(views), y, kExact);
    if (row.smooth == Smooth::no || lie == Lie::repeated) continue;  // repeated elements may tie
    const Real w = relaid(array_of(Operand{y.shape(), -1, 1}, random), lie);
    expect_close("gradient", gradient(row.f, views, w), gradient(row.f, rows, w), kExact);
  }
}

}  // namespace table
