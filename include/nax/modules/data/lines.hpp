#pragma once

#include <concepts>

#include "nax/core/where_used.hpp"
#include "nax/modules/data/dataset.hpp"
#include "nax/modules/data/shards.hpp"

// Files of lines of text, and of records of one length.
NAX_BEGIN
namespace data {

struct LinesOptions {
  bool index = true;       // local files are looked through first, so that lines have indices
  std::int64_t ahead = 0;  // of files read one behind the other: read before their turn, each by a thread
  io::Compression compression = io::Compression::automatic;
};

struct RecordsOptions {
  std::int64_t header_bytes = 0;  // at the beginning of each file, which are passed over
  std::int64_t footer_bytes = 0;  // at its end
  bool index = true;              // local files are looked through first, so that records have indices
  std::int64_t ahead = 0;  // of files read one behind the other: read before their turn, each by a thread
  io::Compression compression = io::Compression::none;  // never automatic: records may begin as anything
};

// The lines of text files (of gzip'd ones, too), without their ends (\n or \r\n). A last line without an end
// is one, too. Addresses (https://, s3://, gs://, az://; link nax::storage) are read each as a whole, when it
// is their turn. Loops throw IoError for a file that cannot be read.
NAX_ENGINE Dataset<std::string> from_lines(std::vector<std::string> paths, const LinesOptions& options = {});
template <std::convertible_to<std::string> Path>
auto from_lines(const Path& path, const LinesOptions& options = {}) {
  return from_lines(nax::detail::where_used_t<std::vector<std::string>, Path>{path}, options);
}

// The records of files that have nothing but records of `bytes` bytes between a header and a footer. Throws
// IoError that names a file whose size is no multiple of that.
NAX_ENGINE Dataset<io::Bytes> from_fixed_length(std::vector<std::string> paths, std::int64_t bytes,
                                                const RecordsOptions& options = {});
template <std::convertible_to<std::string> Path>
auto from_fixed_length(const Path& path, std::int64_t bytes, const RecordsOptions& options = {}) {
  return from_fixed_length(nax::detail::where_used_t<std::vector<std::string>, Path>{path}, bytes, options);
}

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/lines-inl.hpp"
#endif
