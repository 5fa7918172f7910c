#pragma once

#include "nax/core/rounded.hpp"
#include "nax/modules/image/resize.hpp"

NAX_BEGIN
namespace image::detail {

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
    const double centre = nax::detail::rounded((static_cast<double>(i) + 0.5) * scale);
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

}  // namespace image::detail
NAX_END
