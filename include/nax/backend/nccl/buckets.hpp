#pragma once

#include <cstdlib>
#include <vector>

#include "nax/backend/nccl/wire.hpp"
#include "nax/core/transfer.hpp"

// A list of arrays as few messages: those of one type and operation are packed, in their order, into buckets
// of about NAX_NCCL_BUCKET_MB megabytes (25). An array that fills a bucket alone is sent as it lies.
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
};

// Arrays with no elements, and those that are gathered, are in none.
inline std::vector<Bucket> make_buckets(const std::vector<ArrayBase>& arrays,
                                        const std::vector<Wire>& wires) {
  const std::size_t most = bucket_bytes();
  std::vector<Bucket> buckets;
  std::vector<std::size_t> open;  // those that may take more
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::int64_t n = layout_of(arrays[i]).size();
    if (n == 0 || wires[i].gathered) continue;
    const std::size_t element = dtype_size(wires[i].stored), bytes = static_cast<std::size_t>(n) * element;
    Bucket* bucket = nullptr;
    for (std::size_t& at : open)
      if (buckets[at].wire.same_as(wires[i]) && buckets[at].wire.stored == wires[i].stored) {
        if (static_cast<std::size_t>(buckets[at].elements) * element + bytes > most) {
          at = buckets.size();
          buckets.emplace_back().wire = wires[i];
        }
        bucket = &buckets[at];
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
  }
  return buckets;
}

// The bucket's elements in one piece, on the arrays' device. What lies between two arrays is zero.
inline ArrayBase packed(const Bucket& bucket, const std::vector<ArrayBase>& arrays) {
  Frame frame;
  frame.shape.push_back(bucket.elements);
  const Device device = arrays[bucket.arrays[0]].device();
  ArrayBase block = allocate(bucket.wire.stored, frame, device);
  clear_elements(block);
  const std::size_t element = dtype_size(bucket.wire.stored);
  char* const to = device_data(block);
  for (std::size_t k = 0; k < bucket.arrays.size(); ++k) {
    const ArrayBase& one = arrays[bucket.arrays[k]];
    copy_bytes(device, to + static_cast<std::size_t>(bucket.places[k]) * element, device, device_data(one),
               bytes_of(one));
  }
  return block;
}

}  // namespace detail::nccl
NAX_END
