#pragma once

#include <cstdlib>

namespace program_tests {

// A number in the environment.
inline int setting(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

}  // namespace program_tests
