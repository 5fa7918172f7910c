#include <gtest/gtest.h>

#include <filesystem>

#include "cuda/text/texts.hpp"
#include "nax/devices/cuda/text/text_image.hpp"

// Images of kernels on the disk.
namespace text_cache_test {

namespace fs = std::filesystem;
using nax::cuda::image_of, nax::cuda::ImageCache, nax::cuda::Nvrtc;

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/nax-cache-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file()) all.push_back(entry.path());
    return all;
  }
};
void overwrite(const fs::path& path, std::size_t at, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

TEST(ImageCache, KeepsImagesByKey) {
  const Folder folder;
  const ImageCache cache(folder.path + "/made/when/needed");
  EXPECT_EQ(cache.read("key"), std::nullopt);
  const std::string image("a\0b", 3);
  cache.write("key", image);
  cache.write("other", "");
  EXPECT_EQ(cache.read("key"), image);
  EXPECT_EQ(cache.read("other"), "");
  EXPECT_EQ(cache.read("another"), std::nullopt);
  cache.write("key", "c");
  EXPECT_EQ(cache.read("key"), "c");
  EXPECT_EQ(folder.files().size(), 2u);  // and no temporary ones
}

TEST(ImageCache, IgnoresDamagedFiles) {
  const Folder folder;
  const ImageCache cache(folder.path);
  const std::string key = "a key", image = "an image of some length";
  cache.write(key, image);
  const fs::path path = cache.path_of(key);
  const std::size_t size = fs::file_size(path);
  for (std::size_t at = 0; at < size; ++at) {  // any byte
    overwrite(path, at, '#');
    EXPECT_EQ(cache.read(key), std::nullopt) << at;
    cache.write(key, image);
    ASSERT_EQ(cache.read(key), image);
  }
  for (std::size_t length = 0; length < size; ++length) {
    fs::resize_file(path, length);
    EXPECT_EQ(cache.read(key), std::nullopt) << length;
    cache.write(key, image);
  }
  cache.write("another key", image);  // of a colliding name
  fs::copy_file(cache.path_of("another key"), path, fs::copy_options::overwrite_existing);
  EXPECT_EQ(cache.read(key), std::nullopt);
}

TEST(ImageCache, WorksWithoutAFolder) {
  const ImageCache none(""), unwritable("/proc/no/such");
  for (const ImageCache* cache : {&none, &unwritable}) {
    cache->write("key", "image");
    EXPECT_EQ(cache->read("key"), std::nullopt);
  }
}

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};
TEST(ImageCache, FindsItsFolder) {
  const Variable home("HOME", "/home/me"), none("XDG_CACHE_HOME", nullptr),
      none_too("NAX_CACHE_DIR", nullptr), unset("NAX_KERNEL_CACHE", nullptr);
  EXPECT_EQ(ImageCache::default_folder(), "/home/me/.cache/nax/kernels");
  const Variable xdg("XDG_CACHE_HOME", "/xdg");
  EXPECT_EQ(ImageCache::default_folder(), "/xdg/nax/kernels");
  const Variable own("NAX_CACHE_DIR", "/own");
  EXPECT_EQ(ImageCache::default_folder(), "/own/kernels");
  {
    const Variable off("NAX_KERNEL_CACHE", "0");
    EXPECT_EQ(ImageCache::default_folder(), "");
  }
  const Variable wrong("NAX_KERNEL_CACHE", "no");
  EXPECT_THROW(ImageCache::default_folder(), nax::ValueError);
}

// ---- with NVRTC

#define NAX_NEEDS_NVRTC() \
  if (!Nvrtc::is_present()) GTEST_SKIP() << "libnvrtc is not installed"

std::string text(float number) {
  nax::formula::Recorder recorder(nax::DType::float32);
  using V = nax::formula::Symbol<float>;
  return texts::text_of(nax::formula::lowered(recorder.finish({(V::input(0) * V(number)).at})));
}

TEST(KernelImage, IsCompiledOnce) {
  NAX_NEEDS_NVRTC();
  const Folder folder;
  const ImageCache cache(folder.path);
  const auto compiled = [&](const std::string& text, const char* architecture) {
    const int before = Nvrtc::compiled();
    EXPECT_FALSE(image_of(text, architecture, cache).empty());
    return Nvrtc::compiled() - before;
  };
  EXPECT_EQ(compiled(text(2), "sm_90"), 1);
  EXPECT_EQ(compiled(text(2), "sm_90"), 0);
  EXPECT_EQ(compiled(text(3), "sm_90"), 1);       // another text
  EXPECT_EQ(compiled(text(2), "sm_80"), 1);       // another card
  EXPECT_EQ(compiled(text(2), "compute_90"), 1);  // another kind of image
  ASSERT_EQ(folder.files().size(), 4u);
  const std::string image = image_of(text(2), "sm_90", cache);
  for (const fs::path& path : folder.files()) overwrite(path, 500, '\1');
  EXPECT_EQ(compiled(text(2), "sm_90"), 1);  // a damaged file is written anew
  EXPECT_EQ(compiled(text(2), "sm_90"), 0);
  EXPECT_EQ(image_of(text(2), "sm_90", cache), image);
  EXPECT_NE(nax::cuda::image_key("", "sm_90", "13.0"), nax::cuda::image_key("", "sm_90", "13.1"));
  EXPECT_EQ(Nvrtc::get().version(), Nvrtc::get().version());
}

TEST(KernelImage, OfAWrongTextIsNotKept) {
  NAX_NEEDS_NVRTC();
  const Folder folder;
  EXPECT_THROW(image_of("wrong", "sm_90", ImageCache(folder.path)), nax::DeviceError);
  EXPECT_TRUE(folder.files().empty());
}

// In processes of their own, which the next test starts.
TEST(KernelImage, DISABLED_InOneOfTwoProcesses) {
  const ImageCache cache(ImageCache::default_folder());
  for (int i = 0; i < 20; ++i) ASSERT_FALSE(image_of(text(static_cast<float>(i)), "sm_90", cache).empty());
}
TEST(KernelImage, IsSharedByProcesses) {
  NAX_NEEDS_NVRTC();
  const Folder folder;
  const Variable own("NAX_CACHE_DIR", folder.path.c_str()), unset("NAX_KERNEL_CACHE", nullptr);
  const std::string program = fs::read_symlink("/proc/self/exe").string(),
                    command =
                        "'" + program +
                        "' --gtest_also_run_disabled_tests --gtest_filter=*InOneOfTwoProcesses > /dev/null";
  std::FILE* const one = popen(command.c_str(), "r");
  std::FILE* const other = popen(command.c_str(), "r");
  EXPECT_EQ(pclose(one), 0);
  EXPECT_EQ(pclose(other), 0);
  EXPECT_EQ(folder.files().size(), 20u);
  const int before = Nvrtc::compiled();
  const ImageCache cache(ImageCache::default_folder());
  for (int i = 0; i < 20; ++i) image_of(text(static_cast<float>(i)), "sm_90", cache);
  EXPECT_EQ(Nvrtc::compiled(), before);
}

#undef NAX_NEEDS_NVRTC

}  // namespace text_cache_test
