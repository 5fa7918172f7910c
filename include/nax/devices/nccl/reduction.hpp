#pragma once

#include <numeric>
#include <vector>

#include "nax/devices/nccl/buckets.hpp"
#include "nax/devices/nccl/calls.hpp"
#include "nax/expr/evaluation/as_dtype.hpp"
#include "nax/numpy/views/copy.hpp"

// One device's part in the reduction of a list of arrays, group by group of buckets: room for all results is
// made first; then each group is packed, launched by some thread, and noted with the moment after which its
// results are complete. All but results() is called in a cuda::CommunicationScope.
NAX_BEGIN
namespace detail::nccl {

class Reduction {
 public:
  Reduction(const std::vector<ArrayBase>& arrays, const std::vector<Combine>& combine)
      : arrays_(arrays), combine_(combine), mine_(arrays.size()), gathered_(arrays.size()) {
    for (std::size_t i = 0; i < arrays.size(); ++i) wires_.push_back(wire_of(arrays[i].dtype(), combine[i]));
    std::vector<std::size_t> order(arrays.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    plan(order);
  }
  // Forms groups of arrays that are complete in this order.
  void plan(const std::vector<std::size_t>& order) {
    buckets_ = make_buckets(arrays_, wires_, order);
    ends_ = ends_of_groups(buckets_);
  }
  std::size_t groups() const { return ends_.size(); }

  void allocate(Device device, int devices) {
    for (const Bucket& bucket : buckets_) to_.push_back(allocate_bucket(bucket, device));
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (wires_[i].gathered && layout_of(arrays_[i]).size() > 0)
        gathered_[i] = allocate_blocks(arrays_[i], devices);
  }
  void pack(std::size_t group) {
    messages_.clear();
    for (std::size_t b = begin_of(group); b < ends_[group]; ++b) {
      const Bucket& bucket = buckets_[b];
      for (const std::size_t i : bucket.arrays) mine_[i] = as_dtype(here(arrays_[i]), bucket.wire.stored);
      if (!bucket.alone()) nccl::pack(bucket, mine_, to_[b]);
      const ArrayBase& from = bucket.alone() ? mine_[bucket.arrays[0]] : to_[b];
      messages_.push_back(
          {device_data(from), device_data(to_[b]),
           static_cast<std::size_t>(bucket.elements) * static_cast<std::size_t>(bucket.wire.parts),
           bucket.wire});
    }
    if (group + 1 < groups()) return;
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (is_gathered(i)) {
        mine_[i] = here(arrays_[i]);
        gathers_.push_back({device_data(mine_[i]), device_data(gathered_[i]), bytes_of(mine_[i])});
      }
  }
  // The calls of the group that has been packed; any thread makes them.
  void launch(ncclComm_t comm, cudaStream_t stream) const {
    for (const Message& message : messages_)
      call("ncclAllReduce", ncclAllReduce(message.from, message.to, message.numbers, message.wire.type,
                                          message.wire.op, comm, stream));
    for (const Gather& gather : gathers_)
      call("ncclAllGather", ncclAllGather(gather.from, gather.to, gather.bytes, ncclInt8, comm, stream));
  }
  void note(std::size_t group) const {
    for (std::size_t b = begin_of(group); b < ends_[group]; ++b) note_moment(to_[b]);
  }

  std::vector<ArrayBase> results(int devices) const {
    std::vector<ArrayBase> results(arrays_.size());
    for (std::size_t b = 0; b < buckets_.size(); ++b)
      for (std::size_t k = 0; k < buckets_[b].arrays.size(); ++k) {
        const std::size_t i = buckets_[b].arrays[k];
        results[i] = view(to_[b], Layout::contiguous(layout_of(arrays_[i])), buckets_[b].places[k]);
      }
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const Layout& layout = layout_of(arrays_[i]);
      if (is_gathered(i)) {
        ArrayBase sum = part_of(gathered_[i], 0, layout);
        for (int d = 1; d < devices; ++d) sum = combine_[i].arrays(sum, part_of(gathered_[i], d, layout));
        results[i] = devices == 1 ? moved(sum, sum.device()) : sum;
      } else if (layout.size() == 0) {
        results[i] = allocate_like(arrays_[i]);
      }
      results[i] = as_dtype(results[i], arrays_[i].dtype());
    }
    return results;
  }

 private:
  struct Message {
    const char* from;
    char* to;
    std::size_t numbers;
    Wire wire;
  };
  struct Gather {
    const char* from;
    char* to;
    std::size_t bytes;
  };
  std::size_t begin_of(std::size_t group) const { return group == 0 ? 0 : ends_[group - 1]; }
  bool is_gathered(std::size_t i) const { return static_cast<bool>(ArrayAccess::buffer(gathered_[i])); }

  const std::vector<ArrayBase>& arrays_;
  const std::vector<Combine>& combine_;
  std::vector<Wire> wires_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> ends_;
  std::vector<ArrayBase> mine_, gathered_, to_;  // as they are sent; gathered; a bucket's results
  std::vector<Message> messages_;                // of the group that has been packed
  std::vector<Gather> gathers_;
};

}  // namespace detail::nccl
NAX_END
