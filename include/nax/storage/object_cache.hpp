#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "nax/io/file.hpp"
#include "nax/storage/sha256.hpp"

// Objects that were read, in a folder: a file each, named by the hash of its address, with a checksum before
// the bytes. Files get their names when they are whole, so that processes may share the folder. Using a file
// sets its time; where the files hold more than the limit, those go first that were not used for longest.
namespace nax::inline NAX_ABI::storage::detail {

class ObjectCache {
 public:
  ObjectCache(const std::string& folder, std::int64_t limit) : folder_(folder), limit_(limit) {
    for (std::size_t slash = 0; slash != std::string::npos;) {
      slash = folder_.find('/', slash + 1);
      if (::mkdir(folder_.substr(0, slash).c_str(), 0777) != 0 && errno != EEXIST &&
          slash == std::string::npos)
        io::detail::fail_system("storage", folder_, "cannot be made");
    }
    held_ = trim(limit_);
  }

  bool read(const std::string& address, io::Bytes& object) const {
    const std::string path = path_of(address);
    const io::detail::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status;
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || status.st_size < 40) return false;
    std::uint8_t header[40];
    object.resize(static_cast<std::size_t>(status.st_size) - sizeof header);
    if (!get(file.get(), header, sizeof header) || !get(file.get(), object.data(), object.size()))
      return false;
    if (std::memcmp(header, "naxobj01", 8) != 0 ||
        std::memcmp(header + 8, digest_of(object).data(), 32) != 0) {
      ::unlink(path.c_str());
      return false;
    }
    ::futimens(file.get(), nullptr);
    return true;
  }

  // What cannot be kept is not kept: the object is there all the same.
  void write(const std::string& address, const io::Bytes& object) {
    static std::atomic<std::uint64_t> files{0};
    const auto size = static_cast<std::int64_t>(object.size()) + 40;
    if (size > limit_) return;
    make_room(size);
    const std::string path = path_of(address), temporary = path + ".part" + std::to_string(::getpid()) + "-" +
                                                           std::to_string(files.fetch_add(1));
    std::uint8_t header[40];
    const Digest digest = digest_of(object);
    std::memcpy(header, "naxobj01", 8);
    std::memcpy(header + 8, digest.data(), 32);
    io::detail::Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    const bool written = file.get() >= 0 && put(file.get(), header, sizeof header) &&
                         put(file.get(), object.data(), object.size()) && file.close() &&
                         ::rename(temporary.c_str(), path.c_str()) == 0;
    if (!written) ::unlink(temporary.c_str());
    const std::lock_guard lock(mutex_);
    if (written) held_ += size;
  }

 private:
  static Digest digest_of(const io::Bytes& bytes) {
    Sha256 hash;
    hash.add(bytes.data(), bytes.size());
    return hash.finish();
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
      timespec used;
      std::string path;
      std::int64_t size;
    };
    std::vector<File> files;
    std::int64_t held = 0;
    if (DIR* const folder = ::opendir(folder_.c_str())) {
      while (const dirent* entry = ::readdir(folder)) {
        const std::string name = entry->d_name;
        struct stat status;
        const std::string path = folder_ + "/" + name;
        if (name.size() < 5 || name.compare(name.size() - 4, 4, ".obj") != 0 ||
            ::stat(path.c_str(), &status) != 0)
          continue;
        files.push_back({status.st_mtim, path, static_cast<std::int64_t>(status.st_size)});
        held += status.st_size;
      }
      ::closedir(folder);
    }
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
      return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
    });
    for (const File& file : files) {
      if (held <= most) break;
      if (::unlink(file.path.c_str()) == 0) held -= file.size;
    }
    return held;
  }
  static bool get(int file, void* to, std::size_t size) {
    for (auto* out = static_cast<char*>(to); size > 0;) {
      const ssize_t got = ::read(file, out, size);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      out += got, size -= static_cast<std::size_t>(got);
    }
    return true;
  }
  static bool put(int file, const void* from, std::size_t size) {
    for (const auto* in = static_cast<const char*>(from); size > 0;) {
      const ssize_t done = ::write(file, in, size);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return false;
      in += done, size -= static_cast<std::size_t>(done);
    }
    return true;
  }
  std::string folder_;
  std::int64_t limit_;
  std::mutex mutex_;
  std::int64_t held_ = 0;
};

}  // namespace nax::inline NAX_ABI::storage::detail
