#pragma once

#include <set>

#include "nax/io/crc32.hpp"
#include "nax/io/deflate.hpp"
#include "nax/io/new_file.hpp"

NAX_BEGIN
namespace io::detail {

// Zip archives as .npz files are: members stored as they are, or packed, each with a CRC. Sizes, offsets and
// counts that the format's own fields cannot hold go into its "zip64" fields, which NumPy reads too.
class ZipWriter {
 public:
  // `most` is the largest number that goes into a field of four bytes (0xffffffff says: look into zip64's).
  ZipWriter(const char* function, const std::string& path, std::uint64_t most = 0xffff'fffe)
      : function_(function), path_(path), most_(most), file_(function, path) {}

  // One member: its bytes are those of `head` and of `data`, packed where that is asked for and makes them
  // fewer.
  void add(const std::string& name, const std::string& head, const void* data, std::size_t size,
           bool pack = false);

  void commit();

 private:
  static constexpr std::uint64_t all_ones = 0xffff'ffff;

  static void number(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  }
  static std::size_t extra_size(const std::string& extra) { return extra.empty() ? 0 : 4 + extra.size(); }
  static void add_extra(std::string& out, const std::string& extra) {
    if (extra.empty()) return;
    number(out, 1, 2), number(out, extra.size(), 2);  // zip64's fields are known by the number 1
    out += extra;
  }

  const char* function_;
  std::string path_;
  std::uint64_t most_;
  NewFile file_;
  std::string directory_;
  std::set<std::string> names_;
};

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/zip_writer-inl.hpp"
#endif
