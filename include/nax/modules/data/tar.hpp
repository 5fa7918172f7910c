#pragma once

#include <concepts>
#include <map>

#include "nax/core/where_used.hpp"
#include "nax/modules/data/dataset.hpp"
#include "nax/modules/data/shards.hpp"
#include "nax/modules/data/tar_members.hpp"

// WebDataset's shards: tar archives whose members belong together by name.
NAX_BEGIN
namespace data {

// The members of one key.
struct Sample {
  std::string key;                         // their name up to the first dot behind the last slash
  std::map<std::string, io::Bytes> files;  // by the rest of it, in lower case: "jpg", "cls", "seg.png"

  // Throws ValueError that says what there is where there is no such member.
  const io::Bytes& operator[](const std::string& extension) const;
  std::string text(const std::string& extension) const;
};

struct TarOptions {
  bool index = true;       // local files are looked through first, as from_tfrecord does
  std::int64_t ahead = 0;  // of files read one behind the other: read before their turn, each by a thread
  io::Compression compression = io::Compression::automatic;
};

namespace detail {

NAX_ENGINE StageRef<Sample> tar_stage(std::string name, io::Bytes bytes);

}  // namespace detail

// The samples in tar archives, by WebDataset's convention: members behind one another with one key, each by
// what follows it. Folders, links, and names without a dot or between underscores (`__meta__`) are passed
// over. Addresses (https://, s3://, gs://, az://; link nax::storage) and archives packed by gzip are read
// each as a whole, when it is their turn, or .ahead of it. Throws IoError that names the file and the offset
// for what is damaged, cut short or no archive, and for two members of one name in a sample.
NAX_ENGINE Dataset<Sample> from_tar(std::vector<std::string> paths, const TarOptions& options = {});
template <std::convertible_to<std::string> Path>
auto from_tar(const Path& path, const TarOptions& options = {}) {
  return from_tar(nax::detail::where_used_t<std::vector<std::string>, Path>{path}, options);
}
// The members of an archive that is in memory already; `name` is for messages.
template <std::same_as<io::Bytes> B>
auto from_tar(B bytes, const std::string& name) {
  return Dataset<Sample>(detail::tar_stage(name, std::move(bytes)));
}

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/tar-inl.hpp"
#endif
