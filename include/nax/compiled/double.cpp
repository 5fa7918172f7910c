// The part of nax::compiled for elements of type double.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/templates.hpp"

#define NAX_EXTERN
#define NAX_T double
#include "nax/compiled/floating.inc"
#include "nax/compiled/functions.inc"
