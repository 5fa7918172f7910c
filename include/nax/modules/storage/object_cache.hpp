#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>

#include "nax/core/at_fork.hpp"
#include "nax/io/new_file.hpp"
#include "nax/io/part_files.hpp"
#include "nax/modules/data/identity.hpp"
#include "nax/modules/storage/sha256.hpp"

// Objects that were read, in a folder: a file each, named by the hash of its address, with a checksum and the
// ETag before the bytes. Files get their names when they are whole, so that processes may share the folder.
// Using a file sets its time; where the files hold more than the limit, those go first that were not used for
// longest.
NAX_BEGIN
namespace storage::detail {
namespace os = nax::detail::os;

class ObjectCache {
 public:
  ObjectCache(const std::string& folder, std::int64_t limit) : folder_(folder), limit_(limit) {
    io::detail::check_local_folder("storage: .cache", folder_);
    io::detail::need_folder("storage", folder_);
    io::detail::sweep_parts(folder_);
    held_ = trim(limit_);
  }

  bool read(const std::string& address, io::Bytes& object, std::string& etag) const {
    const std::string path = path_of(address);
    const io::detail::Descriptor file(os::open_file(path, os::Open::to_read));
    os::FileStatus status;
    if (file.get() < 0 || !os::status_of(file.get(), status) || status.size < header_bytes) return false;
    std::uint8_t header[header_bytes], expected[header_bytes];
    if (!get(file.get(), header, sizeof header)) return false;
    const auto left = static_cast<std::uint64_t>(status.size - header_bytes);
    const auto etag_bytes = io::detail::little_endian<std::uint64_t>(header + 24);
    etag.resize(static_cast<std::size_t>(std::min({etag_bytes, left, std::uint64_t{longest_etag}})));
    object.resize(static_cast<std::size_t>(left) - etag.size());
    if (!get(file.get(), etag.data(), etag.size())) return false;
    data::detail::ContentHash hash;
    constexpr std::size_t piece = 256 << 10;  // is hashed while the processor's cache still has it
    for (std::size_t at = 0; at < object.size(); at += piece) {
      const std::size_t size = std::min(piece, object.size() - at);
      if (!get(file.get(), object.data() + at, size)) return false;
      hash.add(object.data() + at, size);
    }
    head(object.size(), hash.finish(), etag, expected);
    if (std::memcmp(header, expected, header_bytes) != 0) {
      os::remove_file(path);
      return false;
    }
    os::touch(file.get());
    return true;
  }

  void forget(const std::string& address) const { os::remove_file(path_of(address)); }

  // Keeps the object. A failure to keep it is ignored, since the caller has it; the first one is reported.
  void write(const std::string& address, const io::Bytes& object, std::string etag) {
    if (etag.size() > longest_etag) etag.clear();
    const auto size = static_cast<std::int64_t>(object.size() + etag.size()) + header_bytes;
    if (size > limit_) return;
    make_room(size);
    const std::string path = path_of(address), temporary = io::detail::part_name(path);
    std::uint8_t header[header_bytes];
    head(object.size(), data::detail::content_hash(object.data(), object.size()), etag, header);
    io::detail::Descriptor file(os::open_file(temporary, os::Open::to_create));
    const bool written = file.get() >= 0 && put(file.get(), header, sizeof header) &&
                         put(file.get(), etag.data(), etag.size()) &&
                         put(file.get(), object.data(), object.size()) && file.close() &&
                         os::replace_file(temporary, path);
    if (!written) {
      const std::string why = std::strerror(errno);
      file.close();
      os::remove_file(temporary);
      if (!said_.exchange(true))
        std::fprintf(stderr, "storage: the cache '%s' cannot be written to: %s; reading goes on without it\n",
                     folder_.c_str(), why.c_str());
    }
    const std::lock_guard lock(mutex_);
    if (written) held_ += size;
  }

 private:
  static constexpr int header_bytes = 32;
  static constexpr std::size_t longest_etag = 1024;
  static void head(std::uint64_t size, std::uint64_t hash, const std::string& etag, std::uint8_t* to) {
    const std::uint64_t etag_bytes = etag.size();
    hash ^= data::detail::content_hash(etag.data(), etag.size()) << 1;
    std::memcpy(to, "naxobj03", 8), std::memcpy(to + 8, &size, 8), std::memcpy(to + 16, &hash, 8);
    std::memcpy(to + 24, &etag_bytes, 8);
  }
  std::string path_of(const std::string& address) const {
    return folder_ + "/" + hex(sha256(address)) + ".obj";
  }

  void make_room(std::int64_t size) {
    const std::lock_guard lock(mutex_);
    if (held_ + size > limit_) held_ = trim(std::max<std::int64_t>(0, limit_ - limit_ / 10 - size));
  }
  // Until no more than `most` bytes are left; how many are.
  std::int64_t trim(std::int64_t most) const {
    struct File {
      std::int64_t seconds, nanoseconds;  // of the last use
      std::string path;
      std::int64_t size;
    };
    std::vector<File> files;
    std::int64_t held = 0;
    std::vector<std::string> names;
    os::names_in(folder_, names);
    for (const std::string& name : names) {
      const std::string path = folder_ + "/" + name;
      os::FileStatus status;
      if (name.size() < 5 || name.compare(name.size() - 4, 4, ".obj") != 0 || !os::status_of(path, status))
        continue;
      files.push_back({status.seconds, status.nanoseconds, path, status.size});
      held += status.size;
    }
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
      return std::pair(a.seconds, a.nanoseconds) < std::pair(b.seconds, b.nanoseconds);
    });
    for (const File& file : files) {
      if (held <= most) break;
      if (os::remove_file(file.path)) held -= file.size;
    }
    return held;
  }
  static bool get(int file, void* to, std::size_t size) {
    for (auto* out = static_cast<char*>(to); size > 0;) {
      const std::int64_t got = os::read_some(file, out, size);
      if (got <= 0) return false;
      out += got, size -= static_cast<std::size_t>(got);
    }
    return true;
  }
  static bool put(int file, const void* from, std::size_t size) {
    for (const auto* in = static_cast<const char*>(from); size > 0;) {
      const std::int64_t done = os::write_some(file, in, size);
      if (done < 0) return false;
      in += done, size -= static_cast<std::size_t>(done);
    }
    return true;
  }
  std::string folder_;
  std::int64_t limit_;
  nax::detail::ForkMutex mutex_;
  std::int64_t held_ = 0;
  std::atomic<bool> said_{false};
};

}  // namespace storage::detail
NAX_END
