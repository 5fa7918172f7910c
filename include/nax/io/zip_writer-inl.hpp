#pragma once

#include "nax/io/zip_writer.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE void ZipWriter::add(const std::string& name, const std::string& head, const void* data,
                               std::size_t size, bool pack) {
  if (name.size() > 0xffff) fail(function_, path_, "cannot hold a name of more than 65535 bytes");
  if (!names_.insert(name).second) fail(function_, path_, "cannot hold two members named " + name);
  const std::uint64_t total = head.size() + size, at = file_.position();
  const bool long_size = total > most_, long_at = at > most_;
  const std::uint32_t crc = crc32(data, size, crc32(head.data(), head.size()));
  std::string packed;
  if (pack) {
    std::string all = head;
    all.append(static_cast<const char*>(data), size);
    packed = Deflate::pack(reinterpret_cast<const std::uint8_t*>(all.data()), all.size());
    pack = packed.size() < total;
  }
  const std::uint64_t stored = pack ? packed.size() : total;
  const unsigned version = long_size || long_at ? 45 : 20;
  std::string sizes, extra;
  if (long_size) number(sizes, total, 8), number(sizes, stored, 8);
  extra = sizes;
  if (long_at) number(extra, at, 8);

  std::string entry;  // what the local header and the directory have in common
  number(entry, version, 2), number(entry, 0x800, 2);  // UTF-8 names
  number(entry, pack ? 8 : 0, 2);
  number(entry, 0, 2), number(entry, 0x21, 2);  // 1980-01-01: equal trees make equal files
  number(entry, crc, 4);
  number(entry, long_size ? all_ones : stored, 4), number(entry, long_size ? all_ones : total, 4);
  number(entry, name.size(), 2);
  number(directory_, 0x02014b50, 4), number(directory_, version, 2);
  directory_ += entry;
  number(directory_, extra_size(extra), 2);
  number(directory_, 0, 2), number(directory_, 0, 2), number(directory_, 0, 2), number(directory_, 0, 4);
  number(directory_, long_at ? all_ones : at, 4);
  directory_ += name;
  add_extra(directory_, extra);
  std::string local;
  number(local, 0x04034b50, 4);
  local += entry;
  number(local, extra_size(sizes), 2);
  local += name;
  add_extra(local, sizes);
  if (!pack) local += head;
  file_.write(local.data(), local.size());
  file_.write(pack ? packed.data() : data, static_cast<std::size_t>(pack ? stored : size));
}

NAX_ENGINE void ZipWriter::commit() {
  const std::uint64_t at = file_.position(), size = directory_.size(), members = names_.size();
  std::string end;
  if (at > most_ || size > most_ || members >= 0xffff) {
    const std::uint64_t record = at + size;
    number(end, 0x06064b50, 4), number(end, 44, 8), number(end, 45, 2), number(end, 45, 2);
    number(end, 0, 4), number(end, 0, 4), number(end, members, 8), number(end, members, 8);
    number(end, size, 8), number(end, at, 8);
    number(end, 0x07064b50, 4), number(end, 0, 4), number(end, record, 8), number(end, 1, 4);
  }
  const std::uint64_t count = members >= 0xffff ? 0xffff : members;
  number(end, 0x06054b50, 4), number(end, 0, 2), number(end, 0, 2);
  number(end, count, 2), number(end, count, 2);
  number(end, size > most_ ? all_ones : size, 4), number(end, at > most_ ? all_ones : at, 4);
  number(end, 0, 2);
  file_.write(directory_.data(), directory_.size());
  file_.write(end.data(), end.size());
  file_.commit();
}

}  // namespace io::detail
NAX_END
