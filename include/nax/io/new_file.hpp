#pragma once

#include <atomic>

#include "nax/io/file.hpp"

// Files that are there complete or not at all.
NAX_BEGIN
namespace io::detail {

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
    if (!temporary_.empty()) file_.close(), os::remove_file(temporary_);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const void* data, std::size_t size);
  std::uint64_t position() const { return position_; }

  void commit();

 private:
  [[noreturn, gnu::cold]] void fail_writing() const { fail_system(function_, path_, "cannot be written"); }

  // With its slash; a path without one is in the working folder.
  static std::string folder_of(const std::string& path) {
    const std::size_t slash = path.find_last_of(os::separators);
    return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
  }
  // Where a path leads that ends in symbolic links, also to what is not there yet.
  static std::string followed(std::string path);
  // Creates a new file with a unique name in the folder of the target: rename does not reach further.
  void open_beside(unsigned mode);

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
