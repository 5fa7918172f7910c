#pragma once

#include <gtest/gtest.h>

#include <string>

#include "nax/formula/kernel.hpp"

// Whether maps are fused: where formulas become machine code.
inline bool fuses() {
#if defined(NAX_USES_FORMULAS)
  return nax::formula::machine() != nax::formula::Machine::none;
#else
  return false;
#endif
}

// Expects a program with this text to have `count` steps, where maps are fused.
inline void expect_steps(const std::string& text, std::size_t count) {
  if (!fuses()) return;
  std::size_t steps = 0;
  for (std::size_t at = text.find(" = "); at != std::string::npos; at = text.find(" = ", at + 1)) ++steps;
  EXPECT_EQ(steps, count) << text;
}
