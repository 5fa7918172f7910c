#pragma once

#include <concepts>

#include "nax/core/where_used.hpp"
#include "nax/modules/data/crc32c.hpp"
#include "nax/modules/data/dataset.hpp"
#include "nax/modules/data/shards.hpp"

// TensorFlow's files of records.
NAX_BEGIN
namespace data {

struct TfrecordOptions {
  // Local files are looked through first, header by header, so that elements have indices: all of them are
  // shuffled, and a loop goes on at any. Without, and for addresses, files are read one behind the other.
  bool index = true;
  bool verify = true;      // the checksums of the records; those of their lengths are always looked at
  std::int64_t ahead = 0;  // of files read one behind the other: read before their turn, each by a thread
  io::Compression compression = io::Compression::automatic;
};

namespace detail {

NAX_ENGINE StageRef<io::Bytes> tfrecord_stage(std::string name, io::Bytes bytes,
                                              const TfrecordOptions& options);

}  // namespace detail

// The records of TFRecord files, as bytes; parse_example reads those that are tf.train.Examples. Addresses
// (https://, s3://, gs://, az://; link nax::storage) and files packed by gzip or zlib are read each as a
// whole, when it is their turn, or .ahead of it. Throws IoError that names the file and the offset for what
// is damaged, cut short or no such file.
NAX_ENGINE Dataset<io::Bytes> from_tfrecord(std::vector<std::string> paths,
                                            const TfrecordOptions& options = {});
template <std::convertible_to<std::string> Path>
auto from_tfrecord(const Path& path, const TfrecordOptions& options = {}) {
  return from_tfrecord(nax::detail::where_used_t<std::vector<std::string>, Path>{path}, options);
}
// Reads the records of a file that is in memory already; errors call it `name`.
template <std::same_as<io::Bytes> B>
auto from_tfrecord(B bytes, const std::string& name, const TfrecordOptions& options = {}) {
  return Dataset<io::Bytes>(detail::tfrecord_stage(name, std::move(bytes), options));
}

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/tfrecord-inl.hpp"
#endif
