#pragma once

#include <atomic>
#include <string>

#include "nax/tree/path.hpp"

// Warnings for inputs of a gradient that the result does not depend on.
NAX_BEGIN

// Switches warnings of grad, value_and_grad and vjp on or off, for all threads. A warning goes to stderr,
// once a call, and names the inputs that no path leads to: their gradient is zero. The most common cause is
// a value read from a recorded array (item, to_vector) and put back as a number. The environment variable
// NAX_DEBUG_GRADIENTS=1 switches the warnings on from the start.
NAX_ENGINE void debug_gradients(bool on);

namespace detail {

NAX_ENGINE std::atomic<bool>& debugging_gradients();

// The inputs of one call that got no cotangent.
class UnreachedInputs {
 public:
  explicit UnreachedInputs(const char* function) : function_(function) {}
  void add(std::size_t argument, const tree::detail::Path& path);
  void warn() const;

 private:
  const char* function_;
  std::string names_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include <cstdlib>
#include <iostream>
#include <string_view>

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
#endif
