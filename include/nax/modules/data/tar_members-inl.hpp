#pragma once

#include "nax/modules/data/tar_members.hpp"

NAX_BEGIN
namespace data::detail {

class TarReader {
 public:
  static constexpr std::uint64_t block = 512;

  TarReader(const io::detail::Source& file, std::uint64_t at, std::uint64_t base)
      : file_(file), at_(at), base_(base) {}

  bool read(TarMember& member) {
    std::string long_name;
    std::uint64_t long_size = 0;
    bool has_name = false, has_size = false;
    for (;;) {
      if (!read_header()) {
        if (has_name || has_size) fail("ends behind the long name of a member");
        return false;
      }
      if (!parse(124, 12, member.size)) fail("has a member with an impossible size");
      const char type = static_cast<char>(header_[156]);
      if (type == 'L' || type == 'K') {
        const std::string text = special(member.size);
        if (type == 'L') long_name = text.substr(0, text.find('\0')), has_name = true;
      } else if (type == 'x' || type == 'X') {
        read_pax(special(member.size), long_name, has_name, long_size, has_size);
      } else if (type == 'g') {
        special(member.size);  // what holds for all members is nothing that we ask for
      } else {
        if (type == 'S') fail("has a sparse member, which is not read");
        if (has_size) member.size = long_size;
        member.name = has_name ? long_name : short_name();
        finish(member, type);
        return true;
      }
    }
  }

 private:
  // False at the end of the archive.
  bool read_header() {
    if (at_ >= file_.size()) fail("is truncated: it ends without the block of zeros that ends an archive");
    if (file_.size() - at_ < block) fail("is truncated: it ends in the header of a member");
    file_.read(at_, header_, block);
    std::uint64_t sum = 0;
    std::int64_t signed_sum = 0;  // old programs
    for (std::size_t i = 0; i < block; ++i) {
      const std::uint8_t byte = i >= 148 && i < 156 ? ' ' : header_[i];
      sum += byte, signed_sum += static_cast<std::int8_t>(byte);
    }
    if (sum == 8 * ' ' && header_[148] == 0) return false;  // nothing but zeros
    std::uint64_t stored;
    if (!parse(148, 8, stored) || (stored != sum && static_cast<std::int64_t>(stored) != signed_sum))
      fail(at_ + base_ == 0 ? "is no tar archive, or a compressed one: the header has the wrong checksum"
                            : "is damaged: the header of a member has the wrong checksum");
    return true;
  }

  // Octal digits, or, where the first byte says so, all the bits of the others.
  bool parse(std::size_t from, std::size_t size, std::uint64_t& value) const {
    std::size_t i = from;
    const std::size_t end = from + size;
    value = 0;
    if (header_[i] & 0x80) {
      if (header_[i++] != 0x80) return false;  // negative, or beyond all files
      for (; i < end; ++i) {
        if (value >> 55) return false;
        value = value << 8 | header_[i];
      }
      return true;
    }
    while (i < end && header_[i] == ' ') ++i;
    for (; i < end && header_[i] >= '0' && header_[i] <= '7'; ++i)
      value = value << 3 | static_cast<std::uint64_t>(header_[i] - '0');  // at most 36 bits
    while (i < end && (header_[i] == ' ' || header_[i] == 0)) ++i;
    return i == end;
  }

  std::string field(std::size_t from, std::size_t size) const {
    const char* const text = reinterpret_cast<const char*>(header_) + from;
    return std::string(text, ::strnlen(text, size));
  }
  std::string short_name() const {
    const std::string name = field(0, 100);
    const bool ustar = std::memcmp(header_ + 257, "ustar", 6) == 0;  // GNU's has other things there
    const std::string prefix = ustar ? field(345, 155) : "";
    return prefix.empty() ? name : prefix + "/" + name;
  }

  // Passes over a header and the bytes behind it, and gives those.
  std::string special(std::uint64_t size) {
    constexpr std::uint64_t most = 1 << 20;
    if (size > most) fail("has a name of more than a MiB");
    const std::uint64_t data = at_ + block;
    if (size > file_.size() - data) fail("is truncated: it ends in the name of a member");
    std::string text(static_cast<std::size_t>(size), '\0');
    file_.read(data, text.data(), text.size());
    at_ = data + rounded(size);
    return text;
  }

  // Lines of "length key=value", the length being the line's own.
  void read_pax(const std::string& text, std::string& name, bool& has_name, std::uint64_t& size,
                bool& has_size) const {
    const auto bad = [&]() { fail("has a pax header that is damaged, before the member"); };
    for (std::size_t at = 0; at < text.size() && text[at] != '\0';) {
      std::size_t length = 0, i = at;
      for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && length < text.size(); ++i)
        length = 10 * length + static_cast<std::size_t>(text[i] - '0');
      if (i == at || i >= text.size() || text[i] != ' ' || length > text.size() - at || length < i - at + 3 ||
          text[at + length - 1] != '\n')
        bad();
      const std::string line = text.substr(i + 1, at + length - 1 - (i + 1));
      at += length;
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos) bad();
      const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
      if (key == "path") {
        name = value, has_name = true;
      } else if (key == "size") {
        if (value.empty() || value.size() > 18 || value.find_first_not_of("0123456789") != std::string::npos)
          bad();
        size = std::stoull(value), has_size = true;
      } else if (key.rfind("GNU.sparse", 0) == 0) {
        fail("has a sparse member, which is not read");
      }
    }
  }

  void finish(TarMember& member, char type) const {
    const bool folder = type == '5' || (!member.name.empty() && member.name.back() == '/');
    const bool empty = folder || (type >= '1' && type <= '6');  // whatever size it says
    if (empty) member.size = 0;
    member.regular = !folder && (type == '0' || type == '\0' || type == '7');
    member.data = at_ + block;
    if (member.size > file_.size() - member.data)
      fail("is truncated: it ends in the member '" + member.name.substr(0, 200) + "' of " +
           std::to_string(member.size) + " bytes");
    member.next = member.data + rounded(member.size);
  }

  static std::uint64_t rounded(std::uint64_t size) { return (size + block - 1) / block * block; }
  [[noreturn, gnu::cold]] void fail(const std::string& what) const {
    file_.fail(what + ", at offset " + std::to_string(at_ + base_));
  }

  const io::detail::Source& file_;
  std::uint64_t at_, base_;
  std::uint8_t header_[block];
};

NAX_ENGINE bool read_tar_member(const io::detail::Source& file, std::uint64_t at, TarMember& member,
                                std::uint64_t base) {
  return TarReader(file, at, base).read(member);
}

}  // namespace data::detail
NAX_END
