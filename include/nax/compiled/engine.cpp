// The engine of nax::compiled: every function that is no template.
#define NAX_COMPILED_ENGINE
#include "nax/nax.hpp"
