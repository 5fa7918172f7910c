// The part of nax::compiled for elements of type std::int64_t.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/templates.hpp"

#define NAX_EXTERN
#define NAX_T std::int64_t
#include "nax/compiled/functions.inc"
