#pragma once

#include "nax/io/new_file.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE int make_folders(const std::string& path, bool sync) {
  int error = 0;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find_first_of(os::separators, end + 1);
    const std::string part = path.substr(0, end);
    if (os::make_folder(part)) {
      if (sync) os::sync_folder(part + "/..");
    } else if (errno != EEXIST && error == 0) {
      error = errno;
    }
  }
  os::FileStatus status;
  if (os::status_of(path, status) && status.kind == os::FileKind::folder) return 0;
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
  os::FileStatus old;
  const bool exists = os::status_of(target_, old);
  if (!exists && (errno != ENOENT || target_.empty())) fail_writing();
  if (exists && old.kind == os::FileKind::folder) fail(function_, path_, "cannot be written: it is a folder");
  if (exists && old.kind != os::FileKind::file) {
    file_ = Descriptor(os::open_file(target_, os::Open::to_write));
    if (file_.get() < 0) fail_writing();
    return;
  }
  if (exists && !os::may_write(target_)) fail_writing();
  open_beside(exists ? 0600 : 0666);
  if (exists) os::take_after(file_.get(), old);
}

NAX_ENGINE void NewFile::write(const void* data, std::size_t size) {
  const auto* from = static_cast<const char*>(data);
  position_ += size;
  if (remote_) {
    bytes_.insert(bytes_.end(), from, from + size);
    return;
  }
  while (size > 0) {
    const std::int64_t put = temporary_.empty() ? os::write_to_reader(file_.get(), from, size)
                                                : os::write_some(file_.get(), from, size);
    if (put < 0) fail_writing();
    from += put, size -= static_cast<std::size_t>(put);
  }
}

NAX_ENGINE void NewFile::commit() {
  if (remote_) {
    remote_->write(path_, bytes_);
    return;
  }
  if (!temporary_.empty() && !os::sync_file(file_.get())) fail_writing();
  if (!file_.close()) fail_writing();
  if (temporary_.empty()) return;
  if (!os::replace_file(temporary_, target_)) fail_system(function_, path_, "cannot be replaced");
  temporary_.clear();
  if (!os::sync_folder(folder_of(target_)))
    fail_system(function_, path_, "was written, but its folder was not");
}

NAX_ENGINE std::string NewFile::followed(std::string path) {
  for (int links = 0; links < 40; ++links) {  // as many as Linux follows
    const std::string to = os::link_target(path);
    if (to.empty()) break;
    path = os::is_absolute(to) ? to : folder_of(path) + to;
  }
  return path;
}

NAX_ENGINE void NewFile::open_beside(unsigned mode) {
  static std::atomic<std::uint64_t> files{0};
  constexpr std::size_t longest = 200;  // a name of 255 bytes is still a name with what is added to it
  const std::string folder = folder_of(target_);
  const std::string name = target_.substr(target_.find_last_of(os::separators) + 1, longest) + ".part" +
                           std::to_string(os::process_id()) + "-";
  for (int attempt = 0; attempt < 1000; ++attempt) {  // of others' names only what a crash left can be ours
    temporary_ = folder + name + std::to_string(files.fetch_add(1, std::memory_order_relaxed));
    file_ = Descriptor(os::open_file(temporary_, os::Open::to_create, mode));
    if (file_.get() >= 0) return;
    if (errno != EEXIST) break;
  }
  temporary_.clear();
  fail_writing();
}

}  // namespace io::detail
NAX_END
