#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "nax/transform/debug_gradients.hpp"

NAX_BEGIN

NAX_ENGINE void debug_gradients(bool on) { detail::debugging_gradients().store(on); }

namespace detail {

NAX_ENGINE std::atomic<bool>& debugging_gradients() {
  static std::atomic<bool> on = [] {
    const char* text = std::getenv("NAX_DEBUG_GRADIENTS");
    return text && *text && std::string_view(text) != "0";
  }();
  return on;
}

NAX_ENGINE void UnreachedInputs::add(std::size_t argument, const tree::detail::Path& path) {
  if (!names_.empty()) names_ += ", ";
  names_ += "argument " + std::to_string(argument) + path.text();
}

NAX_ENGINE void UnreachedInputs::warn() const {
  if (names_.empty()) return;
  std::cerr << function_ + (": no path leads from " + names_) +
                   " to the result; the gradient is zero there\n";
}

}  // namespace detail
NAX_END
