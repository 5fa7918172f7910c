#pragma once

#include <memory>
#include <mutex>

#include "nax/backend/cpu/gemm.hpp"
#include "nax/core/array.hpp"

// Products of two matrices that nobody has asked for yet: an array like any other, whose elements are
// computed when somebody first wants their address. Who uses each of them once (a step of an optimiser) gets
// them row by row instead, and the product is never stored.
namespace nax::detail {

class DeferredProduct : public BufferSource {
 public:
  // `count` elements from `first` on, in row-major order
  using Take = FunctionRef<void(std::int64_t first, std::int64_t count, const char* elements)>;

  // Each element once, from several threads at a time.
  virtual void for_each_run(const Take& take) const = 0;
  // Computes the sum of `count` products of one shape and type, which is one product: their operands side by
  // side. Of its rows those of part `part` of `parts`, multiplied by `factor`, into the array at `to`.
  virtual void add_up(const DeferredProduct* const* products, int count, double factor, int part, int parts,
                      char* to) const = 0;
};

template <class T>
class MatrixProduct final : public DeferredProduct {
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
    const std::int64_t columns = layout_of(b_).shape[1];
    cpu::gemm_rows<T>(layout_of(a_).shape[0], columns, depth(), matrix(a_), matrix(b_),
                      [&](std::int64_t i, std::int64_t j, std::int64_t count, const T* elements) {
                        take(i * columns + j, count, reinterpret_cast<const char*>(elements));
                      });
  }
  void add_up(const DeferredProduct* const* products, int count, double factor, int part, int parts,
              char* to) const override {
    const std::int64_t rows = layout_of(a_).shape[0], columns = layout_of(b_).shape[1];
    const std::int64_t begin = rows * part / parts, height = rows * (part + 1) / parts - begin;
    if (height == 0) return;
    std::int64_t depth = 0;
    for (int p = 0; p < count; ++p) depth += of(products[p]).depth();
    const cpu::Scratch<T> left(depth * height), right(depth * columns);
    std::int64_t at = 0;
    for (int p = 0; p < count; ++p) {
      const cpu::Strided<const T> a = matrix(of(products[p]).a_).at(begin, 0), b = matrix(of(products[p]).b_);
      for (std::int64_t l = 0; l < of(products[p]).depth(); ++l, ++at) {
        for (std::int64_t i = 0; i < height; ++i)
          left[at * height + i] = *a.at(i, l).data * static_cast<T>(factor);
        for (std::int64_t j = 0; j < columns; ++j) right[at * columns + j] = *b.at(l, j).data;
      }
    }
    cpu::gemm<T>(height, columns, depth, left.data(), 1, height, right.data(), columns, 1,
                 reinterpret_cast<T*>(to) + begin * columns, columns, 1, false);
  }
  void* gather() override {
    const std::lock_guard lock(mutex_);
    if (!block_) {
      const std::int64_t m = layout_of(a_).shape[0], n = layout_of(b_).shape[1];
      BufferRef block(Buffer::allocate(static_cast<std::size_t>(m * n) * sizeof(T), a_.device()));
      const cpu::Strided<const T> a = matrix(a_), b = matrix(b_);
      cpu::gemm<T>(m, n, depth(), a.data, a.row, a.column, b.data, b.row, b.column,
                   static_cast<T*>(block->data()), n, 1, false);
      block_ = std::move(block);
    }
    return block_->data();
  }

 private:
  static const MatrixProduct& of(const DeferredProduct* product) {
    return static_cast<const MatrixProduct&>(*product);
  }
  std::int64_t depth() const { return layout_of(b_).shape[0]; }
  static cpu::Strided<const T> matrix(const ArrayBase& x) {
    return {reinterpret_cast<const T*>(raw_data(x)), layout_of(x).strides[0], layout_of(x).strides[1]};
  }

  const ArrayBase a_, b_;
  std::mutex mutex_;
  BufferRef block_;
};

template <class T>
Array<T> deferred_product(const Array<T>& a, const Array<T>& b) {
  Frame frame;
  frame.shape.push_back(layout_of(a).shape[0]);
  frame.shape.push_back(layout_of(b).shape[1]);
  auto product = std::make_unique<MatrixProduct<T>>(constant(a), constant(b));
  BufferRef buffer(
      Buffer::wrap(product.get(), static_cast<std::size_t>(frame.size()) * sizeof(T), a.device()));
  product.release();
  return Array<T>(ArrayAccess::make(std::move(buffer), Layout::contiguous(std::move(frame)), dtype_of<T>));
}

// What a whole array is waiting for; null for any other.
inline const DeferredProduct* deferred_product_of(const ArrayBase& a) {
  const BufferRef& buffer = ArrayAccess::buffer(a);
  if (!buffer || !buffer->source || ArrayAccess::offset(a) != 0 || !layout_of(a).is_contiguous())
    return nullptr;
  return dynamic_cast<const DeferredProduct*>(buffer->source);
}

// The same for arrays of one shape and type; false, and nothing has happened, where one is no such product.
inline bool add_up_products(const ArrayBase* const* arrays, int count, double factor, int part,
                            const ArrayBase& to) {
  SmallVector<const DeferredProduct*, 8> products;
  for (int p = 0; p < count; ++p) {
    products.push_back(deferred_product_of(*arrays[p]));
    if (!products.back()) return false;
  }
  if (count == 0) return false;
  products[0]->add_up(products.data(), count, factor, part, count, raw_data(to));
  return true;
}

}  // namespace nax::detail
