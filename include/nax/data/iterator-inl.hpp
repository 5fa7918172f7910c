#pragma once

#include "nax/data/iterator.hpp"

NAX_BEGIN
namespace data {

NAX_ENGINE std::int64_t Position::count() const { return numbers_.size() == 2 ? number(0) : 0; }

NAX_ENGINE Position::Position(std::int64_t count, std::uint64_t print)
    : numbers_(nax::detail::typed<std::int64_t>(
          nax::detail::allocate_on_host(DType::int64, Frame{Shape{2}, {}}))) {
  auto* out = nax::detail::elements<std::int64_t>(numbers_);
  out[0] = count;
  out[1] = static_cast<std::int64_t>(print);
}

NAX_ENGINE std::uint64_t Position::print() const {
  return numbers_.size() == 2 ? static_cast<std::uint64_t>(number(1)) : 0;
}

}  // namespace data
NAX_END
