#include "nax/core/os/os.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

namespace os_test {
namespace os = nax::detail::os;

class Os : public testing::Test {
 protected:
  Os() : folder_(testing::TempDir() + "/nax_os_" + std::to_string(os::process_id()) + "_\xc3\xa9") {
    std::filesystem::remove_all(as_path());
    EXPECT_TRUE(os::make_folder(folder_));
  }
  ~Os() override { std::filesystem::remove_all(as_path()); }

  std::filesystem::path as_path() const {
    return std::filesystem::path(std::u8string(folder_.begin(), folder_.end()));
  }
  std::string in_folder(const char* name) const { return folder_ + "/" + name; }
  static void write(int file, const std::string& text) {
    EXPECT_EQ(os::write_some(file, text.data(), text.size()), static_cast<std::int64_t>(text.size()));
    EXPECT_TRUE(os::close_file(file));
  }
  std::string text_in(const char* name) const {
    const int file = os::open_file(in_folder(name), os::Open::to_read);
    char text[64];
    const std::int64_t got = os::read_some(file, text, sizeof text);
    EXPECT_GE(got, 0);
    EXPECT_EQ(os::read_some(file, text + std::max<std::int64_t>(got, 0), 1), 0) << "at the end";
    EXPECT_TRUE(os::close_file(file));
    return std::string(text, static_cast<std::size_t>(std::max<std::int64_t>(got, 0)));
  }

  std::string folder_;
};

TEST_F(Os, OpensFilesAsAsked) {
  EXPECT_LT(os::open_file(in_folder("none"), os::Open::to_read), 0);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_LT(os::open_file(in_folder("none"), os::Open::to_write), 0);
  write(os::open_file(in_folder("a"), os::Open::to_create), "line\nend\x1a\n");
  EXPECT_EQ(text_in("a"), "line\nend\x1a\n") << "no byte is translated";
  EXPECT_LT(os::open_file(in_folder("a"), os::Open::to_create), 0);
  EXPECT_EQ(errno, EEXIST);
  write(os::open_file(in_folder("a"), os::Open::to_overwrite), "12");
  write(os::open_file(in_folder("a"), os::Open::to_append), "3");
  EXPECT_EQ(text_in("a"), "123");
  write(os::open_file(in_folder("a"), os::Open::to_write), "4");
  EXPECT_EQ(text_in("a"), "423");
  const int file = os::open_file(in_folder("a"), os::Open::to_read);
  char text[4] = {};
  EXPECT_EQ(os::read_some_at(file, text, 2, 1), 2);
  EXPECT_STREQ(text, "23");
  EXPECT_EQ(os::read_some_at(file, text, 2, 3), 0);
  os::close_file(file);
}

TEST_F(Os, KnowsKindsAndSizes) {
  write(os::open_file(in_folder("a"), os::Open::to_create), "123");
  os::FileStatus status;
  ASSERT_TRUE(os::status_of(in_folder("a"), status));
  EXPECT_EQ(status.kind, os::FileKind::file);
  EXPECT_EQ(status.size, 3);
  EXPECT_NEAR(static_cast<double>(status.seconds), static_cast<double>(std::time(nullptr)), 60);
  ASSERT_TRUE(os::status_of(folder_, status));
  EXPECT_EQ(status.kind, os::FileKind::folder);
  EXPECT_FALSE(os::status_of(in_folder("none"), status));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(os::exists(in_folder("a")));
  EXPECT_FALSE(os::exists(in_folder("none")));
  EXPECT_FALSE(os::make_folder(folder_));
  EXPECT_EQ(errno, EEXIST);
}

TEST_F(Os, ReplacesAndRemovesFilesThatAreOpen) {
  write(os::open_file(in_folder("old"), os::Open::to_create), "old");
  write(os::open_file(in_folder("new"), os::Open::to_create), "new");
  EXPECT_TRUE(os::replace_file(in_folder("new"), in_folder("old")));
  EXPECT_EQ(text_in("old"), "new");
  EXPECT_FALSE(os::exists(in_folder("new")));
  EXPECT_FALSE(os::replace_file(in_folder("new"), in_folder("old")));
  EXPECT_EQ(errno, ENOENT);
  const int file = os::open_file(in_folder("old"), os::Open::to_read);
  EXPECT_TRUE(os::remove_file(in_folder("old")));
  char byte;
  EXPECT_EQ(os::read_some(file, &byte, 1), 1);
  os::close_file(file);
  EXPECT_FALSE(os::remove_file(in_folder("old")));
}

TEST_F(Os, ListsNames) {
  write(os::open_file(in_folder("b"), os::Open::to_create), "");
  write(os::open_file(in_folder("\xc3\xbc"), os::Open::to_create), "");
  std::vector<std::string> names;
  ASSERT_TRUE(os::names_in(folder_, names));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{".", "..", "b", "\xc3\xbc"}));
  EXPECT_FALSE(os::names_in(in_folder("none"), names));
}

