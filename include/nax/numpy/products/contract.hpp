#pragma once

#include <memory>

#include "nax/backend/cpu/gemm/product_kernel.hpp"
#include "nax/expr/differentiation/wrt_operand.hpp"
#include "nax/expr/evaluation/number_kernels.hpp"
#include "nax/numpy/views/transpose.hpp"

// Products of matrices: one primitive, `contract`, that is its own derivative.
//
// contract(a, b, target) multiplies the last two axes of a and b and broadcasts those before them, hidden and
// visible; then it sums over every leading axis that `target` has not (a hidden one it lacks, a visible one
// of extent 1). The derivative of a is contract(g, b^T, the axes of a), and likewise for b; so the gradient
// of a weight that was shared by a batch is one product, never a gradient for each example and then a sum.
//
// Leading axes disappear into the product where strides allow: into its rows where b is the same for all,
// into its columns where a is, into the summed index where target has them not. What is left is a batch of
// products.
NAX_BEGIN
namespace detail {

using loops::BatchAxis, loops::Product;

// bool is multiplied as int: true where any pair of elements is.
template <class T>
using product_t = std::conditional_t<std::is_same_v<T, bool>, std::int32_t, T>;

// Provides the kernels of products of arrays of T and of their derivatives.
template <class T>
void provide_products() {
  cpu::provide<cpu::MatmulKernel, product_t<T>>();
  if constexpr (is_inexact_v<T>) cpu::provide<ScaledKernel, T>();
}

// Lets the product swallow the axis; false where strides forbid it.
NAX_ENGINE bool fold_axis(Product& p, const BatchAxis& x);

// The axes of the last two dimensions gone.
NAX_ENGINE Frame leading_axes(const Frame& x);
// The frame of the leading axes broadcast, followed by (m, n).
NAX_ENGINE Frame product_frame(const char* function, const Frame& a, const Frame& b);
// The axes that a share of x's has, when the other side brought some that the primal result had not.
NAX_ENGINE Frame with_new_levels(const Frame& value, const Frame& primal, const Frame& other);

// Of two arrays of one type.
NAX_ENGINE ArrayBase contract(const ArrayBase& a, const ArrayBase& b, const Frame& target);
template <class T>
Array<T> contract(const Array<T>& a, const Array<T>& b, const Frame& target) {
  provide_products<T>();
  return typed<T>(contract(handle_of(a), handle_of(b), target));
}

// sum += contract(a, b, target), in place, where the sum lies on a GPU in memory of its own and no transform
// watches; false, and does nothing, where not.
NAX_ENGINE bool contract_into(ArrayBase& sum, const ArrayBase& a, const ArrayBase& b, const Frame& target);

// x with `leading` axes of extent 1 before its visible ones and perhaps one behind.
NAX_ENGINE ArrayBase with_unit_axes(const ArrayBase& x, int leading, bool behind);
template <class T>
Array<T> with_unit_axes(const Array<T>& x, int leading, bool behind) {
  return typed<T>(with_unit_axes(handle_of(x), leading, behind));
}

[[noreturn, gnu::cold]] inline void throw_inner(const char* function, const Shape& a, const Shape& b) {
  raise<ShapeError>({function, ": inner dimensions differ: ", a, " x ", b});
}

NAX_ENGINE ArrayBase matmul_arrays(const char* function, const ArrayBase& a, const ArrayBase& b);
template <class T>
Array<T> matmul_arrays(const char* function, const Array<T>& a, const Array<T>& b) {
  provide_products<T>();
  return typed<T>(matmul_arrays(function, handle_of(a), handle_of(b)));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/products/contract-inl.hpp"
#endif
