#pragma once

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "nax/core/error.hpp"
#include "nax/core/os/os.hpp"

// Compiled kernels on the disk, found by what they are compiled from. A file holds its key, the image and a
// checksum of both: one that is cut short, damaged or another key's counts as absent. Files are written under
// another name and renamed, so that processes may share the folder. Nothing is ever removed.
NAX_BEGIN
namespace cuda {

class ImageCache {
 public:
  // An empty folder keeps nothing.
  explicit ImageCache(std::string folder) : folder_(std::move(folder)) {}

  // NAX_CACHE_DIR/kernels, else $XDG_CACHE_HOME/nax/kernels, else ~/.cache/nax/kernels; none with
  // NAX_KERNEL_CACHE=0.
  static std::string default_folder() {
    const auto given = [](const char* name) {
      const char* const text = std::getenv(name);
      return std::string(text ? text : "");
    };
    const std::string wanted = given("NAX_KERNEL_CACHE");
    if (!wanted.empty() && wanted != "0" && wanted != "1")
      throw ValueError("NAX_KERNEL_CACHE: 0 or 1 expected: " + wanted);
    if (wanted == "0") return {};
    if (const std::string folder = given("NAX_CACHE_DIR"); !folder.empty()) return folder + "/kernels";
    if (const std::string folder = given("XDG_CACHE_HOME"); !folder.empty()) return folder + "/nax/kernels";
    if (const std::string home = given("HOME"); !home.empty()) return home + "/.cache/nax/kernels";
    return {};
  }

  std::string path_of(const std::string& key) const {
    char name[40];
    std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(checksum(key, 1)),
                  static_cast<unsigned long long>(checksum(key, 2)));
    return folder_ + "/" + name + ".bin";
  }

  std::optional<std::string> read(const std::string& key) const {
    if (folder_.empty()) return std::nullopt;
    std::ifstream file(path_of(key), std::ios::binary);
    if (!file) return std::nullopt;
    const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    Head head;
    if (all.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, all.data(), sizeof head);
    const std::string body = all.substr(sizeof head);
    if (std::memcmp(head.magic, Head().magic, sizeof head.magic) != 0 || head.key_bytes != key.size() ||
        body.size() < key.size() || head.image_bytes != body.size() - key.size() ||
        head.checksum != checksum(body, 3) || body.compare(0, key.size(), key) != 0)
      return std::nullopt;
    return body.substr(key.size());
  }

  // A failure to keep the image is ignored: the caller has it.
  void write(const std::string& key, const std::string& image) const {
    if (folder_.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    static std::atomic<unsigned> count{0};
    const std::string path = path_of(key), temporary = path + "." + std::to_string(detail::os::process_id()) +
                                                       "." + std::to_string(count++);
    const std::string body = key + image;
    Head head;
    head.key_bytes = key.size();
    head.image_bytes = image.size();
    head.checksum = checksum(body, 3);
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&head), sizeof head);
    file.write(body.data(), static_cast<std::streamsize>(body.size()));
    file.close();
    if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) std::remove(temporary.c_str());
  }

 private:
  struct Head {
    char magic[8] = {'n', 'a', 'x', 'k', 'r', 'n', '0', '1'};
    std::uint64_t key_bytes = 0, image_bytes = 0, checksum = 0;
  };
  static std::uint64_t checksum(const std::string& bytes, std::uint64_t seed) {
    std::uint64_t hash = seed * 0x9e3779b97f4a7c15u + bytes.size();
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
      hash = (hash ^ word) * 0xff51afd7ed558ccdu;
      hash ^= hash >> 32;
    }
    return hash;
  }

  std::string folder_;
};

}  // namespace cuda
NAX_END
