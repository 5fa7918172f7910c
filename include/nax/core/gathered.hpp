#pragma once

#include <mutex>

#include "nax/core/buffer.hpp"

NAX_BEGIN
namespace detail {

// Pieces that are brought together once, by the first who asks.
class GatheredOnce : public BufferSource {
 public:
  void* gather() final {
    const std::lock_guard lock(mutex_);
    if (!block_) block_ = gathered();
    return block_->data();
  }

 private:
  virtual BufferRef gathered() const = 0;

  std::mutex mutex_;
  BufferRef block_;
};

}  // namespace detail
NAX_END
