#pragma once

#include <mutex>
#include <string>

#include "nax/core/at_fork.hpp"
#include "nax/io/file.hpp"

// Files that grow while a program runs, for other programs to follow.
NAX_BEGIN
namespace training::detail {

// Appends whole records to a file, from any thread. They are on their way to the reader when `seconds` have
// passed and another is added, after flush(), and at the end. A file that cannot be written throws IoError.
class LogFile {
 public:
  LogFile(const char* function, const std::string& path, double seconds);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  void add(const std::string& record);
  void flush();
  const std::string& path() const { return path_; }

 private:
  void write_held();

  const char* function_;
  std::string path_;
  double seconds_, written_at_;
  nax::detail::ForkMutex mutex_;
  io::detail::Descriptor file_;
  std::string held_;
};

// Seconds since 1970, and since some moment, of a clock that never goes back.
NAX_ENGINE double wall_clock();
NAX_ENGINE double steady_clock();

}  // namespace training::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/training/log_file-inl.hpp"
#endif
