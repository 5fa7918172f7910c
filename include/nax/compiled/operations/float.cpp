// Common operations on arrays of float, for files that include nax/pch.hpp.
#define NAX_COMPILED
#include "nax/nax.hpp"

#define NAX_EXTERN
#define NAX_T float
#include "nax/compiled/operations/list.inc"
