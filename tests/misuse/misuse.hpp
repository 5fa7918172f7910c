#pragma once

#include <gtest/gtest.h>

#include <string>

#include "nax/core/error.hpp"

// One misuse: the error it throws, and that the library is usable afterwards.
namespace misuse {

struct Row {
  void (*misuse)();
  std::string text;
};

void check_still_usable();

template <class Kind>
void expect_error(const Row& row) {
  try {
    row.misuse();
    ADD_FAILURE() << "no error; expected: " << row.text;
  } catch (const Kind& error) {
    EXPECT_EQ(error.what(), row.text);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of error: " << error.what() << "; expected: " << row.text;
  }
  check_still_usable();
}

}  // namespace misuse

#define NAX_MISUSE(kind, name, text, ...)                         \
  TEST(Misuse, name) {                                            \
    misuse::expect_error<nax::kind>({[] { __VA_ARGS__; }, text}); \
  }
