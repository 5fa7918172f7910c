#pragma once

#include <functional>
#include <iostream>
#include <string>

#include "nax/modules/training/log_file.hpp"

// A line that tells how far a loop is.
NAX_BEGIN
namespace training {
namespace detail {

// 0:07, 12:05, 3:00:00, or 2d 03:00:00.
NAX_ENGINE std::string duration_text(double seconds);

}  // namespace detail

struct ProgressOptions {
  std::string unit = "examples";
  std::ostream* out = &std::cerr;
  bool always = false;               // also where the standard error stream is no terminal
  double seconds = 0.2;              // between two prints
  std::function<double()> now = {};  // a clock in seconds, for tests
};

// Prints `1200/5000 24% 8130 images/s, 0:12 left, loss 0.31` over and over in one line, if standard error is
// a terminal or .always is set. The rate is that of the last while, by exponential weights.
class Progress {
 public:
  // `total` units; 0 where it is not known.
  explicit Progress(std::int64_t total, const ProgressOptions& options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `count` more are done. The text stands at the end of the line.
  void step(std::int64_t count = 1, const std::string& text = {});
  // Units in a second; 0 before the first.
  double rate() const { return rate_; }
  // The line as it is now.
  std::string line() const;
  // Prints the last line and ends it; the destructor does as well.
  void finish();

 private:
  void print();

  std::int64_t total_, done_ = 0, measured_ = 0;
  ProgressOptions options_;
  bool shown_, finished_ = false;
  double begun_, measured_at_, rate_ = 0;
  std::size_t width_ = 0;
  std::string text_;
};

}  // namespace training
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/training/progress-inl.hpp"
#endif
