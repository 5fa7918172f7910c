#pragma once

#include "nax/transform/sharded.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void* ShardSource::gather() {
  const std::lock_guard lock(mutex_);
  if (block_) return block_->data();
  std::size_t bytes = 0;
  for (const ArrayBase& shard : shards_) bytes += bytes_of(shard);
  const Device device = shards_[0].device();
  BufferRef block(Buffer::allocate(bytes, device));
  char* to = static_cast<char*>(block->data());
  for (const ArrayBase& shard : shards_) {
    copy_bytes(device, to, shard.device(), device_data(shard), bytes_of(shard));
    to += bytes_of(shard);
  }
  block_ = std::move(block);
  return block_->data();
}

NAX_ENGINE ShardSource* shards_of(const ArrayBase& a) {
  const BufferRef& buffer = ArrayAccess::buffer(a);
  if (!buffer || !buffer->source || ArrayAccess::offset(a) != 0 || is_batched(a)) return nullptr;
  auto* source = dynamic_cast<ShardSource*>(buffer->source);
  const Layout& layout = layout_of(a);
  if (!source || layout.shape.empty() ||
      layout.shape[0] != static_cast<std::int64_t>(source->shards().size()))
    return nullptr;
  Dims rest(layout.shape.begin() + 1, layout.shape.end());
  return layout.is_contiguous() && rest == source->shard_shape() ? source : nullptr;
}

NAX_ENGINE ArrayBase take_shard(ArrayBase& a, int axis, int rank, bool donated) {
  if (axis == 0) {
    if (ShardSource* source = shards_of(a)) {
      ArrayBase& shard = source->shards()[static_cast<std::size_t>(rank)];
      return donated && ArrayAccess::buffer(a).unique() ? std::move(shard) : shard;
    }
  }
  Layout layout = layout_of(a);
  const std::size_t i = layout.levels.size() + static_cast<std::size_t>(axis);
  const std::int64_t offset = layout.take_axis(i) * rank;
  return view(a, std::move(layout), offset);
}

NAX_ENGINE ArrayBase assemble(const std::vector<ArrayBase>& results, int axis) {
  const ArrayBase& first = results[0];
  const std::int64_t n = static_cast<std::int64_t>(results.size());
  Frame frame = layout_of(first);
  const std::size_t at = frame.levels.size();
  frame.shape.insert(at, n);
  Layout layout = Layout::contiguous(std::move(frame));
  ArrayBase whole;
  if (is_batched(first)) {
    whole = allocate(first.dtype(), layout, first.device());
    for (std::int64_t d = 0; d < n; ++d) {
      Layout row = layout;
      const std::int64_t offset = row.take_axis(at) * d;
      copy_into(brought(results[static_cast<std::size_t>(d)], first.device()),
                view(whole, std::move(row), offset));
    }
  } else {
    std::vector<ArrayBase> shards;
    std::size_t bytes = 0;
    for (const ArrayBase& result : results) {
      shards.push_back(contiguous(result, transforms_handled));
      bytes += static_cast<std::size_t>(layout_of(result).size()) * dtype_size(first.dtype());
    }
    ArrayAccess::buffer(whole) =
        BufferRef(Buffer::wrap(std::make_unique<ShardSource>(std::move(shards)), bytes, first.device()));
    ArrayAccess::layout(whole) = layout;
    ArrayAccess::dtype(whole) = first.dtype();
  }
  if (axis == 0) return whole;
  Layout moved = layout_of(whole);
  moved.move_axis(at, at + static_cast<std::size_t>(axis));
  return view(whole, std::move(moved));
}

}  // namespace detail
NAX_END
