#pragma once

#include <memory>

#include "nax/core/array_base.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/core/gathered.hpp"

// Deferred products of two matrices: an array like any other, whose elements are computed when their address
// is first needed. Code that uses each of them once (a step of an optimiser) gets them row by row instead,
// and the product is never stored.
NAX_BEGIN
namespace detail {

class DeferredProduct : public GatheredOnce {
 public:
  // `count` elements from `first` on, in row-major order
  using Take = FunctionRef<void(std::int64_t first, std::int64_t count, const char* elements)>;

  // Each element once, from several threads at a time.
  virtual void for_each_run(const Take& take) const = 0;
};

// One whose operands are known: several of them add up to one product, that of their operands side by side.
class AddableProduct : public DeferredProduct {
 public:
  // Visits the runs of the sum of `count` products like this one, of one shape and type, times `factor`. Of
  // its rows those of part `part` of `parts`.
  virtual void for_each_run_of_sum(const AddableProduct* const* products, int count, double factor, int part,
                                   int parts, const Take& take) const = 0;
};

// The product that a whole array waits for, if it is a Product; null for any other array.
template <class Product = DeferredProduct>
const Product* deferred_product_of(const ArrayBase& a) {
  const BufferRef& buffer = ArrayAccess::buffer(a);
  if (!buffer || !buffer->source || ArrayAccess::offset(a) != 0 || !layout_of(a).is_contiguous())
    return nullptr;
  return dynamic_cast<const Product*>(buffer->source);
}

// An array over `frame` that waits for `product`, of whose type it is.
NAX_ENGINE ArrayBase array_of_product(std::unique_ptr<DeferredProduct> product, Frame frame, DType dtype,
                                      Device device);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/evaluation/deferred_product-inl.hpp"
#endif
