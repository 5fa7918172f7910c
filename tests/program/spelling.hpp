#pragma once

#include <nax/nax.hpp>

#if defined(NAX_USES_FORMULAS)
#include "nax/program/passes/passes.hpp"
#endif

namespace program_tests {

// While it lives, programs compute small arrays element by element, or do not. Tests of this folder are of
// the other passes, and see no such program but where they ask for one (spell_small_test.cpp).
class Spelling {
 public:
#if defined(NAX_USES_FORMULAS)
  explicit Spelling(bool on) : before_(nax::program::detail::spells_small.exchange(on)) {}
  ~Spelling() { nax::program::detail::spells_small = before_; }
#else
  explicit Spelling(bool) : before_(false) {}
#endif
  Spelling(const Spelling&) = delete;
  Spelling& operator=(const Spelling&) = delete;

 private:
  [[maybe_unused]] bool before_;
};

}  // namespace program_tests
