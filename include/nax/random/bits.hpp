#pragma once

#include "nax/random/key.hpp"

NAX_BEGIN
namespace random {
// Uniformly distributed bits, as unsigned integers of shape `shape`. Throws ValueError for more than one key.
template <class U = std::uint32_t>
requires(is_integer_v<U> && !std::is_signed_v<U>) Array<U> bits(const Key& key, const Shape& shape = {}) {
  return detail::draw<detail::DrawKind::bits, U>("bits", key, shape);
}

}  // namespace random
NAX_END
