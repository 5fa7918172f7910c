#pragma once

#include <cstdint>

#include "nax/backend/cpu/tiles.hpp"
#include "nax/backend/reduce_kind.hpp"
#include "nax/core/accelerator.hpp"

// What a GPU computes besides expressions: operations that know no type of C++, only dtypes. They are
// compiled once a program, in the source file that the target nax::cuda adds to it; all other files reach
// them through this interface, whichever compiler saw them.
//
// Operands are collapsed over `shape` by the callee; their data are addresses on `device`.
namespace nax::cuda {

using detail::ReduceKind;

// A matrix of a batch: element (i, j) of matrix b lies at data + (b * batch + i * row + j * column) elements.
struct Matrix {
  char* data;
  std::int64_t batch, row, column;
};

class Operations {
 public:
  // to = from, converting where the stored types differ.
  virtual void copy(Device device, const Dims& shape, const cpu::Operand& from, const cpu::Operand& to) = 0;

  // to = the reduction of `from` over the axes in which `to` has stride 0; `reduced` marks them. The
  // accumulators' type is that in which `to` is stored; no elements give the identity.
  virtual void reduce(Device device, ReduceKind kind, const Dims& shape, const Dims& reduced,
                      const cpu::Operand& from, const cpu::Operand& to) = 0;
  // to = the place along the marked axes, in row-major order, of the first greatest (least) element: int32.
  virtual void arg_reduce(Device device, bool greatest, const Dims& shape, const Dims& reduced,
                          const cpu::Operand& from, const cpu::Operand& to) = 0;

  // c = a b for each matrix of a batch; of (m, k), (k, n) and (m, n).
  virtual void matmul(Device device, DType dtype, std::int64_t batch, std::int64_t m, std::int64_t n,
                      std::int64_t k, const Matrix& a, const Matrix& b, const Matrix& c, bool accumulate) = 0;

 protected:
  ~Operations() = default;
};

inline constinit Operations* operations_slot = nullptr;
inline Operations& operations() { return *operations_slot; }

}  // namespace nax::cuda
