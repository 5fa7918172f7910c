#pragma once

#include <string>

#include "nax/core/error.hpp"

// Returns the text of the Error that f throws. Exceptions of other types propagate and fail the test.
template <class Kind = nax::ValueError>
std::string refusal(const auto& f) {
  try {
    f();
  } catch (const Kind& error) {
    return error.what();
  }
  return "no error";
}
