#pragma once

#include <memory>

#include "nax/backend/cpu/gemm.hpp"
#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/backend/cpu/units.hpp"
#include "nax/core/array.hpp"
#include "nax/expr/evaluation/deferred_product.hpp"

NAX_BEGIN
namespace detail {

// The product of two matrices on the host, not computed yet.
template <class T>
class MatrixProduct final : public AddableProduct {
 public:
  // Does it pay to wait? The gradient of a layer's weights after a batch that is small beside them: the
  // product is larger than what it is made of.
  static bool pays(std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr std::int64_t few = 1 << 18, narrow = 256;
    return m * n >= few && n >= narrow && k <= cpu::most_depth_of_rows<T> && m * n >= k * (m + n);
  }

  // a: (m, k), b: (k, n), on the host
  MatrixProduct(const ArrayBase& a, const ArrayBase& b) : a_(a), b_(b) {}

  void for_each_run(const Take& take) const override {
    cpu::gemm_rows<T>(rows(), columns(), depth(), matrix(a_), matrix(b_),
                      [&](std::int64_t i, std::int64_t j, std::int64_t count, const T* elements) {
                        take(i * columns() + j, count, reinterpret_cast<const char*>(elements));
                      });
  }
  void for_each_run_of_sum(const AddableProduct* const* products, int count, double factor, int part,
                           int parts, const Take& take) const override {
    const std::int64_t begin = rows() * part / parts, height = rows() * (part + 1) / parts - begin;
    const std::int64_t width = columns();
    if (height == 0) return;
    std::int64_t depth = 0;
    for (int p = 0; p < count; ++p) depth += of(products[p]).depth();
    const cpu::Scratch<T> left(depth * height), right(depth * width);
    std::int64_t at = 0;
    for (int p = 0; p < count; ++p) {
      const cpu::Strided<const T> a = matrix(of(products[p]).a_).at(begin, 0), b = matrix(of(products[p]).b_);
      for (std::int64_t l = 0; l < of(products[p]).depth(); ++l, ++at) {
        cpu::copy_run<T>(a.at(0, l).data, a.row, left.data() + at * height, 1, height);
        cpu::copy_run<T>(b.at(l, 0).data, b.column, right.data() + at * width, 1, width);
      }
    }
    simd::scale_run(static_cast<T>(factor), left.data(), depth * height);
    if (depth <= cpu::most_depth_of_rows<T>)
      return cpu::gemm_rows<T>(height, width, depth, {left.data(), 1, height}, {right.data(), width, 1},
                               [&](std::int64_t i, std::int64_t j, std::int64_t n, const T* elements) {
                                 take((begin + i) * width + j, n, reinterpret_cast<const char*>(elements));
                               });
    const cpu::Scratch<T> all(height * width);
    cpu::gemm<T>(height, width, depth, left.data(), 1, height, right.data(), width, 1, all.data(), width, 1,
                 false);
    take(begin * width, height * width, reinterpret_cast<const char*>(all.data()));
  }

 private:
  static const MatrixProduct& of(const AddableProduct* product) {
    return static_cast<const MatrixProduct&>(*product);
  }
  std::int64_t rows() const { return layout_of(a_).shape[0]; }
  std::int64_t columns() const { return layout_of(b_).shape[1]; }
  std::int64_t depth() const { return layout_of(b_).shape[0]; }
  static cpu::Strided<const T> matrix(const ArrayBase& x) {
    return {reinterpret_cast<const T*>(raw_data(x)), layout_of(x).strides[0], layout_of(x).strides[1]};
  }

  BufferRef gathered() const override {
    BufferRef block(Buffer::allocate(static_cast<std::size_t>(rows() * columns()) * sizeof(T), a_.device()));
    const cpu::Strided<const T> a = matrix(a_), b = matrix(b_);
    cpu::gemm<T>(rows(), columns(), depth(), a.data, a.row, a.column, b.data, b.row, b.column,
                 static_cast<T*>(block->data()), columns(), 1, false);
    return block;
  }

  const ArrayBase a_, b_;
};

template <class T>
Array<T> deferred_product(const Array<T>& a, const Array<T>& b) {
  Frame frame;
  frame.shape.push_back(layout_of(a).shape[0]);
  frame.shape.push_back(layout_of(b).shape[1]);
  return typed<T>(array_of_product(std::make_unique<MatrixProduct<T>>(constant(a), constant(b)),
                                   std::move(frame), dtype_of<T>, a.device()));
}

// A product that waits for its elements, where that pays; false where it does not.
struct LaterKernel {
  static constexpr const char* name = "matmul";
  using Function = bool(const ArrayBase& a, const ArrayBase& b, ArrayBase& result);
  template <class T>
  static bool run(const ArrayBase& a, const ArrayBase& b, ArrayBase& result) {
    if (!MatrixProduct<T>::pays(layout_of(a).shape[0], layout_of(b).shape[1], layout_of(a).shape[1]))
      return false;
    result = deferred_product<T>(typed<T>(a), typed<T>(b));
    return true;
  }
};

}  // namespace detail
NAX_END
