#pragma once

#include <mutex>
#include <vector>

#include "nax/core/at_fork.hpp"
#include "nax/core/buffer.hpp"
#include "nax/numpy/views/copy.hpp"

// Arrays whose leading axis is the device axis. The shards stay where they were computed; asking for
// the elements in one block gathers them.
NAX_BEGIN
namespace detail {

class ShardSource final : public BufferSource {
 public:
  explicit ShardSource(std::vector<ArrayBase> shards)
      : shards_(std::move(shards)), shard_shape_(layout_of(shards_[0]).shape) {}

  std::vector<ArrayBase>& shards() { return shards_; }
  const Dims& shard_shape() const { return shard_shape_; }  // known also of shards that were given away
  // Copies the shards into one block, at the first call.
  NAX_ENGINE_VIRTUAL void* gather() override;

 private:
  std::vector<ArrayBase> shards_;  // row-major
  Dims shard_shape_;
  ForkMutex& mutex_ = fork_mutex_of<ShardSource>();
  BufferRef block_;
};

// The shards of an array that is one row of devices and nothing else; null for any other.
NAX_ENGINE ShardSource* shards_of(const ArrayBase& a);

// Example `rank` along visible axis `axis`. A donated array that no other handle shares gives its shard away.
NAX_ENGINE ArrayBase take_shard(ArrayBase& a, int axis, int rank, bool donated);

// x on a device whose kernels can read it: x itself on the host's devices, which share their memory.
inline ArrayBase brought(const ArrayBase& x, Device device) {
  if (share_memory(x.device(), device)) return x;
  return moved(contiguous(x, transforms_handled), device);
}

// One array of the devices' results, the device axis at `axis`.
NAX_ENGINE ArrayBase assemble(const std::vector<ArrayBase>& results, int axis);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/sharded-inl.hpp"
#endif
