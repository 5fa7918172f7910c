#pragma once

#include <atomic>

#include "nax/modules/training/tensorboard.hpp"

NAX_BEGIN
namespace training::detail {

NAX_ENGINE std::string event_file_name(const std::string& folder, const std::string& suffix) {
  static std::atomic<int> files{0};
  const std::string host = nax::detail::os::host_name();
  return folder + "/events.out.tfevents." + std::to_string(static_cast<std::int64_t>(wall_clock())) + '.' +
         (host.empty() ? "localhost" : host) + '.' + std::to_string(nax::detail::os::process_id()) + '.' +
         std::to_string(files.fetch_add(1)) + suffix;
}

NAX_ENGINE std::string summary_event(const ProtoWriter& value, std::int64_t step) {
  ProtoWriter summary, event;
  summary.message(1, value);
  event.fixed64(1, wall_clock());
  event.varint(2, static_cast<std::uint64_t>(step));
  event.message(5, summary);
  return event.str();
}

NAX_ENGINE ProtoWriter image_value(const std::string& tag, const std::vector<std::uint8_t>& pixels,
                                   const Shape& shape) {
  const bool grey = shape.size() == 2;
  const std::int64_t channels = grey ? 1 : shape.size() == 3 ? shape[2] : 0;
  if ((channels != 1 && channels != 3 && channels != 4) || shape[0] < 1 || shape[1] < 1)
    raise<ShapeError>(
        {"TensorBoard::image: needs (H, W) or (H, W, C) with 1, 3 or 4 channels, shape ", shape});
  ProtoWriter image, value;
  image.varint(1, static_cast<std::uint64_t>(shape[0]));
  image.varint(2, static_cast<std::uint64_t>(shape[1]));
  image.varint(3, static_cast<std::uint64_t>(channels));
  image.text(4, png_of(pixels.data(), shape[0], shape[1], channels));
  value.text(1, tag);
  value.message(4, image);
  return value;
}

NAX_ENGINE std::vector<std::uint8_t> pixels_of(const std::vector<double>& values) {
  std::vector<std::uint8_t> pixels;
  for (const double x : values)
    pixels.push_back(x > 0 ? static_cast<std::uint8_t>(std::lround(std::min(x, 1.0) * 255)) : 0);
  return pixels;
}

NAX_ENGINE ProtoWriter text_value(const std::string& tag, const std::string& text) {
  ProtoWriter plugin, metadata, dimension, shape, tensor, value;
  plugin.text(1, "text");
  metadata.message(1, plugin);
  dimension.varint(1, 1);
  shape.message(2, dimension);
  tensor.varint(1, 7);  // DT_STRING
  tensor.message(2, shape);
  tensor.text(8, text);
  value.text(1, tag);
  value.message(8, tensor);
  value.message(9, metadata);
  return value;
}

NAX_ENGINE std::string tag_of(const std::string& prefix, const std::string& path) {
  std::string tag = prefix;
  for (const char c : path) {
    if (c == '.' || c == '[') {
      if (!tag.empty()) tag += '/';
    } else if (c != ']' && c != '\'') {
      tag += c;
    }
  }
  return tag;
}

}  // namespace training::detail

namespace training {

NAX_ENGINE TensorBoard::TensorBoard(const std::string& folder, const TensorBoardOptions& options)
    : file_((io::detail::need_folder("TensorBoard", folder, "cannot be opened"),
             std::make_unique<detail::LogFile>("TensorBoard", detail::event_file_name(folder, options.suffix),
                                               options.flush_seconds))) {
  detail::ProtoWriter version;
  version.fixed64(1, detail::wall_clock());
  version.text(3, "brain.Event:2");
  file_->add(detail::framed(version.str()));
  file_->flush();
}

}  // namespace training
NAX_END
