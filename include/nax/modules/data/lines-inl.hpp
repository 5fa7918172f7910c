#pragma once

#include "nax/modules/data/lines.hpp"

NAX_BEGIN
namespace data::detail {

// The file is read by pieces that grow with the line.
inline bool find_line(const io::detail::Source& file, std::uint64_t& at, Extent& element) {
  if (at >= file.size()) return false;
  char piece[4096];
  std::size_t most = 256;
  for (std::uint64_t from = at; from < file.size(); most = sizeof piece) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most, file.size() - from));
    file.read(from, piece, size);
    if (const void* const end = std::memchr(piece, '\n', size)) {
      const std::uint64_t place = from + static_cast<std::uint64_t>(static_cast<const char*>(end) - piece);
      element = {at, place};
      at = place + 1;
      return true;
    }
    from += size;
  }
  element = {at, file.size()};
  at = file.size();
  return true;
}

inline std::string line_of(io::Bytes&& bytes, const std::string&, std::uint64_t) {
  if (!bytes.empty() && bytes.back() == '\r') bytes.pop_back();
  return std::string(bytes.begin(), bytes.end());
}

inline io::Bytes bytes_as_they_are(io::Bytes&& bytes, const std::string&, std::uint64_t) {
  return std::move(bytes);
}

inline io::Compression look_at_text(const io::detail::Source& file) {
  return io::detail::has_gzip_magic(file) ? io::Compression::gzip : io::Compression::none;
}

}  // namespace data::detail

namespace data {

NAX_ENGINE Dataset<std::string> from_lines(std::vector<std::string> paths, const LinesOptions& options) {
  using namespace detail;
  const ShardFormat<std::string> format{"from_lines", find_line,    line_of,
                                        "",           look_at_text, options.compression};
  return Dataset<std::string>(shards(format, std::move(paths), options.index, options.ahead));
}

NAX_ENGINE Dataset<io::Bytes> from_fixed_length(std::vector<std::string> paths, std::int64_t bytes,
                                                const RecordsOptions& options) {
  using namespace detail;
  if (bytes < 1) raise<ValueError>({"from_fixed_length: a record must have at least 1 byte, not ", bytes});
  check_not_negative("from_fixed_length", "header_bytes", options.header_bytes);
  check_not_negative("from_fixed_length", "footer_bytes", options.footer_bytes);
  const auto record = static_cast<std::uint64_t>(bytes),
             head = static_cast<std::uint64_t>(options.header_bytes),
             foot = static_cast<std::uint64_t>(options.footer_bytes);
  const auto find = [=](const io::detail::Source& file, std::uint64_t& at, Extent& element) {
    if (file.size() < head + foot || (file.size() - head - foot) % record != 0)
      file.fail("has " + std::to_string(file.size()) + " bytes, which are no records of " +
                std::to_string(record) + " behind a header of " + std::to_string(head) +
                " and before a footer of " + std::to_string(foot));
    at = std::max(at, head);
    if (at >= file.size() - foot) return false;
    element = {at, at + record};
    at = element.end;
    return true;
  };
  const ShardFormat<io::Bytes> format{
      "from_fixed_length",
      find,
      bytes_as_they_are,
      std::to_string(bytes) + " " + std::to_string(head) + " " + std::to_string(foot),
      nullptr,
      options.compression};
  return Dataset<io::Bytes>(shards(format, std::move(paths), options.index, options.ahead));
}

}  // namespace data
NAX_END
