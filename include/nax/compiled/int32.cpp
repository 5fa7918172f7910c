// The part of nax::compiled for elements of type std::int32_t.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/templates.hpp"

#define NAX_EXTERN
#define NAX_T std::int32_t
#include "nax/compiled/functions.inc"
