#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "nax/core/transfer.hpp"
#include "nax/devices/nccl/wire.hpp"

// A list of arrays as few messages: those of one type and operation are packed, in the order in which they
// are complete, into buckets of about NAX_NCCL_BUCKET_MB megabytes (25). An array that fills a bucket alone
// is sent as it lies. Buckets are launched by the group, as many as have that size together: the first groups
// are on their way while the last arrays are computed.
NAX_BEGIN
namespace detail::nccl {

inline std::size_t bucket_bytes() {
  const char* text = std::getenv("NAX_NCCL_BUCKET_MB");
  if (!text) return std::size_t{25} << 20;
  char* end = nullptr;
  const double megabytes = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(megabytes >= 0) || megabytes > 1e6)
    raise<ValueError>({"NAX_NCCL_BUCKET_MB: must be a number of megabytes, not '", text, "'"});
  return static_cast<std::size_t>(megabytes * (1 << 20));
}

struct Bucket {
  Wire wire;
  std::vector<std::size_t> arrays;   // by number
  std::vector<std::int64_t> places;  // of each, in elements
  std::int64_t elements = 0;
  std::size_t last = 0;  // place in the order of the array that is complete last

  bool alone() const { return arrays.size() == 1; }
  std::size_t bytes() const { return static_cast<std::size_t>(elements) * dtype_size(wire.stored); }
};

// `order`: numbers of arrays, those first that are complete first. Buckets come out in the order in which
// they are complete. Arrays with no elements, and those that are gathered, are in none.
inline std::vector<Bucket> make_buckets(const std::vector<ArrayBase>& arrays, const std::vector<Wire>& wires,
                                        const std::vector<std::size_t>& order) {
  const std::size_t most = bucket_bytes();
  std::vector<Bucket> buckets;
  std::vector<std::size_t> open;  // those that may take more
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::size_t i = order[at];
    const std::int64_t n = layout_of(arrays[i]).size();
    if (n == 0 || wires[i].gathered) continue;
    const std::size_t element = dtype_size(wires[i].stored), bytes = static_cast<std::size_t>(n) * element;
    Bucket* bucket = nullptr;
    for (std::size_t& one : open)
      if (buckets[one].wire.same_as(wires[i]) && buckets[one].wire.stored == wires[i].stored) {
        if (buckets[one].bytes() + bytes > most) {
          one = buckets.size();
          buckets.emplace_back().wire = wires[i];
        }
        bucket = &buckets[one];
      }
    if (!bucket) {
      open.push_back(buckets.size());
      bucket = &buckets.emplace_back();
      bucket->wire = wires[i];
    }
    // At a multiple of 256 bytes, as kernels like to find an array.
    const auto step = static_cast<std::int64_t>(256 / element);
    const std::int64_t place = (bucket->elements + step - 1) / step * step;
    bucket->arrays.push_back(i);
    bucket->places.push_back(place);
    bucket->elements = place + n;
    bucket->last = at;
  }
  std::sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) { return a.last < b.last; });
  return buckets;
}

// The ends of the groups in which buckets are launched.
inline std::vector<std::size_t> ends_of_groups(const std::vector<Bucket>& buckets) {
  const std::size_t most = bucket_bytes();
  std::vector<std::size_t> ends;
  std::size_t bytes = 0;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    if (b > 0 && bytes + buckets[b].bytes() > most) ends.push_back(b), bytes = 0;
    bytes += buckets[b].bytes();
  }
  ends.push_back(buckets.size());
  return ends;
}

// Room for the bucket's elements in one piece.
inline ArrayBase allocate_bucket(const Bucket& bucket, Device device) {
  Frame frame;
  frame.shape.push_back(bucket.elements);
  return allocate(bucket.wire.stored, frame, device);
}
// Copies the bucket's arrays, which are of its stored type, to their places. What lies between is zero.
inline void pack(const Bucket& bucket, const std::vector<ArrayBase>& arrays, const ArrayBase& block) {
  const Device device = block.device();
  clear_elements(block);
  const std::size_t element = dtype_size(bucket.wire.stored);
  char* const to = device_data(block);
  for (std::size_t k = 0; k < bucket.arrays.size(); ++k) {
    const ArrayBase& one = arrays[bucket.arrays[k]];
    copy_bytes(device, to + static_cast<std::size_t>(bucket.places[k]) * element, device, device_data(one),
               bytes_of(one));
  }
}

}  // namespace detail::nccl
NAX_END
