#pragma once

#include <string>

#include "nax/core/error.hpp"

// What the error of this kind says that f throws; one of another kind goes on to the test and fails it.
template <class Kind = nax::ValueError>
std::string refusal(const auto& f) {
  try {
    f();
  } catch (const Kind& error) {
    return error.what();
  }
  return "no error";
}
