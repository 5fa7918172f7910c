#pragma once

#include "nax/parallel/product_over_devices.hpp"

NAX_BEGIN
namespace detail {

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

}  // namespace detail
NAX_END
