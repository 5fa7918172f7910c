#pragma once

#include "nax/io/new_file.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE bool sync_folder(const std::string& folder) {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return file.get() < 0 || ::fsync(file.get()) == 0 || errno != EIO;
}

NAX_ENGINE int make_folders(const std::string& path, bool sync) {
  int error = 0;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0777) == 0) {
      if (sync) sync_folder(part + "/..");
    } else if (errno != EEXIST && error == 0) {
      error = errno;
    }
  }
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return 0;
  return error != 0 ? error : ENOTDIR;
}

NAX_ENGINE void need_folder(const char* function, const std::string& path, const char* what) {
  if ((errno = make_folders(path)) != 0) fail_system(function, path, what);
}

NAX_ENGINE NewFile::NewFile(const char* function, const std::string& path)
    : function_(function), path_(path), target_(is_address(path) ? path : followed(path)) {
  if (is_address(path)) {
    remote_ = &need_remote_files(function, path);
    return;
  }
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
  if (remote_) {
    bytes_.insert(bytes_.end(), from, from + size);
    return;
  }
  while (size > 0) {
    const ssize_t put = temporary_.empty() ? write_through(from, size) : ::write(file_.get(), from, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_writing();
    from += put, size -= static_cast<std::size_t>(put);
  }
}

NAX_ENGINE void NewFile::commit() {
  if (remote_) {
    remote_->write(path_, bytes_);
    return;
  }
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

}  // namespace io::detail
NAX_END
