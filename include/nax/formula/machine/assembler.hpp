#pragma once

#if defined(__aarch64__)
#include "nax/formula/machine/arm/assembler.hpp"
#else
#include "nax/formula/machine/x86/assembler.hpp"
#endif
