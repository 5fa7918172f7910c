#include "download.hpp"

#if defined(_WIN32)
#include <process.h>
#else
#include <spawn.h>
#include <sys/wait.h>
#endif

#include <cstdio>
#include <nax/io/mnist.hpp>
#include <nax/modules/storage/sha256.hpp>
#include <string>
#include <vector>

#if !defined(_WIN32)
extern char** environ;
#endif

namespace examples {
namespace {

struct MnistFile {
  const char* name;
  const char* sha256;  // of what gunzip gives: mirrors do not agree on how they pack it
};
constexpr MnistFile mnist_files[] = {
    {"train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {"train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {"t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {"t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}};

constexpr const char* mnist_mirrors[] = {"https://storage.googleapis.com/cvdf-datasets/mnist/",
                                         "https://ossci-datasets.s3.amazonaws.com/mnist/"};

bool run_curl(const std::string& url, const std::string& to) {
  std::vector<std::string> words = {"curl", "--fail",     "--silent", "--location", "--connect-timeout",
                                    "10",   "--max-time", "300",      "--output",   to,
                                    url};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
#if defined(_WIN32)
  return _spawnvp(_P_WAIT, "curl", arguments.data()) == 0;
#else
  pid_t child;
  int status = 0;
  return posix_spawnp(&child, "curl", nullptr, nullptr, arguments.data(), environ) == 0 &&
         waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
#endif
}

bool is_genuine(const MnistFile& file, const std::string& path) {
  constexpr std::uint64_t most = 1 << 26;  // the largest of the four has 47 million bytes
  try {
    const auto bytes = nax::io::gunzip(nax::io::detail::read_file("download", path), path, most);
    nax::storage::detail::Sha256 hash;
    hash.add(bytes.data(), bytes.size());
    return nax::storage::detail::hex(hash.finish()) == file.sha256;
  } catch (const nax::IoError&) {
    return false;
  }
}

}  // namespace

bool fetch_mnist(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  for (const MnistFile& file : mnist_files) {
    const std::string name = std::string(file.name) + ".gz", path = (folder / name).string(),
                      part = path + ".part";
    bool there = is_genuine(file, path);
    for (const char* mirror : mnist_mirrors) {
      if (there) break;
      std::fprintf(stderr, "fetching %s%s\n", mirror, name.c_str());
      if (!run_curl(mirror + name, part)) continue;
      there = is_genuine(file, part);
      if (!there)
        std::fprintf(stderr, "%s%s is not the file it should be (wrong SHA-256)\n", mirror, name.c_str());
      if (there) std::filesystem::rename(part, path, ignored);
    }
    std::filesystem::remove(part, ignored);
    if (!there) return false;
  }
  return true;
}

}  // namespace examples
