#pragma once

#include "nax/modules/data/tfrecord.hpp"

NAX_BEGIN
namespace data::detail {

constexpr std::uint64_t record_head_bytes = 12;

inline bool is_record_head(const std::uint8_t* head) {
  return masked_crc32c(head, 8) == io::detail::little_endian<std::uint32_t>(head + 8);
}

// A file that begins with a record is not packed, whatever the length of that record looks like.
inline io::Compression look_at_records(const io::detail::Source& file) {
  std::uint8_t head[record_head_bytes];
  if (file.size() >= record_head_bytes) {
    file.read(0, head, record_head_bytes);
    if (is_record_head(head)) return io::Compression::none;
  }
  return io::detail::has_gzip_magic(file)    ? io::Compression::gzip
         : io::detail::has_zlib_header(file) ? io::Compression::zlib
                                             : io::Compression::none;
}

// A length of 8 bytes and its checksum, the record and its checksum; an element is the last two.
inline bool find_record(const io::detail::Source& file, std::uint64_t& at, Extent& element) {
  constexpr std::uint64_t head_bytes = record_head_bytes, crc_bytes = 4;
  const std::uint64_t rest = file.size() - at;
  if (rest == 0) return false;
  const auto fail = [&](const std::string& what) { file.fail(what + ", at offset " + std::to_string(at)); };
  if (rest < head_bytes) fail("is truncated: it ends in the head of a record");
  std::uint8_t head[head_bytes];
  file.read(at, head, head_bytes);
  if (!is_record_head(head))
    fail(at == 0 ? "is no TFRecord file: the length of a record has the wrong checksum"
                 : "is damaged: the length of a record has the wrong checksum");
  const auto length = io::detail::little_endian<std::uint64_t>(head);
  if (rest - head_bytes < crc_bytes || length > rest - head_bytes - crc_bytes)
    fail("is truncated: it ends in a record of " + std::to_string(length) + " bytes");
  element = {at + head_bytes, at + head_bytes + length + crc_bytes};
  at = element.end;
  return true;
}

template <bool verify>
io::Bytes record_of(io::Bytes&& bytes, const std::string& path, std::uint64_t offset) {
  const std::size_t size = bytes.size() - 4;
  if (verify &&
      masked_crc32c(bytes.data(), size) != io::detail::little_endian<std::uint32_t>(bytes.data() + size))
    io::detail::fail("from_tfrecord", path,
                     "is damaged: a record has the wrong checksum, at offset " + std::to_string(offset - 12));
  bytes.erase(bytes.end() - 4, bytes.end());
  return std::move(bytes);
}

inline ShardFormat<io::Bytes> tfrecord_format(const TfrecordOptions& options) {
  return {"from_tfrecord", find_record,        options.verify ? record_of<true> : record_of<false>, "",
          look_at_records, options.compression};
}

NAX_ENGINE StageRef<io::Bytes> tfrecord_stage(std::string name, io::Bytes bytes,
                                              const TfrecordOptions& options) {
  return shards(tfrecord_format(options), std::move(name), std::move(bytes));
}

}  // namespace data::detail

namespace data {

NAX_ENGINE Dataset<io::Bytes> from_tfrecord(std::vector<std::string> paths, const TfrecordOptions& options) {
  return Dataset<io::Bytes>(
      detail::shards(detail::tfrecord_format(options), std::move(paths), options.index, options.ahead));
}

}  // namespace data
NAX_END
