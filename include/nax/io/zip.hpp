#pragma once

#include <array>

#include "nax/io/file.hpp"

// As much of the zip format as .npz files have: members stored as they are, each with a CRC. What NumPy
// writes for large files (the sizes in a "zip64" field) is read too.
namespace nax::io::detail {

inline std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t crc = 0) {
  static const auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, 4> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
      t[0][i] = c;
    }
    for (std::uint32_t i = 0; i < 256; ++i)
      for (std::size_t k = 1; k < 4; ++k) t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xff];
    return t;
  }();
  const auto* p = static_cast<const std::uint8_t*>(data);
  crc = ~crc;
  for (; size >= 4; size -= 4, p += 4) {
    crc ^= little_endian<std::uint32_t>(p);
    crc = tables[3][crc & 0xff] ^ tables[2][crc >> 8 & 0xff] ^ tables[1][crc >> 16 & 0xff] ^
          tables[0][crc >> 24];
  }
  for (; size > 0; --size) crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
  return ~crc;
}

class ZipWriter {
 public:
  ZipWriter(const char* function, const std::string& path)
      : function_(function), path_(path), file_(function, path) {}

  // One member: its bytes are those of `head` and of `data`.
  void add(const std::string& name, const std::string& head, const void* data, std::size_t size) {
    const std::uint64_t total = head.size() + size;
    if (file_.position() + total > 0xffff'0000u || members_ == 0xffff || name.size() > 0xffff)
      fail(function_, path_,
           "cannot be written: the arrays need more than the 4 GiB (or 65535 names) of a zip file");
    const std::uint32_t crc = crc32(data, size, crc32(head.data(), head.size()));
    std::string entry;  // what the local header and the directory have in common
    number(entry, 20, 2), number(entry, 0x800, 2), number(entry, 0, 2);  // version, UTF-8 names, stored
    number(entry, 0, 2), number(entry, 0x21, 2);  // 1980-01-01: equal trees make equal files
    number(entry, crc, 4), number(entry, total, 4), number(entry, total, 4);
    number(entry, name.size(), 2), number(entry, 0, 2);
    number(directory_, 0x02014b50, 4), number(directory_, 20, 2);
    directory_ += entry;
    number(directory_, 0, 2), number(directory_, 0, 2), number(directory_, 0, 2), number(directory_, 0, 4);
    number(directory_, file_.position(), 4);
    directory_ += name;
    ++members_;
    std::string local;
    number(local, 0x04034b50, 4);
    local += entry + name + head;
    file_.write(local.data(), local.size());
    file_.write(data, size);
  }

  void commit() {
    const std::uint64_t at = file_.position();
    std::string end;
    number(end, 0x06054b50, 4), number(end, 0, 2), number(end, 0, 2);
    number(end, members_, 2), number(end, members_, 2), number(end, directory_.size(), 4), number(end, at, 4);
    number(end, 0, 2);
    file_.write(directory_.data(), directory_.size());
    file_.write(end.data(), end.size());
    file_.commit();
  }

 private:
  static void number(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  }
  const char* function_;
  std::string path_;
  NewFile file_;
  std::string directory_;
  std::uint32_t members_ = 0;
};

struct ZipMember {
  std::string name;
  const std::uint8_t* data;
  std::size_t size;
};

// The members of a zip file in memory, their CRCs checked. Throws IoError for one that is cut short, damaged
// or compressed.
inline std::vector<ZipMember> zip_members(const char* function, const std::string& path, const Bytes& bytes) {
  const std::uint8_t* data = bytes.data();
  const auto check = [&](bool fine, const char* what) {
    if (!fine) fail(function, path, what);
  };
  check(bytes.size() >= 22 && data[0] == 'P' && data[1] == 'K', "is not a .npz file: no zip archive");
  std::size_t end = bytes.size() - 22;  // the end record, behind which a comment may be
  while (end > 0 && bytes.size() - end < 22 + 0xffff &&
         little_endian<std::uint32_t>(data + end) != 0x06054b50)
    --end;
  check(little_endian<std::uint32_t>(data + end) == 0x06054b50,
        "is truncated: the directory at its end is missing");
  std::uint64_t count = little_endian<std::uint16_t>(data + end + 10);
  std::uint64_t at = little_endian<std::uint32_t>(data + end + 16);
  if (end >= 20 && little_endian<std::uint32_t>(data + end - 20) == 0x07064b50) {  // zip64
    const std::uint64_t record = little_endian<std::uint64_t>(data + end - 12);
    check(record <= end && end - record >= 56, "is damaged: its directory cannot be found");
    count = little_endian<std::uint64_t>(data + record + 32);
    at = little_endian<std::uint64_t>(data + record + 48);
  }
  std::vector<ZipMember> members;
  for (std::uint64_t i = 0; i < count; ++i) {
    check(at <= end && end - at >= 46 && little_endian<std::uint32_t>(data + at) == 0x02014b50,
          "is damaged: its directory is broken");
    const std::uint8_t* entry = data + at;
    const std::size_t name_size = little_endian<std::uint16_t>(entry + 28);
    const std::size_t extra_size = little_endian<std::uint16_t>(entry + 30);
    const std::size_t comment_size = little_endian<std::uint16_t>(entry + 32);
    check(end - at >= 46 + name_size + extra_size + comment_size, "is damaged: its directory is broken");
    const std::string name(reinterpret_cast<const char*>(entry) + 46, name_size);
    std::uint64_t packed = little_endian<std::uint32_t>(entry + 20),
                  size = little_endian<std::uint32_t>(entry + 24),
                  local = little_endian<std::uint32_t>(entry + 42);
    const std::uint8_t* extra = entry + 46 + name_size;
    for (std::size_t k = 0; k + 4 <= extra_size;) {
      const std::size_t length = little_endian<std::uint16_t>(extra + k + 2);
      if (little_endian<std::uint16_t>(extra + k) ==
          1) {  // those of the three that are all ones, in this order
        std::size_t field = k + 4;
        for (std::uint64_t* value : {&size, &packed, &local})
          if (*value == 0xffff'ffffu && field + 8 <= extra_size) {
            *value = little_endian<std::uint64_t>(extra + field);
            field += 8;
          }
      }
      k += 4 + length;
    }
    at += 46 + name_size + extra_size + comment_size;
    const std::string place = "(" + name + ") ";
    if (little_endian<std::uint16_t>(entry + 10) != 0)
      fail(function, path, place + "is compressed, which nax does not read: save it with np.savez");
    if (local > end || end - local < 30 || little_endian<std::uint32_t>(data + local) != 0x04034b50)
      fail(function, path, place + "is damaged: offset " + std::to_string(local) + " has no member");
    const std::uint64_t begin = local + 30 + little_endian<std::uint16_t>(data + local + 26) +
                                little_endian<std::uint16_t>(data + local + 28);
    if (packed != size || begin > end || end - begin < size) fail(function, path, place + "is truncated");
    if (crc32(data + begin, size) != little_endian<std::uint32_t>(entry + 16))
      fail(function, path, place + "is damaged: its CRC is wrong");
    members.push_back({name, data + begin, static_cast<std::size_t>(size)});
  }
  return members;
}

}  // namespace nax::io::detail
