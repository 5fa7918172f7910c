#pragma once

#include "nax/core/buffer.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void Buffer::pin() {
  if (graph_recording->keep) return graph_recording->keep(*graph_recording, *this);
  if (!address) return;  // the host's bytes are copied
  if (GraphMemory::owner_of(address) == graph_recording->memory) return;
  for (const BufferRef& held : *graph_recording->pinned)
    if (held.get() == this) return;
  references.fetch_add(1, std::memory_order_relaxed);
  graph_recording->pinned->push_back(BufferRef(this));
}

}  // namespace detail
NAX_END
