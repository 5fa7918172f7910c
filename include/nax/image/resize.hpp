#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/reshape.hpp"

// Images of another size: (..., height, width, channels).
namespace nax::inline NAX_ABI::image {

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
    if (is_transformed(x) || on_accelerator(x)) {
      const Array<float> resized = detail::resize_by_products(x.template astype<float>(), rows, columns);
      return Array<float>(clip(rint(resized), 0.f, 255.f)).template astype<std::uint8_t>();
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

}  // namespace nax::inline NAX_ABI::image

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::image::detail {

NAX_ENGINE Taps taps_of(std::int64_t in, std::int64_t out, const ResizeOptions& options) {
  const bool nearest = options.method == "nearest", area = options.method == "area";
  if (!nearest && !area && options.method != "bilinear")
    raise<ValueError>(
        {"resize: no method '", options.method, "'; there are 'bilinear', 'area' and 'nearest'"});
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double width = options.antialias || area ? std::max(scale, 1.0) : 1.0;
  const double support = (area ? 0.5 : 1.0) * width;
  Taps taps;
  taps.in = in;
  taps.most = nearest ? 1 : static_cast<std::int64_t>(std::ceil(support)) * 2 + 1;
  taps.weights.assign(static_cast<std::size_t>(out * taps.most), 0.f);
  for (std::int64_t i = 0; i < out; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    if (nearest) {
      taps.first.push_back(std::min(static_cast<std::int64_t>(centre), in - 1));
      taps.count.push_back(1);
      taps.weights[static_cast<std::size_t>(i)] = 1;
      continue;
    }
    const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(centre - support + 0.5));
    const auto end = std::min(in, static_cast<std::int64_t>(centre + support + 0.5));
    float* const weights = taps.weights.data() + i * taps.most;
    double sum = 0;
    for (std::int64_t k = first; k < end; ++k) {
      const double away = (static_cast<double>(k) + 0.5 - centre) / width;
      const double weight = area ? (away > -0.5 && away <= 0.5 ? 1 : 0) : std::max(0.0, 1 - std::abs(away));
      weights[k - first] = static_cast<float>(weight);
      sum += weight;
    }
    for (std::int64_t k = first; k < end; ++k)
      weights[k - first] = static_cast<float>(weights[k - first] / sum);
    taps.first.push_back(first);
    taps.count.push_back(end - first);
  }
  return taps;
}

NAX_ENGINE Array<float> matrix_of(const Taps& taps) {
  const auto out = static_cast<std::int64_t>(taps.first.size());
  Array<float> matrix =
      nax::detail::typed<float>(allocate_on_host(DType::float32, Frame{Shape{out, taps.in}, {}}));
  auto* to = elements<float>(matrix);
  std::fill(to, to + out * taps.in, 0.f);
  for (std::int64_t i = 0; i < out; ++i)
    for (std::int64_t k = 0; k < taps.count[static_cast<std::size_t>(i)]; ++k)
      to[i * taps.in + taps.first[static_cast<std::size_t>(i)] + k] =
          taps.weights[static_cast<std::size_t>(i * taps.most + k)];
  return nax::detail::typed<float>(placed(std::move(matrix)));
}

NAX_ENGINE void resize_bytes(const std::uint8_t* in, std::uint8_t* out, std::int64_t in_width,
                             std::int64_t channels, const Taps& rows, const Taps& columns) {
  const auto height = static_cast<std::int64_t>(rows.first.size()),
             width = static_cast<std::int64_t>(columns.first.size());
  const std::int64_t line = width * channels;
  // Of the input's rows only those that are in use, each once: a ring of as many as one new row needs.
  std::vector<float> lines(static_cast<std::size_t>(rows.most * line)), sum(static_cast<std::size_t>(line));
  std::int64_t ready = 0;  // rows below this are in the ring, or will not be needed again
  for (std::int64_t y = 0; y < height; ++y) {
    const std::int64_t first = rows.first[static_cast<std::size_t>(y)],
                       count = rows.count[static_cast<std::size_t>(y)];
    for (ready = std::max(ready, first); ready < first + count; ++ready) {
      const std::uint8_t* const from = in + ready * in_width * channels;
      float* const to = lines.data() + ready % rows.most * line;
      for (std::int64_t x = 0; x < width; ++x) {
        const std::uint8_t* pixel = from + columns.first[static_cast<std::size_t>(x)] * channels;
        const float* weight = columns.weights.data() + x * columns.most;
        const std::int64_t n = columns.count[static_cast<std::size_t>(x)];
        if (channels == 3) {
          float r = 0, g = 0, b = 0;
          for (std::int64_t k = 0; k < n; ++k, pixel += 3) {
            r += weight[k] * pixel[0];
            g += weight[k] * pixel[1];
            b += weight[k] * pixel[2];
          }
          to[3 * x] = r, to[3 * x + 1] = g, to[3 * x + 2] = b;
        } else {
          for (std::int64_t c = 0; c < channels; ++c) {
            float total = 0;
            for (std::int64_t k = 0; k < n; ++k) total += weight[k] * pixel[k * channels + c];
            to[x * channels + c] = total;
          }
        }
      }
    }
    std::fill(sum.begin(), sum.end(), 0.5f);  // rounds
    for (std::int64_t k = 0; k < count; ++k) {
      const float weight = rows.weights[static_cast<std::size_t>(y * rows.most + k)];
      const float* const from = lines.data() + (first + k) % rows.most * line;
      for (std::int64_t x = 0; x < line; ++x) sum[static_cast<std::size_t>(x)] += weight * from[x];
    }
    for (std::int64_t x = 0; x < line; ++x)
      out[y * line + x] = static_cast<std::uint8_t>(std::clamp(sum[static_cast<std::size_t>(x)], 0.f, 255.f));
  }
}

NAX_ENGINE void check_image(const char* function, const ArrayBase& x) {
  check_operand(function, x);
  if (x.ndim() < 3)
    raise<ShapeError>({function, ": an image is (..., height, width, channels), shape ", x.shape()});
}

}  // namespace nax::inline NAX_ABI::image::detail
#endif
