#pragma once

#include <map>

#include "nax/io/member.hpp"

NAX_BEGIN
namespace io::detail {

// The directory of a zip archive, members stored or deflated, zip64 or not. Strict where two programs could
// see two archives in one file: the directory ends where its end record begins, no two members have one name
// or share bytes. A member's bytes are touched (and its CRC is checked) when it is read, so that an archive
// costs what its reader takes from it.
class ZipReader {
 public:
  struct Entry {
    std::string name;
    std::uint64_t at = 0, end = 0;  // of the local header; of what the member may have of the file
    std::uint64_t packed = 0, size = 0;
    std::uint32_t crc = 0;
    bool deflated = false;
  };

  explicit ZipReader(const Source& source) : source_(source) {
    std::uint8_t start[2] = {};
    if (source.size() >= 22) source.read(0, start, 2);
    if (start[0] != 'P' || start[1] != 'K') source.fail("is not a .npz file: no zip archive");
    find_directory();
    read_directory();
  }

  // By name, without the .npy that NumPy adds; who reads all of them takes them out.
  std::map<std::string, Entry>& entries() { return entries_; }

  Member open(const Entry& entry) const;

 private:
  static std::string leaf_name(const std::string& name) {
    const bool is_npy = name.size() >= 4 && name.compare(name.size() - 4, 4, ".npy") == 0;
    return is_npy ? name.substr(0, name.size() - 4) : name;
  }
  [[noreturn, gnu::cold]] void fail_at(const std::string& name, const std::string& what) const {
    source_.fail("(" + name + ") " + what);
  }
  void need(bool fine, const char* what) const {
    if (!fine) source_.fail(what);
  }

  void find_directory();

  // Entry by entry: what is no directory must not be allocated as one.
  void read_directory();

  // How much of the directory it takes.
  std::uint64_t read_entry(std::uint64_t at, std::uint64_t end, Entry& entry) const;
  void read_zip64(const std::uint8_t* extra, std::size_t extra_size, Entry& entry) const;

  static constexpr const char* overlaps = "is damaged: its bytes are those of another member, too";
  static constexpr const char* no_long_sizes = "is damaged: its zip64 sizes are missing";

  const Source& source_;
  std::uint64_t count_ = 0, directory_size_ = 0, directory_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/zip_reader-inl.hpp"
#endif
