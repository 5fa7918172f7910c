#pragma once

#include <cstdlib>
#include <optional>

#include "nax/core/error.hpp"

NAX_BEGIN
namespace cuda {

inline constexpr int most_devices = 64;

// Reads NAX_CUDA_DEVICES from the environment. Throws ValueError where it is not a number from 1 to 64.
inline std::optional<int> requested_devices() {
  const char* text = std::getenv("NAX_CUDA_DEVICES");
  if (!text) return std::nullopt;
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || count < 1 || count > most_devices)
    raise<ValueError>({"NAX_CUDA_DEVICES: must be a number from 1 to ", most_devices, ", not '", text, "'"});
  return static_cast<int>(count);
}

}  // namespace cuda
NAX_END
