#pragma once

// Registers<T>: what a machine's registers of float and of double do, as static functions over the compiler's
// own vector type. There is one definition for each instruction set. Packet<T> is the value type made of it.
//
// min and max give `a` where neither number is less, so that a NaN in `a` stays.

#include "nax/backend/cpu/packets/registers_avx.hpp"
#include "nax/backend/cpu/packets/registers_avx512.hpp"
#include "nax/backend/cpu/packets/registers_neon.hpp"
#include "nax/backend/cpu/packets/registers_scalar.hpp"
#include "nax/backend/cpu/packets/registers_sse.hpp"
