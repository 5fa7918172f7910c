#pragma once

#include "nax/numpy/manipulation/pack_bits.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Array<std::uint8_t> bit_places(const char* function, std::string_view bitorder) {
  if (bitorder != "big" && bitorder != "little")
    raise<ValueError>({function, ": 'bitorder' must be either 'big' or 'little', not '", bitorder, "'"});
  const bool big = bitorder == "big";
  return generated_on_host<std::uint8_t>(
      function, 8, [big](std::int64_t i) { return static_cast<std::uint8_t>(big ? 7 - i : i); });
}

}  // namespace detail
NAX_END
