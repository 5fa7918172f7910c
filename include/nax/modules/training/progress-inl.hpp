#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "nax/core/os/os.hpp"
#include "nax/modules/training/progress.hpp"

NAX_BEGIN
namespace training {
namespace detail {

NAX_ENGINE std::string duration_text(double seconds) {
  const auto all = static_cast<long long>(std::clamp(std::ceil(seconds), 0.0, 1e12));
  const long long days = all / 86400, hours = all / 3600 % 24, minutes = all / 60 % 60, rest = all % 60;
  char text[64];
  if (days > 0)
    std::snprintf(text, sizeof text, "%lldd %02lld:%02lld:%02lld", days, hours, minutes, rest);
  else if (hours > 0)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", hours, minutes, rest);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", minutes, rest);
  return text;
}

}  // namespace detail

NAX_ENGINE Progress::Progress(std::int64_t total, const ProgressOptions& options)
    : total_(total), options_(options), shown_(options.always || nax::detail::os::is_terminal(stderr)) {
  if (!options_.now) options_.now = detail::steady_clock;
  begun_ = measured_at_ = options_.now();
}

NAX_ENGINE Progress::~Progress() {
  try {
    finish();
  } catch (...) {  // a stream that throws
  }
}

NAX_ENGINE void Progress::step(std::int64_t count, const std::string& text) {
  done_ += count;
  text_ = text;
  const double now = options_.now(), passed = now - measured_at_;
  if (passed < options_.seconds || passed <= 0) return;
  const double last = static_cast<double>(done_ - measured_) / passed;
  // Of a while of ten seconds; the first measurement alone counts in full.
  const double weight = rate_ == 0 ? 1 : 1 - std::exp(-passed / 10);
  rate_ += weight * (last - rate_);
  measured_ = done_, measured_at_ = now;
  if (shown_) print();
}

NAX_ENGINE std::string Progress::line() const {
  char text[160];
  std::string out = std::to_string(done_);
  if (total_ > 0) {
    std::snprintf(text, sizeof text, "/%lld %lld%%", static_cast<long long>(total_),
                  static_cast<long long>(100.0 * static_cast<double>(done_) / static_cast<double>(total_)));
    out += text;
  }
  if (rate_ > 0) {
    std::snprintf(text, sizeof text, rate_ < 100 ? " %.3g " : " %.0f ", rate_);
    out += text + options_.unit + "/s";
    const double now = options_.now();
    if (done_ < total_)
      out += ", " + detail::duration_text(static_cast<double>(total_ - done_) / rate_) + " left";
    else
      out += ", " + detail::duration_text(now - begun_) + " in all";
  }
  return text_.empty() ? out : out + ", " + text_;
}

NAX_ENGINE void Progress::print() {
  std::string text = line();
  const std::size_t width = text.size();
  if (width < width_) text.append(width_ - width, ' ');  // over the rest of the line before
  width_ = width;
  *options_.out << '\r' << text << std::flush;
}

NAX_ENGINE void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  const double passed = options_.now() - begun_;
  if (passed > 0) rate_ = static_cast<double>(done_) / passed;  // of all of it
  if (!shown_) return;
  print();
  *options_.out << std::endl;
}

}  // namespace training
NAX_END
