#pragma once

#include <chrono>

#include "nax/io/new_file.hpp"
#include "nax/modules/training/log_file.hpp"

NAX_BEGIN
namespace training::detail {

NAX_ENGINE double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
NAX_ENGINE double steady_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

NAX_ENGINE LogFile::LogFile(const char* function, const std::string& path, double seconds)
    : function_(function),
      path_(path),
      seconds_(seconds),
      written_at_(steady_clock()),
      file_(nax::detail::os::open_file(path, nax::detail::os::Open::to_append)) {
  if (file_.get() < 0) io::detail::fail_system(function, path, "cannot be opened");
}

NAX_ENGINE LogFile::~LogFile() {
  try {
    flush();
  } catch (...) {  // flush() before the end tells
  }
}

NAX_ENGINE void LogFile::add(const std::string& record) {
  const std::lock_guard lock(mutex_);
  held_ += record;
  if (held_.size() > std::size_t{1} << 20 || steady_clock() - written_at_ >= seconds_) write_held();
}

NAX_ENGINE void LogFile::flush() {
  const std::lock_guard lock(mutex_);
  write_held();
}

NAX_ENGINE void LogFile::write_held() {
  std::size_t done = 0;
  while (done < held_.size()) {
    const std::int64_t n =
        nax::detail::os::write_to_reader(file_.get(), held_.data() + done, held_.size() - done);
    if (n < 0) {
      held_.erase(0, done);
      io::detail::fail_system(function_, path_, "cannot be written");
    }
    done += static_cast<std::size_t>(n);
  }
  held_.clear();
  written_at_ = steady_clock();
}

}  // namespace training::detail
NAX_END
