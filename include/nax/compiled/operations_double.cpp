// The part of nax::compiled for single operations on arrays of double.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/templates.hpp"

#define NAX_EXTERN
#define NAX_T double
#include "nax/compiled/operations.inc"
