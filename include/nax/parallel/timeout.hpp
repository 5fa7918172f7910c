#pragma once

#include <chrono>
#include <cstdlib>
#include <string>

#include "nax/core/error.hpp"

NAX_BEGIN
namespace detail {

// How long devices wait for each other where a library brings them together: NAX_COLLECTIVE_TIMEOUT_S, 300
// seconds.
inline std::chrono::duration<double> collective_timeout() {
  const char* text = std::getenv("NAX_COLLECTIVE_TIMEOUT_S");
  if (!text) return std::chrono::seconds(300);
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0) || seconds > 1e9)
    raise<ValueError>({"NAX_COLLECTIVE_TIMEOUT_S: must be a number of seconds, not '", text, "'"});
  return std::chrono::duration<double>(seconds);
}
inline std::chrono::steady_clock::time_point deadline_from_now() {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(collective_timeout());
}
// "300 seconds (NAX_COLLECTIVE_TIMEOUT_S)"
inline std::string timeout_text() {
  std::string text = std::to_string(collective_timeout().count());
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + " seconds (NAX_COLLECTIVE_TIMEOUT_S)";
}

}  // namespace detail
NAX_END
