// The part of nax::compiled for elements of type bool.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/templates.hpp"

#define NAX_EXTERN
#define NAX_T bool
#include "nax/compiled/functions.inc"