TEST_F(Os, LocksFoldersOnce) {
  const int one = os::open_lock(folder_), other = os::open_lock(folder_);
  EXPECT_EQ(os::try_lock(one), os::Lock::held);
  EXPECT_EQ(os::try_lock(other), os::Lock::taken);
  os::unlock(one);
  EXPECT_EQ(os::try_lock(other), os::Lock::held);
  os::close_file(other);
  EXPECT_EQ(os::try_lock(one), os::Lock::held);
  os::close_file(one);
  EXPECT_LT(os::open_lock(in_folder("none")), 0);
}

TEST_F(Os, MapsCopiesOfFiles) {
  write(os::open_file(in_folder("a"), os::Open::to_create), "123");
  const int file = os::open_file(in_folder("a"), os::Open::to_read);
  auto* const text = static_cast<char*>(os::map_file(file, 3));
  os::close_file(file);
  ASSERT_NE(text, nullptr);
  os::advise_random(text, 3), os::advise_soon(text + 1, 2);
  EXPECT_EQ(std::memcmp(text, "123", 3), 0);
  text[1] = 'x';
  EXPECT_EQ(text_in("a"), "123");
  os::unmap_file(text, 3);
}

TEST(OsThreads, KeysAreToldOfEnds) {
  static int ended;
  static const os::ThreadKey key([](void* value) {
    if (value) ended += *static_cast<int*>(value);
  });
  int value = 5;
  std::thread([&] { key.set(&value); }).join();
  EXPECT_EQ(ended, 5);
  std::thread([&] { key.set(&value), key.set(nullptr); }).join();
  EXPECT_EQ(ended, 5);
  std::thread([] { EXPECT_FALSE(os::is_main_thread()); }).join();
  EXPECT_GE(os::thread_seconds(), 0);
}

TEST(OsProcess, KnowsItself) {
  EXPECT_GT(os::process_id(), 0);
  EXPECT_FALSE(os::has_ended(os::process_id()));
  EXPECT_FALSE(os::host_name().empty());
  EXPECT_GE(os::usable_cores(), 0);
  EXPECT_EQ(os::utc(86400).tm_mday, 2);
  EXPECT_TRUE(os::is_absolute("/a"));
  EXPECT_FALSE(os::is_absolute("a/b"));
}

TEST(OsMemory, RunsCodeThatItCopied) {
  void* const block = os::allocate_aligned(64, 128);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
  os::free_aligned(block);
#if defined(__x86_64__)
  const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov eax, 42; ret
  void* const made = os::make_code(code, sizeof code);
  ASSERT_NE(made, nullptr);
  int (*f)();
  std::memcpy(&f, &made, sizeof f);
  EXPECT_EQ(f(), 42);
  os::free_code(made, sizeof code);
#endif
}

}  // namespace os_test
