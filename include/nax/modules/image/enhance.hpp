#pragma once

#include "nax/core/array.hpp"

// Images of bytes (..., height, width, channels), changed as Pillow does: each image and channel by itself.
// Factors are numbers or 0-d arrays, so that all of them map and are recorded.
NAX_BEGIN
namespace image {

// Black for a factor of 0, the image for 1. The result has the shape of x. Throws ShapeError for less than
// three axes.
NAX_ENGINE Array<std::uint8_t> adjust_brightness(const Array<std::uint8_t>& x, const Array<float>& factor);
// Its greys for a factor of 0, the image for 1. The result has the shape of x. Throws ShapeError unless x has
// three channels.
NAX_ENGINE Array<std::uint8_t> adjust_saturation(const Array<std::uint8_t>& x, const Array<float>& factor);
// Its mean grey for a factor of 0, the image for 1. The result has the shape of x. Throws ShapeError unless x
// has three channels.
NAX_ENGINE Array<std::uint8_t> adjust_contrast(const Array<std::uint8_t>& x, const Array<float>& factor);
// A smoothed image for a factor of 0, the image for 1. The result has the shape of x. Throws ShapeError for
// less than three axes.
NAX_ENGINE Array<std::uint8_t> adjust_sharpness(const Array<std::uint8_t>& x, const Array<float>& factor);
// The highest `bits` bits of each byte. The result has the shape of x. Throws ValueError unless 0 <= bits <=
// 8, and ShapeError for less than three axes.
NAX_ENGINE Array<std::uint8_t> posterize(const Array<std::uint8_t>& x, int bits);
// Bytes from the threshold on are inverted. The result has the shape of x. Throws ShapeError for less than
// three axes.
NAX_ENGINE Array<std::uint8_t> solarize(const Array<std::uint8_t>& x, int threshold);
// Each channel stretched from its least and largest byte to 0 and 255. The result has the shape of x. Throws
// ShapeError for less than three axes.
NAX_ENGINE Array<std::uint8_t> autocontrast(const Array<std::uint8_t>& x);
// Each channel mapped so that its bytes are spread evenly over 0 to 255. The result has the shape of x.
// Throws ShapeError for less than three axes.
NAX_ENGINE Array<std::uint8_t> equalize(const Array<std::uint8_t>& x);

struct AffineOptions {
  int fill = 0;  // the byte of pixels from outside
};
// The image whose pixel (row, column) is that of x which holds the point (a u + b v + c, d u + e v + f), for
// u, v = column + 1/2, row + 1/2 and the six numbers a to f of the matrix. The result has the shape of x.
// Throws ShapeError for less than three axes, and unless the matrix is (6,).
NAX_ENGINE Array<std::uint8_t> affine(const Array<std::uint8_t>& x, const Array<float>& matrix,
                                      const AffineOptions& options = {});

}  // namespace image
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/image/enhance-inl.hpp"
#endif
