#include "nax/io/new_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "files.hpp"

// Effects of writing on existing files.
namespace new_file_test {
using files::Bytes;
using nax::IoError;
using nax::io::detail::NewFile;

void save(const std::string& path, const std::string& text) {
  NewFile file("save", path);
  file.write(text.data(), text.size());
  file.commit();
}
std::string text_in(const std::string& path) {
  const Bytes bytes = files::read(path);
  return {bytes.begin(), bytes.end()};
}

// A folder of its own for each test, empty at first.
class Folder : public testing::Test {
 protected:
  Folder() : path_(files::path_of("folder_XXXXXX")) { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  ~Folder() override { static_cast<void>(std::system(("rm -r '" + path_ + "'").c_str())); }
  std::string at(const std::string& name) const { return path_ + "/" + name; }
  int files() const {
    int n = -2;  // . and ..
    DIR* const folder = ::opendir(path_.c_str());
    while (::readdir(folder)) ++n;
    ::closedir(folder);
    return n;
  }
  static mode_t mode(const std::string& path) {
    struct stat status;
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  std::string path_;
};
using NewFileTest = Folder;

TEST_F(NewFileTest, ReplacesAndLeavesNothingBeside) {
  save(at("f"), "one");
  save(at("f"), "two");
  EXPECT_EQ(text_in(at("f")), "two");
  {
    NewFile file("save", at("f"));
    file.write("half", 4);
    EXPECT_EQ(files(), 2);
  }
  EXPECT_EQ(text_in(at("f")), "two");
  EXPECT_EQ(files(), 1);
}

TEST_F(NewFileTest, TwoAtOnceAreTwoFiles) {
  NewFile a("save", at("f")), b("save", at("f"));
  a.write("aaa", 3), b.write("b", 1);
  b.commit();
  EXPECT_EQ(text_in(at("f")), "b");
  a.commit();
  EXPECT_EQ(text_in(at("f")), "aaa");
  EXPECT_EQ(files(), 1);
}

TEST_F(NewFileTest, KeepsTheMode) {
  const mode_t mask = ::umask(022);
  save(at("f"), "new");
  EXPECT_EQ(mode(at("f")), 0644u);
  for (mode_t kept : {0600, 0640, 0666, 0755}) {
    ::chmod(at("f").c_str(), kept);
    save(at("f"), "again");
    EXPECT_EQ(mode(at("f")), kept);
  }
  ::umask(mask);
}

TEST_F(NewFileTest, FollowsLinks) {
  ASSERT_EQ(::mkdir(at("d").c_str(), 0777), 0);
  save(at("d/f"), "old");
  ASSERT_EQ(::symlink("d/f", at("link").c_str()), 0);
  ASSERT_EQ(::symlink(at("link").c_str(), at("link2").c_str()), 0);
  save(at("link2"), "new");
  EXPECT_EQ(text_in(at("d/f")), "new");
  struct stat status;
  ASSERT_EQ(::lstat(at("link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(::symlink("d/not_yet", at("dangling").c_str()), 0);
  save(at("dangling"), "there now");
  EXPECT_EQ(text_in(at("d/not_yet")), "there now");
  ASSERT_EQ(::symlink("round", at("round").c_str()), 0);
  files::expect_refused([&] { save(at("round"), "x"); }, "cannot be written: Too many levels");
  EXPECT_EQ(files(), 5);
}

TEST_F(NewFileTest, WritesThroughDevicesAndPipes) {
  struct stat status;
  save("/dev/null", "nothing");
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  files::expect_refused([] { save("/dev/full", "x"); }, "cannot be written: No space");
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = text_in(at("pipe")); });
  save(at("pipe"), std::string(200000, 'p'));
  reader.join();
  EXPECT_EQ(got, std::string(200000, 'p'));
  ASSERT_EQ(::stat(at("pipe").c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
}

TEST_F(NewFileTest, APipeWithoutAReaderIsAnError) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const int reader = ::open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  NewFile file("save", at("pipe"));
  ::close(reader);
  files::expect_refused([&] { file.write("x", 1); }, "cannot be written: Broken pipe");  // and no SIGPIPE
  sigset_t waiting;
  ::sigpending(&waiting);
  EXPECT_FALSE(::sigismember(&waiting, SIGPIPE));
}

TEST_F(NewFileTest, RefusesFoldersAndWhatMayNotBeWritten) {
  files::expect_refused([&] { save(path_, "x"); }, "it is a folder");
  files::expect_refused([&] { save(path_ + "/", "x"); }, "it is a folder");
  files::expect_refused([&] { save(at("no/f"), "x"); }, "cannot be written: No such file");
  files::expect_refused([&] { save("", "x"); }, "cannot be written");
  save(at("f"), "old");
  ::chmod(at("f").c_str(), 0444);
  if (::geteuid() != 0) files::expect_refused([&] { save(at("f"), "x"); }, "Permission denied");
  save(at(std::string(255, 'n')), "the longest name there is");
  EXPECT_EQ(files(), 2);
}

TEST_F(NewFileTest, TakesNoNameThatIsThere) {
  // Files left by a crashed process with the same id stay unchanged.
  const std::string part = at("f.part" + std::to_string(::getpid()) + "-");
  std::string next;
  {
    NewFile probe("save", at("f"));
    for (int i = 0; i < 100000 && next.empty(); ++i)
      if (::access((part + std::to_string(i)).c_str(), F_OK) == 0) next = part + std::to_string(i + 1);
  }
  ASSERT_FALSE(next.empty());
  files::write(next, {'l', 'e', 'f', 't'});
  save(at("f"), "mine");
  EXPECT_EQ(text_in(at("f")), "mine");
  EXPECT_EQ(text_in(next), "left");
}

TEST_F(NewFileTest, ReadingDevicesIsRefused) {
  files::expect_refused([] { files::read("/dev/zero"); }, "is a device");
  files::expect_refused([&] { files::read(path_); }, "is a folder");
}

}  // namespace new_file_test
