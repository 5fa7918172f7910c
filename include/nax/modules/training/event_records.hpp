#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nax/modules/data/crc32c.hpp"

// Encodes what TensorBoard reads: messages of protocol buffers in TFRecord's frames.
NAX_BEGIN
namespace training::detail {

// A message, field by field.
class ProtoWriter {
 public:
  void varint(int field, std::uint64_t value) { tag(field, 0), raw(value); }
  void fixed64(int field, double value) { tag(field, 1), bytes(&value, sizeof value); }
  void fixed32(int field, float value) { tag(field, 5), bytes(&value, sizeof value); }
  void text(int field, std::string_view value) { tag(field, 2), raw(value.size()), text_ += value; }
  void message(int field, const ProtoWriter& value) { text(field, value.text_); }
  void doubles(int field, const std::vector<double>& values);
  const std::string& str() const { return text_; }

 private:
  void tag(int field, unsigned wire) { raw(static_cast<std::uint64_t>(field) << 3 | wire); }
  void raw(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  void bytes(const void* from, std::size_t size) { text_.append(static_cast<const char*>(from), size); }
  std::string text_;
};

// A TFRecord: length, data, and the checksum of each.
NAX_ENGINE std::string framed(const std::string& data);

// The distribution of numbers, in TensorFlow's buckets: 1e-12 times powers of 1.1 to both sides of 0. Numbers
// that are not finite are left out.
NAX_ENGINE ProtoWriter histogram_of(const std::vector<double>& values);

// A PNG of 8 bits a channel: `channels` is 1 (grey), 3 (RGB) or 4 (with alpha).
NAX_ENGINE std::string png_of(const std::uint8_t* pixels, std::int64_t height, std::int64_t width,
                              std::int64_t channels);

}  // namespace training::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/training/event_records-inl.hpp"
#endif
