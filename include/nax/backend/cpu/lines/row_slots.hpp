#pragma once

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/loops/row_functions.hpp"

// Functions of rows that the host's operations find by kind and dtype; defined in row_kernels.hpp.
NAX_BEGIN
namespace cpu {

using loops::RowFunction;
using RowKernelFunction = void(const loops::Rows&, const char* const* from, char* const* to);

template <RowFunction kind>
struct RowKernel {
  static constexpr const char* name = loops::name_of(kind);
  using Function = RowKernelFunction;
  template <class T>
  static void run(const loops::Rows& rows, const char* const* from, char* const* to);
};

// Softmax, log_softmax or logsumexp of rows of an expression, a block at a time; of row_kernels.hpp as well.
struct SoftmaxBlockKernel {
  static constexpr const char* name = "softmax";
  using Function = void(RowFunction, const void* rows, void* out, std::int64_t count, std::int64_t n);
  template <class T>
  static void run(RowFunction kind, const void* rows, void* out, std::int64_t count, std::int64_t n);
};

inline RowKernelFunction* row_kernel(RowFunction kind, DType dtype) {
  switch (kind) {
#define NAX_ROWS(name)    \
  case RowFunction::name: \
    return kernel_for<RowKernel<RowFunction::name>>(dtype);
    NAX_ROW_FUNCTIONS(NAX_ROWS)
#undef NAX_ROWS
  }
  return nullptr;
}

}  // namespace cpu
NAX_END
