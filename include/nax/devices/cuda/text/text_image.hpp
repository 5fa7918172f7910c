#pragma once

#include "nax/core/version.hpp"
#include "nax/devices/cuda/text/image_cache.hpp"
#include "nax/devices/cuda/text/nvrtc.hpp"

// The image of a kernel's text for an architecture, from the cache or by NVRTC.
NAX_BEGIN
namespace cuda {

// Everything that the image depends on.
inline std::string image_key(const std::string& text, const std::string& architecture,
                             const std::string& compiler) {
  std::string key = "nax " + std::to_string(NAX_VERSION_MAJOR) + "." + std::to_string(NAX_VERSION_MINOR) +
                    "." + std::to_string(NAX_VERSION_PATCH) + ", NVRTC " + compiler + ", " + architecture;
  for (const char* option : Nvrtc::options) key += std::string(" ") + option;
  return key + "\n" + text;
}

// Throws DeviceError where NVRTC is missing or refuses the text.
inline std::string image_of(const std::string& text, const std::string& architecture,
                            const ImageCache& cache) {
  const Nvrtc& nvrtc = Nvrtc::get();
  const std::string key = image_key(text, architecture, nvrtc.version());
  if (std::optional<std::string> kept = cache.read(key)) return *std::move(kept);
  std::string image = nvrtc.compile(text, architecture);
  cache.write(key, image);
  return image;
}

}  // namespace cuda
NAX_END
