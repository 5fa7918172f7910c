#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

// A progress bar for long runs.
namespace examples {

// One epoch's bar on the last line of a terminal; nothing at all where stderr is a file or a pipe.
class ProgressBar {
 public:
  ProgressBar(std::int64_t epoch, std::int64_t total) : epoch_(epoch), total_(total) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  void show(std::int64_t done, double loss) {
    const int filled = static_cast<int>(done * width / total_);
    if (!on_terminal_ || filled == shown_) return;
    shown_ = filled;
    std::string bar(static_cast<std::size_t>(filled), '#');
    bar.resize(width, '.');
    std::fprintf(stderr, "\repoch %d [%s] %3d%%  loss %.4f ", static_cast<int>(epoch_), bar.c_str(),
                 static_cast<int>(100 * done / total_), loss);
    std::fflush(stderr);
  }
  // Leaves an empty line, where the next output can go.
  void clear() {
    if (shown_ >= 0) std::fprintf(stderr, "\r\033[K");
    shown_ = -1;
  }

 private:
  static constexpr int width = 40;
  std::int64_t epoch_, total_;
  bool on_terminal_ = isatty(STDERR_FILENO) != 0;
  int shown_ = -1;
};

}  // namespace examples
