#pragma once

#include <exception>
#include <string>

// The text of what f throws, of type E.
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
