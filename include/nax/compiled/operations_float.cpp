// The part of nax::compiled for single operations on arrays of float.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/templates.hpp"

#define NAX_EXTERN
#define NAX_T float
#include "nax/compiled/operations.inc"
