#pragma once

#include <cstdio>

#include "nax/io/crc32.hpp"
#include "nax/io/new_file.hpp"
#include "nax/io/part_files.hpp"
#include "nax/modules/data/failure.hpp"

// A folder of stored elements, a file each, below the folder that the user names: one for each pipeline,
// named by its fingerprint. A file gets its name when all of it is written, so that several processes may
// fill one folder: they write the same. It is believed if its sizes, its checksum and the pipeline that it
// was made by are right; any other is as if it were not there. Nothing waits for the disk: a crash of the
// machine costs elements, not truth.
NAX_BEGIN
namespace data::detail {

class CacheFolder {
 public:
  CacheFolder(std::string folder, std::uint64_t print);

  static constexpr std::size_t header_bytes = 32;

  // The file's bytes, elements from header_bytes on; none where there is no such file or it is not to be
  // believed.
  bool read(std::int64_t i, io::Bytes& bytes) const;

  // Where the folder cannot be written to (a full disk), the first time says so on stderr, and nothing more
  // is kept: the loop goes on without.
  void write(std::int64_t i, const io::Bytes& element);

 private:
  std::string path_of(std::int64_t i) const {
    char name[32];
    std::snprintf(name, sizeof name, i < 0 ? "/size.nax" : "/%010lld.nax", static_cast<long long>(i));
    return folder_ + name;
  }
  // Magic, pipeline, number, size and checksum.
  void header(io::Bytes& out, std::int64_t i, const std::uint8_t* data, std::size_t size) const;
  static bool put(int file, const io::Bytes& bytes);
  std::string named_, folder_;  // by the user; of the files
  std::uint64_t print_;
  std::atomic<bool> full_{false};
};

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/cache_folder-inl.hpp"
#endif
