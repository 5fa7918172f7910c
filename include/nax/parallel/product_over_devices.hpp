#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "nax/expr/evaluation/deferred_product.hpp"
#include "nax/parallel/communicator.hpp"

NAX_BEGIN
namespace detail {

// A deferred sum of products over devices, as one of the devices holds it. When it is asked for, the devices
// compute it together: each computes a part of the rows and hands it to all, so gradients are neither stored
// nor read. All devices must ask, for several sums in the same order. A device that asks again computes
// alone.
class ProductOverDevices final : public DeferredProduct {
 public:
  ProductOverDevices(Communicator& communicator, int rank, std::vector<ArrayBase> everyone, double factor)
      : communicator_(communicator), rank_(rank), everyone_(std::move(everyone)), factor_(factor) {}

  NAX_ENGINE_VIRTUAL void for_each_run(const Take& take) const override;
  bool done() const { return done_; }

 private:
  struct Wanted {
    const ProductOverDevices* product;
    const Take* take;
  };
  bool is_same(const ProductOverDevices& other) const {
    return ArrayAccess::buffer(everyone_[0]).get() == ArrayAccess::buffer(other.everyone_[0]).get();
  }

  // Part `part` of `parts`.
  void hand_out(int part, int parts, const Take& take) const {
    SmallVector<const AddableProduct*, 8> products;
    for (const ArrayBase& one : everyone_) products.push_back(deferred_product_of<AddableProduct>(one));
    products[0]->for_each_run_of_sum(products.data(), static_cast<int>(products.size()), factor_, part, parts,
                                     take);
  }
  NAX_ENGINE_VIRTUAL BufferRef gathered() const override;

  Communicator& communicator_;
  const int rank_;
  const std::vector<ArrayBase> everyone_;
  const double factor_;
  mutable std::atomic<bool> done_{false};
};

// Computes now what an array would compute together with other devices, if that has not been done.
inline void settle_product(const ArrayBase& a) {
  const auto* const product = deferred_product_of<ProductOverDevices>(a);
  if (product && !product->done()) raw_data(a);
}

// For Combine.
inline bool waits_for_product(const ArrayBase& a) { return deferred_product_of<AddableProduct>(a); }
NAX_ENGINE ArrayBase product_over_devices(Communicator& communicator, int rank,
                                          std::vector<ArrayBase> everyone, double factor);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/parallel/product_over_devices-inl.hpp"
#endif
