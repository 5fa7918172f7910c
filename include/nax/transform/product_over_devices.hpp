#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "nax/collective/communicator.hpp"
#include "nax/expr/deferred_product.hpp"

namespace nax::inline NAX_ABI::detail {

// The sum over devices of products that nobody has asked for yet, as one of the devices has it. When they
// want it the devices compute it together: each a part of the rows, which it hands to all, so that gradients
// are neither stored nor read. All must want it, and several of them in the same order. Whoever wants it
// again computes it alone.
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

}  // namespace nax::inline NAX_ABI::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::detail {

NAX_ENGINE void ProductOverDevices::for_each_run(const Take& take) const {
  if (done_.exchange(true)) return hand_out(0, 1, take);
  const Wanted mine{this, &take};
  communicator_.work_together(rank_, "psum", &mine, [&](const std::vector<const void*>& everyone) {
    for (const void* one : everyone)
      if (!is_same(*static_cast<const Wanted*>(one)->product))
        throw ValueError("psum: devices use gradients in different orders");
    hand_out(rank_, static_cast<int>(everyone.size()),
             [&](std::int64_t first, std::int64_t count, const char* elements) {
               for (const void* one : everyone)
                 (*static_cast<const Wanted*>(one)->take)(first, count, elements);
             });
  });
}

NAX_ENGINE BufferRef ProductOverDevices::gathered() const {
  const ArrayBase& like = everyone_[0];
  BufferRef block(Buffer::allocate(like.nbytes(), like.device()));
  char* const to = static_cast<char*>(block->data());
  const std::int64_t element = static_cast<std::int64_t>(dtype_size(like.dtype()));
  for_each_run([&](std::int64_t first, std::int64_t count, const char* elements) {
    std::memcpy(to + first * element, elements, static_cast<std::size_t>(count * element));
  });
  return block;
}

NAX_ENGINE ArrayBase product_over_devices(Communicator& communicator, int rank,
                                          std::vector<ArrayBase> everyone, double factor) {
  const ArrayBase mine = everyone[static_cast<std::size_t>(rank)];
  return array_of_product(
      std::make_unique<ProductOverDevices>(communicator, rank, std::move(everyone), factor), layout_of(mine),
      mine.dtype(), mine.device());
}

}  // namespace nax::inline NAX_ABI::detail
#endif
