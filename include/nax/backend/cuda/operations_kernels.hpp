#pragma once

#include <algorithm>

#include "nax/backend/cuda/copy_kernels.hpp"
#include "nax/backend/cuda/matmul_kernels.hpp"
#include "nax/backend/cuda/operations.hpp"
#include "nax/backend/cuda/reduce_kernels.hpp"

// The operations, as launches of their kernels.
namespace nax::cuda {

class KernelOperations final : public Operations {
 public:
  void copy(Device device, const Dims& shape, const cpu::Operand& from, const cpu::Operand& to) override {
    launch_copy(device, shape, from, to);
  }
  void reduce(Device device, ReduceKind kind, const Dims& shape, const Dims& reduced,
              const cpu::Operand& from, const cpu::Operand& to) override {
    launch_reduce(device, kind, shape, reduced, from, to);
  }
  void arg_reduce(Device device, bool greatest, const Dims& shape, const Dims& reduced,
                  const cpu::Operand& from, const cpu::Operand& to) override {
    launch_arg_reduce(device, greatest, shape, reduced, from, to);
  }
  void matmul(Device device, DType dtype, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
              const Matrix& a, const Matrix& b, const Matrix& c, bool accumulate) override {
    launch_matmul(device, dtype, batch, m, n, k, a, b, c, accumulate);
  }
};

}  // namespace nax::cuda
