#pragma once

#include "nax/io/zip_reader.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE Member ZipReader::open(const Entry& entry) const {
  std::uint8_t header[30];
  const auto check = [&](bool fine) {
    if (!fine) fail_at(entry.name, "is damaged: offset " + std::to_string(entry.at) + " has no such member");
  };
  source_.read(entry.at, header, sizeof header);
  check(little_endian<std::uint32_t>(header) == 0x04034b50);
  check(little_endian<std::uint16_t>(header + 8) == (entry.deflated ? 8 : 0));
  check(little_endian<std::uint16_t>(header + 26) == entry.name.size());
  std::string name(entry.name.size(), '\0');
  source_.read(entry.at + 30, name.data(), name.size());
  check(name == entry.name);
  const std::uint64_t begin = entry.at + 30 + name.size() + little_endian<std::uint16_t>(header + 28);
  if (begin > entry.end || entry.packed > entry.end - begin) fail_at(entry.name, "is truncated");
  return Member(source_, leaf_name(entry.name), begin, entry.packed, entry.size, entry.deflated, entry.crc);
}

NAX_ENGINE void ZipReader::find_directory() {
  // The end record is the last thing but for a comment, whose length it knows.
  const std::uint64_t tail = std::min<std::uint64_t>(source_.size(), 22 + 0xffff);
  Bytes bytes(22);
  std::size_t end = 0;
  source_.read(source_.size() - 22, bytes.data(), 22);
  const auto is_end = [&] {
    return little_endian<std::uint32_t>(bytes.data() + end) == 0x06054b50 &&
           little_endian<std::uint16_t>(bytes.data() + end + 20) == bytes.size() - end - 22;
  };
  if (!is_end()) {
    bytes.resize(tail);
    source_.read(source_.size() - tail, bytes.data(), tail);
    for (end = tail - 22; end > 0 && !is_end(); --end) {
    }
    need(is_end(), "is truncated: the directory at its end is missing");
  }
  const std::uint8_t* record = bytes.data() + end;
  std::uint64_t limit = source_.size() - bytes.size() + end;
  const auto one_disk = [&](bool is_one) { need(is_one, "is a part of an archive in several files"); };
  count_ = little_endian<std::uint16_t>(record + 10);
  directory_size_ = little_endian<std::uint32_t>(record + 12);
  directory_ = little_endian<std::uint32_t>(record + 16);
  std::uint8_t locator[20] = {}, record64[56];
  if (limit >= 20) source_.read(limit - 20, locator, 20);
  if (little_endian<std::uint32_t>(locator) == 0x07064b50) {  // zip64
    const std::uint64_t at = little_endian<std::uint64_t>(locator + 8);
    limit -= 20;
    need(at <= limit && limit - at >= 56, "is damaged: its directory cannot be found");
    source_.read(at, record64, 56);
    need(little_endian<std::uint32_t>(record64) == 0x06064b50, "is damaged: its directory cannot be found");
    one_disk(little_endian<std::uint32_t>(locator + 4) == 0 &&
             little_endian<std::uint32_t>(record64 + 16) == 0 &&
             little_endian<std::uint32_t>(record64 + 20) == 0);
    count_ = little_endian<std::uint64_t>(record64 + 32);
    directory_size_ = little_endian<std::uint64_t>(record64 + 40);
    directory_ = little_endian<std::uint64_t>(record64 + 48);
    limit = at;
  } else {
    one_disk(little_endian<std::uint16_t>(record + 4) == 0 && little_endian<std::uint16_t>(record + 6) == 0);
  }
  need(directory_ <= limit && directory_size_ == limit - directory_ && count_ <= directory_size_ / 46,
       "is damaged: its directory cannot be found");
}

