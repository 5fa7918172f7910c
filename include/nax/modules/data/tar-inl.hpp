#pragma once

#include "nax/modules/data/tar.hpp"

NAX_BEGIN
namespace data::detail {

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

inline io::Compression look_at_archive(const io::detail::Source& file) {
  return io::detail::has_gzip_magic(file) ? io::Compression::gzip : io::Compression::none;
}
inline ShardFormat<Sample> tar_format(io::Compression compression = io::Compression::automatic) {
  return {"from_tar", find_sample, sample_of, "", look_at_archive, compression};
}

NAX_ENGINE StageRef<Sample> tar_stage(std::string name, io::Bytes bytes) {
  return shards(tar_format(), std::move(name), std::move(bytes));
}

}  // namespace data::detail
NAX_END
NAX_BEGIN
namespace data {

NAX_ENGINE Dataset<Sample> from_tar(std::vector<std::string> paths, const TarOptions& options) {
  return Dataset<Sample>(detail::shards(detail::tar_format(options.compression), std::move(paths),
                                        options.index, options.ahead));
}

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

}  // namespace data
NAX_END
