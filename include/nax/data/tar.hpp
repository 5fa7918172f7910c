#pragma once

#include <concepts>
#include <map>

#include "nax/data/dataset.hpp"
#include "nax/data/shards.hpp"
#include "nax/data/tar_members.hpp"

// WebDataset's shards: tar archives whose members belong together by name.
namespace nax::inline NAX_ABI::data {

// The members of one key.
struct Sample {
  std::string key;                         // their name up to the first dot behind the last slash
  std::map<std::string, io::Bytes> files;  // by the rest of it, in lower case: "jpg", "cls", "seg.png"

  // Throws ValueError that says what there is where there is no such member.
  const io::Bytes& operator[](const std::string& extension) const;
  std::string text(const std::string& extension) const;
};

struct TarOptions {
  bool index = true;  // local files are looked through first, as from_tfrecord does
};

namespace detail {

NAX_ENGINE StageRef<Sample> tar_stage(std::vector<std::string> paths, const TarOptions& options);
NAX_ENGINE StageRef<Sample> tar_stage(std::string name, io::Bytes bytes);

}  // namespace detail

// The samples in tar archives that are not compressed, by WebDataset's convention: members behind one another
// with one key, each by what follows it. Folders, links, and names without a dot or between underscores
// (`__meta__`) are passed over. Addresses (https://, s3://, gs://; link nax::storage) are read each as a
// whole, when it is their turn. Throws IoError that names the file and the offset for what is damaged, cut
// short or no archive, and for two members of one name in a sample.
inline Dataset<Sample> from_tar(std::vector<std::string> paths, const TarOptions& options = {}) {
  return Dataset<Sample>(detail::tar_stage(std::move(paths), options));
}
template <std::convertible_to<std::string> Path>
Dataset<Sample> from_tar(const Path& path, const TarOptions& options = {}) {
  return from_tar(std::vector<std::string>{path}, options);
}
// The members of an archive that is in memory already; `name` is for messages.
template <std::same_as<io::Bytes> B>
Dataset<Sample> from_tar(B bytes, const std::string& name) {
  return Dataset<Sample>(detail::tar_stage(name, std::move(bytes)));
}

}  // namespace nax::inline NAX_ABI::data

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::data::detail {

// A member's name in two; false for what belongs to no sample.
inline bool split_name(const TarMember& member, std::string& key, std::string& extension) {
  const std::string& name = member.name;
  const std::size_t slash = name.rfind('/'), base = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', base);
  if (!member.regular || dot == std::string::npos || dot == base) return false;
  if (name.starts_with("__") && name.ends_with("__")) return false;
  key = name.substr(0, dot), extension = name.substr(dot + 1);
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return true;
}

// From the header of a sample's first member to the end of its last one's bytes.
inline bool find_sample(const io::detail::Source& file, std::uint64_t& at, Extent& element) {
  std::string key, own, extension;
  bool any = false;
  for (TarMember member; read_tar_member(file, at, member); at = member.next) {
    if (!split_name(member, own, extension)) continue;
    if (any && own != key) return true;
    if (!any) key = own, element.begin = at, any = true;
    element.end = member.data + member.size;
  }
  return any;
}

inline Sample sample_of(io::Bytes&& bytes, const std::string& path, std::uint64_t offset) {
  const io::detail::Source file("from_tar", path, bytes);
  Sample sample;
  std::string extension;
  TarMember member;
  for (std::uint64_t at = 0; at < bytes.size() && read_tar_member(file, at, member, offset);
       at = member.next) {
    if (!split_name(member, sample.key, extension)) continue;
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(member.data);
    if (!sample.files.emplace(extension, io::Bytes(begin, begin + static_cast<std::ptrdiff_t>(member.size)))
             .second)
      file.fail("has two members '" + extension.substr(0, 200) + "' in the sample '" +
                sample.key.substr(0, 200) + "', at offset " + std::to_string(at + offset));
  }
  return sample;
}

inline ShardFormat<Sample> tar_format() { return {"from_tar", find_sample, sample_of}; }

NAX_ENGINE StageRef<Sample> tar_stage(std::vector<std::string> paths, const TarOptions& options) {
  return shards(tar_format(), std::move(paths), options.index);
}
NAX_ENGINE StageRef<Sample> tar_stage(std::string name, io::Bytes bytes) {
  return shards(tar_format(), std::move(name), std::move(bytes));
}

}  // namespace nax::inline NAX_ABI::data::detail
namespace nax::inline NAX_ABI::data {

NAX_ENGINE const io::Bytes& Sample::operator[](const std::string& extension) const {
  const auto found = files.find(extension);
  if (found != files.end()) return found->second;
  std::string there;
  for (const auto& [name, bytes] : files) there += (there.empty() ? "'" : ", '") + name + "'";
  raise<ValueError>({"Sample: '", key, "' has no member '", extension, "', only ", there});
}
NAX_ENGINE std::string Sample::text(const std::string& extension) const {
  const io::Bytes& of = (*this)[extension];
  return std::string(of.begin(), of.end());
}

}  // namespace nax::inline NAX_ABI::data
#endif
