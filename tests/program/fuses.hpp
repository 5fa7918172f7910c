#pragma once

#include "nax/formula/kernel.hpp"

// Whether maps are fused: where formulas become machine code.
inline bool fuses() {
#if defined(NAX_USES_FORMULAS)
  return nax::formula::machine() != nax::formula::Machine::none;
#else
  return false;
#endif
}
