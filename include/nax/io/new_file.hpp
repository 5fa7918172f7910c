#pragma once

#include <signal.h>

#include <atomic>
#include <climits>
#include <ctime>

#include "nax/io/file.hpp"

// Files that are there complete or not at all.
namespace nax::inline NAX_ABI::io::detail {

// A pipe whose reader is gone is an error of write(), not the end of the process: SIGPIPE is held back in
// this thread meanwhile, and taken away if write() raised it.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t waiting;
    ::sigemptyset(&pipe_), ::sigaddset(&pipe_, SIGPIPE);
    ::sigpending(&waiting);
    was_waiting_ = ::sigismember(&waiting, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const int error = errno;
    const timespec now{};
    if (!was_waiting_ && error == EPIPE) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_waiting_;
};

// Brings the names in a folder to the disk; false: the disk failed. Some file systems know no fsync of
// folders, and a folder that may not be read cannot be opened: then this is as much as can be done.
NAX_ENGINE bool sync_folder(const std::string& folder);

// Writes a file beside the one it replaces and gives it the name when all of it is on the disk, so that
// whoever reads sees the old one or the new one, however many write at once; without commit() it disappears.
//
// A symbolic link stays: what it points to is replaced. The new file has the mode and, where the system lets
// us, the owner of the old one; a file that may not be written is not replaced. What is no file (a pipe,
// /dev/stdout) has no place for a second one beside it and is written through.
class NewFile {
 public:
  NewFile(const char* function, const std::string& path);
  ~NewFile() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const void* data, std::size_t size);
  std::uint64_t position() const { return position_; }

  void commit();

 private:
  [[noreturn, gnu::cold]] void fail_writing() const { fail_system(function_, path_, "cannot be written"); }
  ssize_t write_through(const char* from, std::size_t size) const {
    const NoPipeSignal held;
    return ::write(file_.get(), from, size);
  }

  // With its slash; a path without one is in the working folder.
  static std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
  }
  // Where a path leads that ends in symbolic links, also to what is not there yet.
  static std::string followed(std::string path);
  // Creates a file that nobody else has, in the folder of the target: rename does not reach further.
  void open_beside(mode_t mode);
  // Nothing here is worth failing for: a file system without owners or modes keeps its own.
  void take_after(const struct stat& old) {
    mode_t mode = old.st_mode & 07777;
    // In another group the group's rights would be other people's.
    if (::fchown(file_.get(), static_cast<uid_t>(-1), old.st_gid) != 0) mode &= ~mode_t{02070};
    if (::fchown(file_.get(), old.st_uid, static_cast<gid_t>(-1)) != 0) mode &= ~mode_t{04000};
    static_cast<void>(::fchmod(file_.get(), mode) == 0);
  }

  const char* function_;
  std::string path_, target_, temporary_;  // no temporary: written through, or done
  Descriptor file_;
  std::uint64_t position_ = 0;
};

}  // namespace nax::inline NAX_ABI::io::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::io::detail {

NAX_ENGINE bool sync_folder(const std::string& folder) {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return file.get() < 0 || ::fsync(file.get()) == 0 || errno != EIO;
}

NAX_ENGINE NewFile::NewFile(const char* function, const std::string& path)
    : function_(function), path_(path), target_(followed(path)) {
  struct stat old;
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (!exists && (errno != ENOENT || target_.empty())) fail_writing();
  if (exists && S_ISDIR(old.st_mode)) fail(function_, path_, "cannot be written: it is a folder");
  if (exists && !S_ISREG(old.st_mode)) {
    file_ = Descriptor(::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (file_.get() < 0) fail_writing();
    return;
  }
  if (exists && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) fail_writing();
  open_beside(exists ? 0600 : 0666);
  if (exists) take_after(old);
}

NAX_ENGINE void NewFile::write(const void* data, std::size_t size) {
  const auto* from = static_cast<const char*>(data);
  position_ += size;
  while (size > 0) {
    const ssize_t put = temporary_.empty() ? write_through(from, size) : ::write(file_.get(), from, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_writing();
    from += put, size -= static_cast<std::size_t>(put);
  }
}

NAX_ENGINE void NewFile::commit() {
  if (!temporary_.empty() && ::fsync(file_.get()) != 0) fail_writing();
  if (!file_.close()) fail_writing();
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_system(function_, path_, "cannot be replaced");
  temporary_.clear();
  if (!sync_folder(folder_of(target_))) fail_system(function_, path_, "was written, but its folder was not");
}

NAX_ENGINE std::string NewFile::followed(std::string path) {
  char next[PATH_MAX];
  for (int links = 0; links < 40; ++links) {  // as many as Linux follows
    const ssize_t size = ::readlink(path.c_str(), next, sizeof next);
    if (size <= 0 || size == sizeof next) break;
    const std::string to(next, static_cast<std::size_t>(size));
    path = to[0] == '/' ? to : folder_of(path) + to;
  }
  return path;
}

NAX_ENGINE void NewFile::open_beside(mode_t mode) {
  static std::atomic<std::uint64_t> files{0};
  constexpr std::size_t longest = 200;  // a name of 255 bytes is still a name with what is added to it
  const std::string folder = folder_of(target_);
  const std::string name =
      target_.substr(target_.rfind('/') + 1, longest) + ".part" + std::to_string(::getpid()) + "-";
  for (int attempt = 0; attempt < 1000; ++attempt) {  // of others' names only what a crash left can be ours
    temporary_ = folder + name + std::to_string(files.fetch_add(1, std::memory_order_relaxed));
    file_ = Descriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file_.get() >= 0) return;
    if (errno != EEXIST) break;
  }
  temporary_.clear();
  fail_writing();
}

}  // namespace nax::inline NAX_ABI::io::detail
#endif
