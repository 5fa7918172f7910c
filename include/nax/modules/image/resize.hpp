#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/reshape.hpp"

// Images of another size: (..., height, width, channels).
NAX_BEGIN
namespace image {

struct ResizeOptions {
  std::string method = "bilinear";  // or "area" (the mean of the pixels whose middle a new one covers:
                                    // Pillow's box), "nearest"
  bool antialias = true;  // a smaller image: every pixel counts (PIL's way); false: only those next to it
};

namespace detail {

using namespace nax::detail;

// For each new pixel of an axis: the old ones that it is made of.
struct Taps {
  std::int64_t in = 0, most = 0;
  std::vector<std::int64_t> first, count;
  std::vector<float> weights;  // `most` for each
};

// Pillow's: the filter is as wide as a new pixel is in old ones, at least as wide as it is itself; pixels
// beyond the edge do not count. Throws ValueError for a method that there is not.
NAX_ENGINE Taps taps_of(std::int64_t in, std::int64_t out, const ResizeOptions& options);

// The taps as a matrix of shape (out, in).
NAX_ENGINE Array<float> matrix_of(const Taps& taps);

// One image of bytes: rows first, each into floats, then columns.
NAX_ENGINE void resize_bytes(const std::uint8_t* in, std::uint8_t* out, std::int64_t in_width,
                             std::int64_t channels, const Taps& rows, const Taps& columns);

NAX_ENGINE void check_image(const char* function, const ArrayBase& x);

// By two products, which differentiate and map.
template <class T>
Array<T> resize_by_products(const Array<T>& x, const Taps& rows, const Taps& columns) {
  const auto height = static_cast<std::int64_t>(rows.first.size()),
             width = static_cast<std::int64_t>(columns.first.size());
  Shape wide = x.shape(), flat = x.shape();
  const std::size_t axis = wide.size() - 3;
  const Array<T> across = matrix_of(columns).template astype<T>(),
                 down = matrix_of(rows).template astype<T>();
  const Array<T> lines = matmul(across, x);  // (..., height, new width, channels)
  flat.pop_back();
  flat[axis + 1] = width * x.shape(-1);
  wide[axis] = height, wide[axis + 1] = width;
  return matmul(down, lines.reshape(flat)).reshape(wide);
}

}  // namespace detail

// The image or images x, (..., height, width, channels), at another size: bytes come back as bytes, rounded
// (within one level of Pillow's), floating numbers as such. Throws ShapeError for what is no image,
// ValueError for a size below 1 and an unknown method. Bytes have no derivative; floating images have.
template <Dtype T>
Array<T> resize(const Array<T>& x, const Shape& size, const ResizeOptions& options = {}) {
  using namespace nax::detail;
  static_assert(std::is_same_v<T, std::uint8_t> || is_floating_v<T>,
                "resize: images are of uint8 or floating numbers");
  detail::check_image("resize", x);
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    raise<ValueError>({"resize: the size must be (height, width), both at least 1, not ", size});
  const std::int64_t height = x.shape(-3), width = x.shape(-2), channels = x.shape(-1);
  if (height < 1 || width < 1) raise<ShapeError>({"resize: the image has no pixels, shape ", x.shape()});
  const detail::Taps rows = detail::taps_of(height, size[0], options),
                     columns = detail::taps_of(width, size[1], options);
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (!is_known(x)) {
      using Floats = nax::detail::where_used_t<Array<float>, T>;
      const Floats resized = detail::resize_by_products(x.template astype<float>(), rows, columns);
      return Floats(clip(rint(resized), 0.f, 255.f)).template astype<std::uint8_t>();
    }
    const Array<T> whole = nax::detail::typed<T>(contiguous(x));
    Frame frame = layout_of(whole);
    frame.shape[frame.shape.size() - 3] = size[0], frame.shape[frame.shape.size() - 2] = size[1];
    Array<T> result = nax::detail::typed<T>(allocate_on_host(DType::uint8, frame));
    const std::int64_t image = height * width * channels, resized = size[0] * size[1] * channels;
    const std::int64_t count = image == 0 ? 0 : whole.size() / image;
    const auto* in = elements<const std::uint8_t>(whole);
    auto* out = elements<std::uint8_t>(result);
    parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        detail::resize_bytes(in + i * image, out + i * resized, width, channels, rows, columns);
    });
    return result;
  } else {
    return detail::resize_by_products(x, rows, columns);
  }
}

}  // namespace image
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/image/resize-inl.hpp"
#endif
