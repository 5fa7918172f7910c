#pragma once

#include "nax/tape/slots.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::uint32_t ArrayPool::put(ArrayBase&& value) {
  if (free_.empty()) {
    values_.push_back(std::move(value));
    return static_cast<std::uint32_t>(values_.size() - 1);
  }
  const std::uint32_t at = free_.back();
  free_.pop_back();
  of(at) = std::move(value);
  return at;
}

}  // namespace detail
NAX_END