NAX_ENGINE void ZipReader::read_directory() {
  const std::uint64_t end = directory_ + directory_size_;
  std::map<std::uint64_t, Entry*> by_place;
  std::uint64_t at = directory_;
  for (std::uint64_t i = 0; i < count_; ++i) {
    Entry entry;
    at += read_entry(at, end, entry);
    const std::string name = leaf_name(entry.name);
    const auto [added, is_new] = entries_.emplace(name, std::move(entry));
    if (!is_new) source_.fail("has two members named " + name);
    Entry& here = added->second;
    if (!by_place.emplace(here.at, &here).second) fail_at(here.name, overlaps);
  }
  need(at == end, "is damaged: its directory is broken");
  std::uint64_t limit = directory_;
  for (auto place = by_place.rbegin(); place != by_place.rend(); ++place) {
    Entry& entry = *place->second;
    const std::uint64_t header = 30 + entry.name.size();
    if (entry.at > limit || limit - entry.at < header || limit - entry.at - header < entry.packed)
      fail_at(entry.name, overlaps);
    entry.end = limit;
    limit = entry.at;
  }
}

NAX_ENGINE std::uint64_t ZipReader::read_entry(std::uint64_t at, std::uint64_t end, Entry& entry) const {
  constexpr const char* broken = "is damaged: its directory is broken";
  std::uint8_t data[46];
  need(end - at >= sizeof data, broken);
  source_.read(at, data, sizeof data);
  need(little_endian<std::uint32_t>(data) == 0x02014b50, broken);
  const std::size_t name_size = little_endian<std::uint16_t>(data + 28);
  const std::size_t extra_size = little_endian<std::uint16_t>(data + 30);
  const std::size_t total = sizeof data + name_size + extra_size + little_endian<std::uint16_t>(data + 32);
  need(end - at >= total, broken);
  Bytes texts(name_size + extra_size);
  source_.read(at + sizeof data, texts.data(), texts.size());
  entry.name.assign(reinterpret_cast<const char*>(texts.data()), name_size);
  entry.crc = little_endian<std::uint32_t>(data + 16);
  entry.packed = little_endian<std::uint32_t>(data + 20);
  entry.size = little_endian<std::uint32_t>(data + 24);
  entry.at = little_endian<std::uint32_t>(data + 42);
  read_zip64(texts.data() + name_size, extra_size, entry);

  const unsigned flags = little_endian<std::uint16_t>(data + 8);
  const unsigned method = little_endian<std::uint16_t>(data + 10);
  if ((flags & 0x2041) != 0) fail_at(entry.name, "is encrypted, which nax does not read");
  if ((flags & 0x20) != 0 || (method != 0 && method != 8))
    fail_at(entry.name, "is packed in a way (" + std::to_string(method) + ") that NumPy does not write");
  entry.deflated = method == 8;
  // The most that deflate makes of a byte are four matches of 258 bytes, each of two bits.
  if (entry.deflated ? entry.size / 1032 > entry.packed : entry.size != entry.packed)
    fail_at(entry.name, "is damaged: it holds less than it says");
  return total;
}

NAX_ENGINE void ZipReader::read_zip64(const std::uint8_t* extra, std::size_t extra_size, Entry& entry) const {
  std::uint64_t* const values[] = {&entry.size, &entry.packed, &entry.at};
  const auto is_long = [](const std::uint64_t* value) { return *value == 0xffff'ffff; };
  if (std::none_of(std::begin(values), std::end(values), is_long)) return;
  for (std::size_t k = 0; extra_size - k >= 4;) {
    const std::size_t length = little_endian<std::uint16_t>(extra + k + 2);
    if (length > extra_size - k - 4) break;
    if (little_endian<std::uint16_t>(extra + k) ==
        1) {  // those of the three that are all ones, in this order
      const std::uint8_t* field = extra + k + 4;
      const std::uint8_t* const end = field + length;
      for (std::uint64_t* value : values)
        if (is_long(value)) {
          if (end - field < 8) fail_at(entry.name, no_long_sizes);
          *value = little_endian<std::uint64_t>(field);
          field += 8;
        }
      return;
    }
    k += 4 + length;
  }
  fail_at(entry.name, no_long_sizes);
}

}  // namespace io::detail
NAX_END
