#pragma once

#include <exception>
#include <string>

#include "nax/core/error.hpp"

// The text of the ValueError that f throws.
template <class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const nax::ValueError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}
