#pragma once

// The instantiations that nax::compiled holds: for its users a promise that they exist elsewhere (extern
// template), so that they are neither made nor compiled in a user's file. Programs that are headers only do
// not read this.
#include "nax/nax.hpp"

#define NAX_EXTERN extern
#define NAX_T float
#include "nax/compiled/floating.inc"
#include "nax/compiled/functions.inc"
#include "nax/compiled/operations.inc"
#undef NAX_T
#define NAX_T double
#include "nax/compiled/floating.inc"
#include "nax/compiled/functions.inc"
#include "nax/compiled/operations.inc"
#undef NAX_T
#define NAX_T std::int32_t
#include "nax/compiled/functions.inc"
#undef NAX_T
#define NAX_T std::int64_t
#include "nax/compiled/functions.inc"
#undef NAX_T
#define NAX_T bool
#include "nax/compiled/functions.inc"
#undef NAX_T
#undef NAX_EXTERN
