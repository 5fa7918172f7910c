#pragma once

#include <concepts>

#include "nax/data/crc32c.hpp"
#include "nax/data/dataset.hpp"
#include "nax/data/shards.hpp"

// TensorFlow's files of records.
namespace nax::inline NAX_ABI::data {

struct TfrecordOptions {
  // Local files are looked through first, header by header, so that elements have indices: all of them are
  // shuffled, and a loop goes on at any. Without, and for addresses, files are read one behind the other.
  bool index = true;
  bool verify = true;  // the checksums of the records; those of their lengths are always looked at
};

namespace detail {

NAX_ENGINE StageRef<io::Bytes> tfrecord_stage(std::vector<std::string> paths, const TfrecordOptions& options);
NAX_ENGINE StageRef<io::Bytes> tfrecord_stage(std::string name, io::Bytes bytes,
                                              const TfrecordOptions& options);

}  // namespace detail

// The records of TFRecord files that are not compressed, as bytes; parse_example reads those that are
// tf.train.Examples. Addresses (https://, s3://, gs://; link nax::storage) are read each as a whole, when it
// is their turn. Throws IoError that names the file and the offset for what is damaged, cut short or no such
// file.
inline Dataset<io::Bytes> from_tfrecord(std::vector<std::string> paths, const TfrecordOptions& options = {}) {
  return Dataset<io::Bytes>(detail::tfrecord_stage(std::move(paths), options));
}
template <std::convertible_to<std::string> Path>
Dataset<io::Bytes> from_tfrecord(const Path& path, const TfrecordOptions& options = {}) {
  return from_tfrecord(std::vector<std::string>{path}, options);
}
// Those of a file that is in memory already; `name` is for messages.
template <std::same_as<io::Bytes> B>
Dataset<io::Bytes> from_tfrecord(B bytes, const std::string& name, const TfrecordOptions& options = {}) {
  return Dataset<io::Bytes>(detail::tfrecord_stage(name, std::move(bytes), options));
}

}  // namespace nax::inline NAX_ABI::data

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::data::detail {

// A length of 8 bytes and its checksum, the record and its checksum; an element is the last two.
inline bool find_record(const io::detail::Source& file, std::uint64_t& at, Extent& element) {
  constexpr std::uint64_t head_bytes = 12, crc_bytes = 4;
  const std::uint64_t rest = file.size() - at;
  if (rest == 0) return false;
  const auto fail = [&](const std::string& what) { file.fail(what + ", at offset " + std::to_string(at)); };
  if (rest < head_bytes) fail("is truncated: it ends in the head of a record");
  std::uint8_t head[head_bytes];
  file.read(at, head, head_bytes);
  if (masked_crc32c(head, 8) != io::detail::little_endian<std::uint32_t>(head + 8))
    fail(at == 0 ? "is no TFRecord file, or a compressed one: the length of a record has the wrong checksum"
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
  return {"from_tfrecord", find_record, options.verify ? record_of<true> : record_of<false>};
}

NAX_ENGINE StageRef<io::Bytes> tfrecord_stage(std::vector<std::string> paths,
                                              const TfrecordOptions& options) {
  return shards(tfrecord_format(options), std::move(paths), options.index);
}
NAX_ENGINE StageRef<io::Bytes> tfrecord_stage(std::string name, io::Bytes bytes,
                                              const TfrecordOptions& options) {
  return shards(tfrecord_format(options), std::move(name), std::move(bytes));
}

}  // namespace nax::inline NAX_ABI::data::detail
#endif
