#pragma once

#include "nax/expr/evaluation/deferred_product.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase array_of_product(std::unique_ptr<DeferredProduct> product, Frame frame, DType dtype,
                                      Device device) {
  const std::size_t bytes = static_cast<std::size_t>(frame.size()) * dtype_size(dtype);
  BufferRef buffer(Buffer::wrap(std::move(product), bytes, device));
  return ArrayAccess::make(std::move(buffer), Layout::contiguous(std::move(frame)), dtype);
}

}  // namespace detail
NAX_END
