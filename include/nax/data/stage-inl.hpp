#pragma once

#include "nax/data/stage.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE void Fingerprint::add(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3u;
}

}  // namespace data::detail
NAX_END
