#pragma once

#include "nax/modules/data/pack.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE ArrayBase packed_leaf(const std::vector<LeafView>& leaves, std::size_t stride, std::size_t j,
                                 const std::vector<RowSpan>& spans, std::int64_t length, const void* value) {
  const ArrayBase& first = *leaves[j].array;
  Frame frame{first.shape(), {}};
  frame.shape[0] = length;
  ArrayBase result = allocate_on_host(first.dtype(), frame);
  if (result.size() == 0) return result;
  const std::size_t row = bytes_of(result) / static_cast<std::size_t>(length),
                    item = dtype_size(first.dtype());
  char* to = raw_data(result);
  char* const end = to + bytes_of(result);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const ArrayBase& own = *leaves[i * stride + j].array;
    Shape shape = own.shape();
    shape[0] = length;
    if (shape != frame.shape)
      raise<ShapeError>(
          {"pack: sequences 0 and ", i, " of a row have shapes ", first.shape(), " and ", own.shape()});
    const ArrayBase from = contiguous(own, transforms_handled);
    const std::size_t bytes = static_cast<std::size_t>(spans[i].count) * row;
    std::memcpy(to, raw_data(from) + static_cast<std::size_t>(spans[i].begin) * row, bytes);
    to += bytes;
  }
  for (; to < end; to += item) std::memcpy(to, value, item);
  return result;
}

NAX_ENGINE std::pair<Array<int>, Array<int>> segments_of(const std::vector<RowSpan>& spans,
                                                         std::int64_t length) {
  const Frame frame{Shape{length}, {}};
  auto segments = nax::detail::typed<int>(allocate_on_host(DType::int32, frame));
  auto positions = nax::detail::typed<int>(allocate_on_host(DType::int32, frame));
  auto *segment = elements<int>(segments), *position = elements<int>(positions);
  std::int64_t at = 0;
  int id = 0;
  for (const RowSpan& span : spans) {
    ++id;
    for (std::int64_t k = 0; k < span.count; ++k, ++at) segment[at] = id, position[at] = static_cast<int>(k);
  }
  for (; at < length; ++at) segment[at] = position[at] = 0;
  return {std::move(segments), std::move(positions)};
}

}  // namespace data::detail
NAX_END
