#pragma once

#include "nax/backend/cpu/factor/system_kernels.hpp"
#include "nax/backend/cpu/factor/triangle_kernel.hpp"
#include "nax/numpy/products/matmul.hpp"

// Shared by the functions of linalg: square matrices in the last two axes, all axes before them a batch.
NAX_BEGIN
namespace detail {

template <class T>
inline constexpr bool is_linalg_v = std::is_same_v<T, float> || std::is_same_v<T, double> || is_complex_v<T>;

// Integers are computed as float.
template <class X>
using linalg_t = inexact_t<typename X::value_type>;

// At the door: square matrices on a device that has factorisations.
NAX_ENGINE void check_square(const char* function, const ArrayBase& a);

// Factors the matrices of a into these results, of which some may be null.
NAX_ENGINE void factorise(loops::Factoring what, const ArrayBase& a,
                          std::initializer_list<const ArrayBase*> results);

// The lower or upper triangle, the diagonal times `diagonal`; zeros elsewhere. Linear, and recorded.
NAX_ENGINE ArrayBase triangle(const ArrayBase& x, bool lower, double diagonal);
template <class T>
Array<T> triangle(const Array<T>& x, bool lower, T diagonal) {
  cpu::provide<cpu::FactorKernel<loops::Factorisation::triangle>, T>();
  return typed<T>(triangle(handle_of(x), lower, static_cast<double>(std::real(diagonal))));
}

// Offsets of the matrices of an operand over the batches of a result.
class BatchWalk {
 public:
  // `all`: the leading axes of the result; `from`: the operand, its matrix in the last `tail` axes.
  BatchWalk(const Layout& from, const Frame& all, std::size_t tail) : shape_(all.shape) {
    Layout leading = from;
    for (std::size_t i = 0; i < tail; ++i) leading.shape.pop_back(), leading.strides.pop_back();
    strides_ = strides_over(leading, all);
  }
  std::int64_t at(std::int64_t batch) const {
    if (shape_.size() == 1) return batch * strides_[0];
    std::int64_t offset = 0;
    for (std::size_t axis = shape_.size(); axis-- > 0; batch /= shape_[axis])
      offset += batch % shape_[axis] * strides_[axis];
    return offset;
  }

 private:
  Dims shape_, strides_;
};

using cpu::detail::gather_matrix;

// f(first batch, one past the last) on several threads where the work is worth it.
template <class F>
void for_each_batch(std::int64_t batches, std::int64_t n, const F& f) {
  parallel_for(batches, 1 + (std::int64_t{1} << 15) / (n * n * n + 1), f);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/linalg/matrices-inl.hpp"
#endif
