#pragma once

#include "nax/numpy/sorting/search.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE bool is_right(const char* function, std::string_view side) {
  if (side != "left" && side != "right")
    raise<ValueError>({function, ": side must be 'left' or 'right', got '", side, "'"});
  return side == "right";
}

}  // namespace detail
NAX_END
