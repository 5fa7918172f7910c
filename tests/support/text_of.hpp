#pragma once

#include <exception>
#include <string>

// Returns the text of the exception of type E that f throws.
template <class E, class F>
std::string text_of(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another kind of error: ") + error.what();
  }
  return "nothing was thrown";
}
