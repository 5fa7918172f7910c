#pragma once

#include "nax/core/array_base.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/core/gathered.hpp"

// Products of two matrices that nobody has asked for yet: an array like any other, whose elements are
// computed when somebody first wants their address. Who uses each of them once (a step of an optimiser) gets
// them row by row instead, and the product is never stored.
namespace nax::detail {

class DeferredProduct : public GatheredOnce {
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
