#pragma once

#include <signal.h>

#include <atomic>
#include <climits>
#include <ctime>

#include "nax/io/file.hpp"

// Files that are there complete or not at all.
NAX_BEGIN
namespace io::detail {

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

// Makes a folder and those above it, as `mkdir -p`. Returns 0, or the number of the error that keeps it from
// being there. With `sync` new names are brought to the disk.
NAX_ENGINE int make_folders(const std::string& path, bool sync = false);
// As make_folders. Throws IoError.
NAX_ENGINE void need_folder(const char* function, const std::string& path,
                            const char* what = "cannot be made");

// Writes a file beside the one it replaces and gives it the name when all of it is on the disk, so that
// readers see the old one or the new one, however many write at once; without commit() it disappears.
//
// A symbolic link stays: what it points to is replaced. The new file has the mode and, where the system lets
// us, the owner of the old one; a file that may not be written is not replaced. What is no file (a pipe,
// /dev/stdout) has no place for a second one beside it and is written through. The bytes for an address
// (s3://bucket/key) are kept until commit() uploads them, by nax::storage.
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
  // Creates a new file with a unique name in the folder of the target: rename does not reach further.
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
  RemoteFiles* remote_ = nullptr;  // of an address
  Bytes bytes_;
};

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/new_file-inl.hpp"
#endif
