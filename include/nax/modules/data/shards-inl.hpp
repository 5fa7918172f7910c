#pragma once

#include "nax/modules/data/shards.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE ShardFiles::ShardFiles(const char* function, std::vector<std::string> paths,
                                  const FindElement& find)
    : function_(function), paths_(std::move(paths)) {
  constexpr std::size_t few = 128;  // of what a process may have open, usually 1024
  Fingerprint now;                  // of the files as they are looked through
  identity_.describe(now, [&](Fingerprint& own) { describe_files(own, paths_); });
  for (const std::string& path : paths_) {
    const io::detail::Source file(function_, path);
    look_through(file, find);
    if (paths_.size() > few) continue;
    open_.emplace_back(nax::detail::os::open_file(path, nax::detail::os::Open::to_read));
    if (open_.back().get() < 0) io::detail::fail_system(function_, path, "cannot be opened");
  }
}

NAX_ENGINE ShardFiles::ShardFiles(const char* function, std::string name, io::Bytes bytes,
                                  const FindElement& find)
    : function_(function), paths_{std::move(name)}, bytes_(std::move(bytes)) {
  look_through(io::detail::Source(function_, paths_[0], bytes_), find);
}

NAX_ENGINE void ShardFiles::look_through(const io::detail::Source& file, const FindElement& find) {
  Extent extent;
  for (std::uint64_t at = 0; find(file, at, extent);) extents_.push_back(extent);
  ends_.push_back(size());
}

NAX_ENGINE std::size_t ShardFiles::file_of(std::int64_t i) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
}

NAX_ENGINE io::Bytes ShardFiles::read(std::int64_t i) const {
  const Extent& of = extent(i);
  const auto size = static_cast<std::size_t>(of.end - of.begin);
  if (!bytes_.empty()) {
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(of.begin);
    return io::Bytes(begin, begin + static_cast<std::ptrdiff_t>(size));
  }
  const std::size_t file = file_of(i);
  const std::string& path = paths_[file];
  io::detail::Descriptor own;
  int descriptor;
  if (open_.empty()) {
    own = io::detail::Descriptor(nax::detail::os::open_file(path, nax::detail::os::Open::to_read));
    descriptor = own.get();
    if (descriptor < 0) io::detail::fail_system(function_, path, "cannot be opened");
  } else {
    descriptor = open_[file].get();
  }
  io::Bytes bytes = io::detail::within_memory(function_, path, [&] { return io::Bytes(size); });
  for (std::size_t done = 0; done < size;) {
    const std::int64_t got =
        nax::detail::os::read_some_at(descriptor, bytes.data() + done, size - done, of.begin + done);
    if (got < 0) io::detail::fail_system(function_, path, "cannot be read");
    if (got == 0)
      io::detail::fail(function_, path,
                       "was cut short meanwhile: it ends at offset " + std::to_string(of.begin + done));
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

NAX_ENGINE std::string ShardFiles::source(std::int64_t i) const {
  return offset_text(path(i), extent(i).begin);
}

NAX_ENGINE void ShardFiles::describe(Fingerprint& print) const {
  print.add(static_cast<std::int64_t>(paths_.size()));
  for (const std::int64_t end : ends_) print.add(end);
  identity_.describe(print, [&](Fingerprint& own) {
    own.add(static_cast<std::int64_t>(content_hash(bytes_.data(), bytes_.size())));
  });
}

NAX_ENGINE io::Bytes read_extent(const io::detail::Source& file, const Extent& extent) {
  return io::detail::within_memory(file.function(), file.path(), [&] {
    io::Bytes bytes(static_cast<std::size_t>(extent.end - extent.begin));
    file.read(extent.begin, bytes.data(), bytes.size());
    return bytes;
  });
}

NAX_ENGINE std::string offset_text(const std::string& path, std::uint64_t offset) {
  return "'" + path + "' at offset " + std::to_string(offset);
}

NAX_ENGINE void check_ahead(const char* function, std::int64_t ahead) {
  if (ahead < 0 || ahead > most_stage_threads)
    raise<ValueError>({function, ": ahead must be between 0 and ", most_stage_threads, ", not ", ahead});
}

NAX_ENGINE bool any_remote(const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(), io::detail::is_address);
}

}  // namespace data::detail
NAX_END
