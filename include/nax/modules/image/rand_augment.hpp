#pragma once

#include "nax/modules/image/enhance.hpp"
#include "nax/random/key.hpp"

// Random changes of images, of a strength that one number says.
NAX_BEGIN
namespace image {

struct RandAugmentOptions {
  int operations = 2;  // changes one after another
  int magnitude = 9;   // 0 to 30
  int fill = 0;        // the byte of pixels from outside
};
// Some changes of an image of bytes (height, width, 3), drawn by a key out of fourteen: none, shears,
// translations and a rotation, brightness, saturation, contrast and sharpness, posterize, solarize,
// autocontrast and equalize, with torchvision's strengths (Cubuk and others 2020). The result has the shape
// of x; a batch (..., height, width, 3) is changed alike, map over keys for changes of their own. Throws
// ShapeError unless x has three channels, and ValueError for options out of range.
NAX_ENGINE Array<std::uint8_t> rand_augment(const random::Key& key, const Array<std::uint8_t>& x,
                                            const RandAugmentOptions& options = {});

}  // namespace image
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/image/rand_augment-inl.hpp"
#endif
