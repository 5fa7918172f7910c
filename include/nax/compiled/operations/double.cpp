// Common operations on arrays of double, for files that include nax/pch.hpp.
#define NAX_COMPILED
#include "nax/nax.hpp"

#define NAX_EXTERN
#define NAX_T double
#include "nax/compiled/operations/list.inc"
